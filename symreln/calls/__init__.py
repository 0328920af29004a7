"""What a Python user calls: one call a command of the same name.

The commands print what these calls return.
"""

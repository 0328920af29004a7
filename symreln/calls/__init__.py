"""What a Python user calls beside deriving and validating: one call a command of the same name.

The commands print what these calls return.
"""

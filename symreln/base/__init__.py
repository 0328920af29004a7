"""What every room may use: progress, tables, values that do not change, short reprs."""

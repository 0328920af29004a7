"""What every room may use: progress, tables, short reprs."""

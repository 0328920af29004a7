"""What every room may use: progress, signals, streams, tables, short reprs."""

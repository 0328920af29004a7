"""``python -m symreln``."""

from symreln.cli import main

main()

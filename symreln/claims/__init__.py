"""What is derived and what follows from it: the rules that fill the ledger."""

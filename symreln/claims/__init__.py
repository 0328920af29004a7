"""What is derived and what follows from it: findings, and the table of the rules that find them."""

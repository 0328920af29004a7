"""Gates: which ones a dataset allows, which ones early training selects, and who is fastest."""

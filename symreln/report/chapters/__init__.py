"""The chapters of a derivation's document, one file each."""

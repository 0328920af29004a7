"""Couplings, closure, residuals: which reduction holds, decided exactly, with witnesses."""

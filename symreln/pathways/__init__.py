"""Gates applied: effective datasets, correlations, residuals, couplings."""

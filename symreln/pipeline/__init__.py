"""The pipeline: rules in order, and the certificate."""

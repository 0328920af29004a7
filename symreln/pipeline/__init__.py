"""The pipeline: derive, check, and write the certificate."""

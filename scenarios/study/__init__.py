"""Studies on disk: running what is missing, and reading what is there."""

"""Documentation, and the scripts that generate parts of it."""

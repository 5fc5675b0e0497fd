"""Runs the workflows of examples/ci/ as a user's repository does, with an installed wheel."""

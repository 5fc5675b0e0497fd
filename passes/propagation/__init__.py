"""Passes that spread shardings: from those a user wrote to every value that they touch."""

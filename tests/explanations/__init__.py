"""Checks of explanations on the corpus of examples and on random programs."""

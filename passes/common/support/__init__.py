"""Analyses, and transformations of IR, that passes of several folders share."""

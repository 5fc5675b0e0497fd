"""Analyses and edits that passes of several folders share."""

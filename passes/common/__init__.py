"""Passes that know no dialect, and helpers that passes of several folders share."""

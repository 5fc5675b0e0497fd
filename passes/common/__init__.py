"""Dialect-independent passes, and in support/ the helpers that passes of several folders share."""

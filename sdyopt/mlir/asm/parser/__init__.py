"""Parsing: text to operations, attributes and types."""

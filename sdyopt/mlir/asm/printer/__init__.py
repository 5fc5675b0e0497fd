"""Printing: operations, attributes and types to text."""

"""Declarative assembly formats: the elements that both parse and print an operation."""

"""Sections of text, and HTML pages: one file without network, in dark mode or not, on a phone or a desk."""

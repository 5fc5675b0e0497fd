"""The lint rules, one file each; the docstring of a file is the page of its rule."""

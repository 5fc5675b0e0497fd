"""The process that executes programs. It needs jax and numpy, and nothing else of this project."""

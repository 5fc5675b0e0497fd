"""The process that executes programs. It needs jax and numpy, but no other package of this project."""

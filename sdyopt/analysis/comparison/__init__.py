"""Differences between two programs, and snapshots of the shardings of one.

Both work on the values of a program as plain data (`program_values`), so that a file can take the place of a
program. `alignment` and `matching` find the values of both programs that correspond.
"""

"""Text to programs, and programs to text.

`parse` and `print` are the ways in and out. How an operation is written is declared by its dialect, as an
`assembly`; how types and attributes are, in `pieces`. A statement is parsed once per `spelling`.
"""

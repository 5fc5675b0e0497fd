"""Explains diagnostics: finds the culprit in the source, and says what to write instead.

Diagnostics are worded and located as in MLIR, often at the start of a long operation. Before one is shown, a
`DiagnosticExplainer` completes it: the excerpt underlines the axis, mesh, type, attribute or operand that is
wrong, and `help:` suggests a fix. The message selects the explanation (`error_help/table.py`). Nothing here
is imported before there is a diagnostic to show.
"""

"""The base of all else: interned classes, the table of releases, source locations and diagnostics."""

"""Metamorphic properties: how results of sdy-opt on related programs must be related.

`printing` has the properties of printing and parsing, `passes` those of passes, and `renaming` renames
programs. `python -m tests.metamorphic` checks the properties on random modules.
"""

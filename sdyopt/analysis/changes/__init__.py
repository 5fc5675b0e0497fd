"""Trials: changes of a program, measured by running the propagation pipeline on a changed copy.

No analysis advises a change that was not tried on the program. `trials` runs the pipeline on copies, `effect`
compares their figures, and `annotation_edits` has the changes of shardings that users can write. `roles`
groups values that play one role, `moves` proposes changes of their shardings, and `blamed` those that a
collective needs.
"""

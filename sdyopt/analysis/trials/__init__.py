"""Trials: changes of a program, measured by running the propagation pipeline on a changed copy.

No analysis advises a change that was not tried on the program. `completion` runs the pipeline on copies,
`trials` compares their figures, and `annotation_edits` has the changes of shardings that users can write.
"""

"""Trials: changes of a program, measured by running the propagation pipeline on a changed copy.

No analysis advises a change that was not tried on the program. `proposals` has a function for each kind of
change, `search` tries what they propose, `trials` runs the pipeline on copies, and `effect` compares their
figures. `roles` groups values that play one role, and `names` says in words of JAX what to write.
"""

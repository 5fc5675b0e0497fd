"""Searches for inputs that break sdy-opt.

`corpus` reads programs and command lines from the lit cases and examples. `sources` makes inputs from them
by `mutation`, and from random modules and reshards. `batch` runs inputs in a child process under limits, and
`contract` names what went wrong. `minimize` makes an input small, and `findings` writes it as a lit case.
`session` connects these, and `python -m tests.fuzz` runs a session.
"""

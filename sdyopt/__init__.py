"""sdyopt: everything a pass stands on, and the `sdy-opt` driver that runs passes.

Nothing is imported here, so that `sdy-opt --version` costs no more than Python itself. The layers,
each importing only those before it:

    interning ‹ diagnostics ‹ ir ‹ asm ‹ dialects ‹ sharding ‹ pipeline ‹ registry ‹ passes
                                                                          registry ‹ report ‹ driver ‹ cli
"""

__version__ = "0.1.0"

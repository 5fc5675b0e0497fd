"""A Python implementation of Shardy's `sdy_opt`: an IR, dialects, and the `sdy-opt` driver.

This module imports nothing, so that `sdy-opt --version` starts fast. Each layer imports only
those to its left:

    interning ‹ diagnostics ‹ ir ‹ asm ‹ dialects ‹ sharding ‹ pipeline ‹ registry ‹ report ‹ passes
                                                                          registry ‹ report ‹ driver ‹ cli
"""

__version__ = "0.1.0"

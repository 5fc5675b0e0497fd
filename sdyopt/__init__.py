"""sdyopt: a Python implementation of Shardy's `sdy_opt`: an IR, dialects, and the `sdy-opt` driver.

This module imports nothing, so that `sdy-opt --version` starts fast. The layers, each of which imports only
lower ones:

    interning ‹ diagnostics ‹ ir ‹ asm ‹ dialects ‹ sharding ‹ pipeline ‹ registry ‹ passes
                                                                          registry ‹ report ‹ driver ‹ cli
"""

__version__ = "0.1.0"

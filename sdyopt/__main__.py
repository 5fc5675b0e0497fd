"""`python -m sdyopt` is `sdy-opt`."""

from sdyopt.tools.start import sdy_opt

sdy_opt()

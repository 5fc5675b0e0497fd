"""`python -m sdyopt` is `sdy-opt`."""

from sdyopt.start import sdy_opt

sdy_opt()

"""`python -m sdyopt` is `sdy-opt`."""

from sdyopt.cli import run_process

run_process()

"""Runs sdy-opt as a process of its own, as users do, in surroundings that a test chooses."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FIRST = ("examples/first.mlir", "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true")


class Printed(NamedTuple):
    """How a process ended, and what it printed."""

    status: int
    output: bytes
    errors: bytes


def sdy_opt(
    *arguments: str | bytes,
    python: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
) -> Printed:
    """Runs sdy-opt; `python` are flags of Python, `environment` is all that the process gets."""
    command = [sys.executable, *python, "-m", "sdyopt", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return Printed(done.returncode, done.stdout, done.stderr)


def changed(**variables: str) -> dict[str, str]:
    """The environment of the tests with some variables set."""
    return {**os.environ, **variables}


@cache
def first_example() -> Printed:
    """What the first example prints in the surroundings of the tests; it has no diagnostics."""
    printed = sdy_opt(*FIRST)
    assert (printed.status, printed.errors) == (0, b"")
    assert b"sharding_per_value" in printed.output
    return printed

"""Runs sdy-opt in a new process, as users do, with an environment that a test chooses."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
FIRST_EXAMPLE = ("examples/first.mlir", "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true")


class ProcessResult(NamedTuple):
    """The exit status and the output of a process."""

    status: int
    output: bytes
    errors: bytes


def sdy_opt(
    *arguments: str | bytes,
    python: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
    module: str = "sdyopt",
) -> ProcessResult:
    """Runs sdy-opt, or another module, with flags of Python, by default in the environment of the tests."""
    command = [sys.executable, *python, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return ProcessResult(done.returncode, done.stdout, done.stderr)


def environment_with(**variables: str) -> dict[str, str]:
    """The environment of the tests with some variables set."""
    return {**os.environ, **variables}


@cache
def first_example() -> ProcessResult:
    """The result of running the first example in the environment of the tests, without diagnostics."""
    printed = sdy_opt(*FIRST_EXAMPLE)
    assert (printed.status, printed.errors) == (0, b"")
    assert b"sharding_per_value" in printed.output
    return printed

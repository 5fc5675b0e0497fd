"""The output does not depend on Python's hash seed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").glob("*.mlir"))


def printed(seed: int, *arguments: str) -> tuple[bytes, bytes]:
    command = [sys.executable, "-m", "sdyopt", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("program", EXAMPLES)
def test_programs_after_passes_do_not_depend_on_the_hash_seed(program: str) -> None:
    passes = ("-canonicalize", "-cse", "-symbol-dce", "-sdy-inline-meshes", "-sdy-lift-inlined-meshes")
    outputs = {printed(seed, program, *passes, "--mlir-print-debuginfo") for seed in range(3)}
    assert len(outputs) == 1


def test_listings_do_not_depend_on_the_hash_seed() -> None:
    for listing in ("--list-passes", "--help", "--show-dialects"):
        assert len({printed(seed, listing) for seed in range(3)}) == 1

"""Runs every third example and lit test in this process, and writes or compares checksums of what they print.

    python -m tests.pythons.outputs CHECKSUMS [--compare]

`--compare` fails where a program prints something else than it did for the Python that wrote the file. Run it
at the root of a checkout.
"""

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from sdyopt.tools.lit.directives import Features, Substitutions, parse_directives
from sdyopt.tools.lit.tools import InProcess, Stage, can_run, parse, run_pipeline
from tests.harness.lit_features import lit_features

COLLECTIVES = "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
# The suite runs all of them under one Python; others, and other versions of dependencies, differ in little.
EVERY = 3
# What a command with one of these flags prints depends on the time, the release of Python, or the system.
VARYING = ("--mlir-timing", "--mlir-print-stacktrace-on-diagnostic", "--jax-python")


class FailedError(Exception):
    """A command did not end as its test expects."""


def lit_cases(folder: Path) -> Iterator[tuple[Path, list[list[list[Stage]]]]]:
    """The lit tests whose programs can all run in this process, with their commands, which write to a folder.

    Without those that `VARYING` or a REQUIRES line excludes.
    """
    features = Features({**lit_features(), "jax": False, "processes": False})
    for path in filter(_is_case, sorted(Path("tests/lit").rglob("*.mlir"))):
        case = parse_directives(path.read_text(encoding="utf-8", errors="replace"))
        varies = any(flag in line.command for line in case.commands for flag in VARYING)
        if not varies and case.reason_to_skip(features) is None:
            temporary = folder / f"{path}.tmp"
            temporary.parent.mkdir(parents=True, exist_ok=True)
            substitutions = Substitutions(path, temporary)
            commands = [parse(line.command, substitutions.replace) for line in case.commands]
            if all(can_run(stage) for pipelines in commands for stages in pipelines for stage in stages):
                yield path, commands


def _is_case(path: Path) -> bool:
    return "Inputs" not in path.parts


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("checksums", type=Path)
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    expected = read(arguments.checksums) if arguments.compare else None
    checksums, failures = {}, 0
    # Several Pythons may run at once.
    with tempfile.TemporaryDirectory(prefix="sdyopt-outputs-") as folder:
        for name, commands in islice(programs(Path(folder)), 0, None, EVERY):
            try:
                checksums[name] = checksum(commands, folder)
            except FailedError as failure:
                failures += 1
                print(f"{name}: {failure}", file=sys.stderr)
            if expected is not None and name in checksums and checksums[name] != expected.get(name):
                failures += 1
                print(f"{name}: prints something else than expected", file=sys.stderr)
    if expected is None:
        lines = [f"{digest}  {name}\n" for name, digest in checksums.items()]
        arguments.checksums.write_text("".join(lines), encoding="utf-8")
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}, one process: {len(checksums)} programs ran, {failures} failed")
    return 1 if failures or not checksums else 0


def programs(folder: Path) -> Iterator[tuple[str, list[list[list[Stage]]]]]:
    """The examples and the lit tests, each with its commands."""
    for example in sorted(Path("examples").glob("*.mlir")):
        yield example.as_posix(), [[[Stage(("sdy-opt", example.as_posix(), COLLECTIVES))]]]
    for path, commands in lit_cases(folder):
        yield path.as_posix(), commands


def read(checksums: Path) -> dict[str, str]:
    """The checksum of each program in the file."""
    lines = checksums.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def checksum(commands: list[list[list[Stage]]], folder: str) -> str:
    """The checksum of what the commands print, without the folder's name; raises FailedError if one fails."""
    output = bytearray()
    run = InProcess(output.extend).run
    for pipelines in commands:
        for stages in pipelines:
            result = run_pipeline(stages, run)
            if not result.passed:
                raise FailedError(f"{result.failures}\n{result.errors}{result.output}"[:2000])
    return hashlib.sha256(output.replace(folder.encode(), b"")).hexdigest()


if __name__ == "__main__":
    sys.exit(main())

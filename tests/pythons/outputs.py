"""Runs the examples and the lit tests in this process, and writes checksums of what they print to a file.

    python -m tests.pythons.outputs CHECKSUMS

Run it at the root of a checkout. Two Pythons print the same if they write the same file.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from sdyopt.tools.lit.directives import Substitutions, parse_directives
from sdyopt.tools.lit.features import Features
from sdyopt.tools.lit.in_process import InProcess, can_run
from sdyopt.tools.lit.shell import Stage, parse, run_pipeline
from tests.harness.lit_features import lit_features

COLLECTIVES = "-sdy-propagation-pipeline=enable-insert-explicit-collectives=true"
# What a command with one of these flags prints depends on the time, the release of Python, or the system.
VARYING = ("--mlir-timing", "--mlir-print-stacktrace-on-diagnostic", "--jax-python")


class FailedError(Exception):
    """A command did not end as its test expects."""


def lit_cases() -> Iterator[tuple[Path, list[list[list[Stage]]]]]:
    """The lit tests whose programs can all run in this process, with their commands.

    Without those that `VARYING` or a REQUIRES line excludes.
    """
    features = Features({**lit_features(), "jax": False, "processes": False})
    for path in filter(_is_case, sorted(Path("tests/lit").rglob("*.mlir"))):
        case = parse_directives(path.read_text(encoding="utf-8", errors="replace"))
        varies = any(flag in line.command for line in case.commands for flag in VARYING)
        if not varies and case.reason_to_skip(features) is None:
            temporary = Path(f"build/pythons/{path}.tmp")
            temporary.parent.mkdir(parents=True, exist_ok=True)
            substitutions = Substitutions(path, temporary)
            commands = [parse(line.command, substitutions.replace) for line in case.commands]
            if all(can_run(stage) for pipelines in commands for stages in pipelines for stage in stages):
                yield path, commands


def _is_case(path: Path) -> bool:
    return "Inputs" not in path.parts


def main() -> int:
    checksums, failures = {}, 0
    for example in sorted(Path("examples").glob("*.mlir")):
        stage = Stage(("sdy-opt", example.as_posix(), COLLECTIVES))
        checksums[example.as_posix()] = checksum([[[stage]]])
    for path, commands in lit_cases():
        try:
            checksums[path.as_posix()] = checksum(commands)
        except FailedError as failure:
            failures += 1
            print(f"{path}: {failure}", file=sys.stderr)
    lines = [f"{digest}  {name}\n" for name, digest in checksums.items()]
    Path(sys.argv[1]).write_text("".join(lines), encoding="utf-8")
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}, one process: {len(lines)} programs ran, {failures} failed")
    return 1 if failures or not lines else 0


def checksum(commands: list[list[list[Stage]]]) -> str:
    """The checksum of all that the commands print; raises FailedError if one fails."""
    digest = hashlib.sha256()
    run = InProcess(digest.update).run
    for pipelines in commands:
        for stages in pipelines:
            result = run_pipeline(stages, run)
            if not result.passed:
                raise FailedError(f"{result.failures}\n{result.errors}{result.output}"[:2000])
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())

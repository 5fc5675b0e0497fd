"""Compares reports with what XLA compiles: python -m benchmarks.calibration [--target=tpu] PROGRAM…

For TPU and GPU, the section of the target is written into the page; without one, the page for the CPU.

Needs jax: the extra `reference`, or another Python that has it, as --reference-python. Without programs, the
examples are compared. The models of `jax_programs.py`, which nothing was tuned to, are a second table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.calibration.machines import compare, section, with_section
from benchmarks.calibration.page import page
from benchmarks.calibration.program import Comparison, NotComparedError, compare_program
from benchmarks.processes import BenchmarkFailed, run

EXAMPLES = Path(__file__).parents[2] / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="default: standard output")
    parser.add_argument("--target", choices=("tpu", "gpu", "cpu"), default="cpu", help="default: %(default)s")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep XLA's results for the next run")
    parser.add_argument("programs", nargs="*", type=Path, default=sorted(EXAMPLES.glob("*.mlir")))
    arguments = parser.parse_args()
    rejected: list[tuple[str, str]] = []
    if arguments.target != "cpu":
        compare_on_machine(arguments)
        return

    def compare_all(paths: list[Path]) -> list[Comparison]:
        compared = []
        for path in paths:
            sys.stderr.write(f"{path.name}\n")
            try:
                compared.append(compare_program(path, arguments.reference_python, arguments.keep))
            except NotComparedError as error:
                rejected.append((path.stem, str(error)))
        return compared

    with TemporaryDirectory() as folder:
        run([arguments.reference_python, "-m", "benchmarks.calibration.jax_programs", folder])
        text = page(compare_all(arguments.programs), compare_all(sorted(Path(folder).iterdir())), rejected)
    if arguments.output is None:
        sys.stdout.write(text)
        return
    # The sections of other targets stay.
    if arguments.output.exists():
        _, marker, machines = arguments.output.read_text(encoding="utf-8").partition("\n<!-- ")
        text += marker + machines
    arguments.output.write_text(text, encoding="utf-8")


def compare_on_machine(arguments: argparse.Namespace) -> None:
    """Writes the section of TPU or GPU."""
    found, rejected = [], []
    for path in arguments.programs:
        sys.stderr.write(f"{path.name}\n")
        try:
            found.append(compare(path, arguments.target, arguments.reference_python))
        except BenchmarkFailed as error:
            lines = [line.strip() for line in str(error).splitlines() if "error: " in line]
            reason = lines[0].partition("error: ")[2] if lines else "it is not compiled"
            rejected.append((path.stem, reason.partition("; ")[0][:100]))
    lines = list(section(arguments.target, found, rejected))
    if arguments.output is None:
        sys.stdout.write("\n".join(lines) + "\n")
    else:
        page = arguments.output.read_text(encoding="utf-8")
        arguments.output.write_text(with_section(page, arguments.target, lines), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Compares reports with what XLA compiles: python -m benchmarks.calibration [--output PAGE] PROGRAM…

Needs jax: the extra `reference`, or another Python that has it, as --reference-python. Without programs, the
examples are compared. The models of `jax_programs.py`, which nothing was tuned to, are a second table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.calibration.page import page
from benchmarks.calibration.program import Comparison, NotComparedError, compare_program
from benchmarks.processes import run

EXAMPLES = Path(__file__).parents[2] / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="default: standard output")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep XLA's results for the next run")
    parser.add_argument("programs", nargs="*", type=Path, default=sorted(EXAMPLES.glob("*.mlir")))
    arguments = parser.parse_args()
    rejected: list[tuple[str, str]] = []

    def compare(paths: list[Path]) -> list[Comparison]:
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
        text = page(compare(arguments.programs), compare(sorted(Path(folder).iterdir())), rejected)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

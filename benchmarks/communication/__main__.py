"""Compares communication with XLA's partitioner: python -m benchmarks.communication [--output PAGE] PROGRAM…

Needs jaxlib: the extra `reference`, or another Python that has it, as --reference-python. Without programs,
the examples are compared.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.calibration.program import NotComparedError
from benchmarks.communication.page import page
from benchmarks.communication.program import Communication, compare_program

EXAMPLES = Path(__file__).parents[2] / "examples"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.communication", description=__doc__)
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="default: standard output")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what XLA compiles for the next run")
    parser.add_argument("programs", nargs="*", type=Path, default=sorted(EXAMPLES.glob("*.mlir")))
    arguments = parser.parse_args()
    compared: list[Communication] = []
    rejected: list[tuple[str, str]] = []
    for path in arguments.programs:
        sys.stderr.write(f"{path.name}\n")
        try:
            compared.append(compare_program(path, arguments.reference_python, arguments.keep))
        except NotComparedError as error:
            rejected.append((path.stem, str(error)))
    text = page(compared, rejected)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Compares the bytes of all runs that --compare-hlo reads with those that XLA's parser reads:

    python -m benchmarks.calibration.check_bytes --reference-python PYTHON FILE…

A file is HLO text, or JSON that `python -m benchmarks.calibration --keep` wrote. Fails if any differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import run
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo

_SCRIPT = Path(__file__).with_name("read_with_xla.py")


def differences(python: str, files: list[Path]) -> Iterator[tuple[int, list[str]]]:
    """For each file, the number of collectives of XLA, and a line for each that is read otherwise."""
    read = json.loads(run([python, str(_SCRIPT), *map(str, files)], keeps_output=True).output)
    for path in files:
        text = path.read_text(encoding="utf-8")
        runs_of = {name: runs for name, _, _, runs in read[path.stem]}
        found: Counter[tuple[str, str, bool]] = Counter()
        hlo = json.loads(text)["hlo"] if path.suffix == ".json" else text
        for each in read_hlo(path.stem, hlo).all_operands:
            runs = None if each.times is None else each.times.high
            # What XLA's text does not state is only compared for one run.
            is_known = runs_of.get(each.name, runs) is not None
            found[each.name, each.kind, is_known] += each.bytes * (runs or 0 if is_known else 1)
        expected: Counter[tuple[str, str, bool]] = Counter()
        for name, kind, size, runs in read[path.stem]:
            expected[name, kind, runs is not None] += size * (1 if runs is None else runs)
        yield (
            len(expected),
            [
                f"{path.stem}: {kind} {name} has {found[name, kind, rest]} bytes, "
                f"not {expected[name, kind, rest]}{'' if rest else ' in a loop of unknown trip count'}"
                for name, kind, rest in {**expected, **found}
                if found[name, kind, rest] != expected[name, kind, rest]
            ],
        )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration.check_bytes", description=__doc__)
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("files", nargs="+", type=Path)
    arguments = parser.parse_args()
    count, lines = 0, []
    for number, found in differences(arguments.reference_python, arguments.files):
        count += number
        lines += found
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.write(f"{len(arguments.files)} files, {count} collectives, {len(lines)} differences\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares what `--compiled` reads with what XLA says itself, and its time with that of the compiler alone:

    python -m benchmarks.calibration.check_compiled --reference-python PYTHON PROGRAM…

The wire bytes are those of XLA's parser, the peak that of XLA's report on the memory of a device. The
overhead is the processor time of the process and the one that it starts, without that of the report, over
that of compiling alone.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks.calibration.check_bytes import differences
from benchmarks.processes import BenchmarkFailed, run

_ALONE = Path(__file__).with_name("compile_alone.py")
_DEVICE_MEMORY = re.compile(r"Memory Space: default.*\nTotal bytes: (\d+)")
_SIZE = re.compile(r"=(\d+)")


class Checked(NamedTuple):
    """A program: how many collectives are read otherwise, both peaks, and the overhead."""

    name: str
    different: list[str]
    peak: int
    expected_peak: int
    overhead: float


def check(path: Path, python: str) -> Checked:
    """Compares a program. Raises BenchmarkFailed if it is not compiled."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        report, hlo, request = folder / "report.json", folder / "compiled.hlo", folder / "request.json"
        command = [sys.executable, "-m", "sdyopt", str(path), f"--report={report}", "-o", "/dev/null"]
        command += ["--topology=tpu-v5e", f"--jax-python={python}"]
        environment = {"XDG_CACHE_HOME": name}
        without = run(command, environment=environment).seconds
        seconds = run([*command, f"--compiled={hlo}"], environment=environment).seconds
        data = json.loads(report.read_text(encoding="utf-8"))
        text = _request(path, data)
        request.write_text(json.dumps({**text, "dump": ""}), encoding="utf-8")
        alone = run([python, str(_ALONE), str(request)]).seconds
        request.write_text(json.dumps({**text, "dump": str(folder / "dump")}), encoding="utf-8")
        run([python, str(_ALONE), str(request)])
        [(_, different)] = differences(python, [hlo])
        return Checked(
            path.stem,
            different,
            data["compiled"]["memory"]["peak"],
            _expected_peak(folder / "dump"),
            (seconds - without - alone) / alone,
        )


def _request(path: Path, report: dict[str, Any]) -> dict[str, Any]:
    """What the compiler is asked for the program of a report."""
    return {
        "platform": "tpu",
        "topology": report["compiled"]["target"],
        "slices": 1,
        "device": "",
        "mesh": [int(size) for size in _SIZE.findall(report["mesh"])],
        "devices": report["devices"],
        "text": path.read_text(encoding="utf-8"),
    }


def _expected_peak(folder: Path) -> int:
    """The bytes of a device's memory in XLA's report; others are of small programs of the compiler's own."""
    files = folder.glob("*after_optimizations-memory-usage-report.txt")
    largest = max(files, key=lambda file: file.stat().st_size)
    match = _DEVICE_MEMORY.search(largest.read_text(encoding="utf-8"))
    return 0 if match is None else int(match[1])


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibration.check_compiled", description=__doc__
    )
    parser.add_argument("--reference-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    checked = []
    for path in arguments.programs:
        try:
            result = check(path, arguments.reference_python)
        except BenchmarkFailed as error:
            sys.stdout.write(f"{path.stem}: not compared: {str(error).splitlines()[-1][:80]}\n")
            continue
        checked.append(result)
        peaks = "" if result.peak == result.expected_peak else f", not {result.expected_peak}"
        sys.stdout.write(f"{result.name}: peak {result.peak}{peaks}, overhead {result.overhead:.0%}\n")
        sys.stdout.writelines(f"  {line}\n" for line in result.different)
        sys.stdout.flush()
    if not checked:
        return 1
    overheads = sorted(result.overhead for result in checked)
    bytes_equal = sum(not result.different for result in checked)
    peaks_equal = sum(result.peak == result.expected_peak for result in checked)
    small = sum(overhead <= 0.2 for overhead in overheads)
    sys.stdout.write(
        f"{len(checked)} programs: bytes of {bytes_equal} equal, peaks of {peaks_equal}; overhead "
        f"{median(overheads):.0%}, from {overheads[0]:.0%} to {overheads[-1]:.0%}, at most 20% in {small}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

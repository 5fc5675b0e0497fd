"""Measures sdy-opt and the C++ passes of a Python that has jaxlib, and prints tables.

    python -m benchmarks.run
    python -m benchmarks.run --reference-python ~/jax/bin/python --sizes 4k,36k,360k gpt_train.mlir

Each figure is the median over several rounds. In a round each tool runs once in a new process, so that other
load on the machine affects both. benchmarks/README.md describes what is measured.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import BenchmarkFailed, run

HERE = Path(__file__).parent
OURS, THEIRS = "sdy-opt", "C++"

# The number of layers by the name of a size; a layer has 666 operations.
SIZES = {"4k": 6, "36k": 54, "360k": 540}

# Cheap passes, so that parsing, verification and printing dominate.
PIPELINE = "builtin.module(sdy-close-shardings)"

# Measurement -> tool -> one value per round, in seconds or bytes.
Figures = dict[str, dict[str, list[float]]]


@dataclass
class Program:
    """A file with its measurements."""

    name: str
    path: Path
    is_generated: bool = False
    operations: int = 0
    figures: Figures = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def __post_init__(self) -> None:
        self.megabytes = self.path.stat().st_size / 1e6

    def median(self, measurement: str, tool: str) -> float | None:
        values = self.figures[measurement][tool]
        return statistics.median(values) if values else None


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        programs = _programs(options, Path(options.keep or folder))
        small = Program("20 lines", HERE / "small.mlir")
        try:
            for number in range(options.rounds):
                _progress(f"round {number + 1} of {options.rounds}: starting up")
                _measure_start(small, options.reference_python)
                for program in programs:
                    _progress(f"round {number + 1} of {options.rounds}: {program.name}")
                    _measure(program, options)
        except BenchmarkFailed as failure:
            sys.exit(f"error: {failure}")
    _progress("")
    _print_start(small)
    _print_programs(programs)
    _print_growth(programs)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", type=Path, help=".mlir files, or folders of them")
    parser.add_argument("--reference-python", metavar="PYTHON", help="a Python with jaxlib to compare with")
    parser.add_argument(
        "--sizes",
        default="4k,36k",
        help=f"sizes of the generated programs, from {', '.join(SIZES)}; or `none` (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="the number of rounds")
    parser.add_argument("--pipeline", default=PIPELINE, help="the pipeline to measure (default: %(default)s)")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the generated programs in this folder")
    options = parser.parse_args()
    options.sizes = [] if options.sizes == "none" else options.sizes.split(",")
    if unknown := [size for size in options.sizes if size not in SIZES]:
        parser.error(f"unknown size {unknown[0]}; known are {', '.join(SIZES)}")
    return options


def _programs(options: argparse.Namespace, folder: Path) -> list[Program]:
    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    for size in options.sizes:
        path = folder / f"training_step_{size}.mlir"
        run([sys.executable, "-m", "benchmarks.programs", str(SIZES[size]), str(path)])
        programs.append(Program(path.stem, path, is_generated=True))
    for path in options.programs:
        files = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
        programs += [Program(file.stem, file) for file in files]
    return programs


def _measure(program: Program, options: argparse.Namespace) -> None:
    path = str(program.path)
    in_process = {OURS: [sys.executable, "-m", "benchmarks.ours", path, options.pipeline]}
    whole_process = {OURS: [sys.executable, "-m", "sdyopt", path]}
    with_passes = {OURS: [*whole_process[OURS], f"--pass-pipeline={options.pipeline}"]}
    if options.reference_python:
        reference = [options.reference_python, str(HERE / "reference.py")]
        in_process[THEIRS] = [*reference, path, options.pipeline]
        whole_process[THEIRS] = [*reference, "--whole", path]
        with_passes[THEIRS] = [*whole_process[THEIRS], options.pipeline]
    for tool, command in in_process.items():
        steps = json.loads(run(command, keeps_output=True).output)
        program.operations = int(steps.pop("operations", program.operations))
        program.figures["peak memory, in process"][tool].append(steps.pop("memory"))
        for step, seconds in steps.items():
            program.figures[step][tool].append(seconds)
        program.figures["together"][tool].append(steps["parse and verify"] + steps["print"])
    for measurement, commands in (("whole process", whole_process), ("with passes", with_passes)):
        for tool, command in commands.items():
            finished = run(command)
            program.figures[measurement][tool].append(finished.seconds)
            program.figures[f"peak memory, {measurement}"][tool].append(finished.memory)


def _measure_start(small: Program, reference_python: str | None) -> None:
    opt = [sys.executable, "-m", "sdyopt"]
    commands = {
        ("Python alone", OURS): [sys.executable, "-c", "pass"],
        ("--version", OURS): [*opt, "--version"],
        ("20-line file, one pass", OURS): [*opt, str(small.path), "-sdy-close-shardings"],
    }
    if reference_python:
        whole = [reference_python, str(HERE / "reference.py"), "--whole", str(small.path), PIPELINE]
        commands["20-line file, one pass", THEIRS] = whole
    for (measurement, tool), command in commands.items():
        small.figures[measurement][tool].append(run(command).seconds)


def _print_start(small: Program) -> None:
    rows = [[measurement, *_row(small, measurement, _seconds)] for measurement in small.figures]
    _print_table("Start, whole process", ["", OURS, THEIRS, "ratio"], rows)


def _print_programs(programs: list[Program]) -> None:
    for program in programs:
        rows = [
            [
                measurement,
                *_row(program, measurement, _megabytes if measurement.startswith("peak") else _seconds),
            ]
            for measurement in program.figures
        ]
        title = f"{program.name}: {program.megabytes:.1f} MB, {program.operations} operations"
        _print_table(title, ["", OURS, THEIRS, "ratio"], rows)


def _print_growth(programs: list[Program]) -> None:
    generated = [program for program in programs if program.is_generated]
    rows = []
    for measurement in ("parse and verify", "print", "together", "whole process", "with passes"):
        for tool in (OURS, THEIRS):
            costs = [
                (program.median(measurement, tool) or 0) / program.operations * 1e6 for program in generated
            ]
            if any(costs):
                rows.append([measurement, tool, *(f"{cost:.1f} ({cost / costs[0]:.2f})" for cost in costs)])
    if len(generated) > 1:
        header = ["", "", *(program.name for program in generated)]
        _print_table("Growth: microseconds per operation (against the first)", header, rows)


def _row(program: Program, measurement: str, text: Callable[[float], str]) -> list[str]:
    ours, theirs = program.median(measurement, OURS), program.median(measurement, THEIRS)
    ratio = f"{ours / theirs:.2f}" if ours and theirs else ""
    return [text(figure) if figure is not None else "" for figure in (ours, theirs)] + [ratio]


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"


def _print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, *rows]:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  " + "  ".join(cells).rstrip())


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Measures sdy-opt and the C++ passes of a Python that has jaxlib, and prints tables.

    python -m benchmarks.run
    python -m benchmarks.run --reference-python ~/jax/bin/python --sizes 4k,36k,360k gpt_train.mlir

Each figure is the median over several rounds. In a round each tool runs once in a new process, so that other
load on the machine affects both. Times are processor times. benchmarks/README.md describes what is measured.
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
from typing import NamedTuple

from benchmarks.processes import BenchmarkFailed, run

HERE = Path(__file__).parent
OURS, THEIRS = "sdy-opt", "C++"

# What is generated, by the name of a size. `benchmarks.programs` generates a number of layers of 666
# operations each, or big constants; `benchmarks.varied` a number of statements that repeat little, or files.
CONSTANTS = "constants"
MODELS = "models"
SIZES = {"4k": "6", "36k": "54", "360k": "540", CONSTANTS: CONSTANTS}
VARIED = {"varied_2k": "2000", "varied_11k": "11000", "varied_47k": "47000"}
MODEL_COUNT = 20

# The first one has cheap passes, so that parsing, verification and printing dominate.
PIPELINES = (
    "builtin.module(sdy-close-shardings)",
    "builtin.module(sdy-user-priority-propagate)",
    "builtin.module(sdy-propagation-pipeline)",
)

# Measurement -> tool -> one value per round, in seconds or bytes.
Figures = dict[str, dict[str, list[float]]]


class Table(NamedTuple):
    """A table of the output."""

    title: str
    header: list[str]
    rows: list[list[str]]


@dataclass
class Program:
    """A file with its measurements."""

    name: str
    path: Path
    is_generated: bool = False
    # Programs of a folder have no tables of their own, but one for their sum.
    folder: str = ""
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
        tables = [_start_table(small)]
        tables += [_program_table(program) for program in programs if not program.folder]
        for folder in dict.fromkeys(program.folder for program in programs if program.folder):
            tables.append(_sum_table(folder, [program for program in programs if program.folder == folder]))
    if sum(program.is_generated for program in programs) > 1:
        tables.append(_growth_table(programs))
    for table in tables:
        _print_table(table)
    if options.output is not None:
        options.output.write_text("\n".join([_HEAD, *map(_markdown, tables)]), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", nargs="*", type=Path, help=".mlir files, or folders of them")
    parser.add_argument("--reference-python", metavar="PYTHON", help="a Python with jaxlib to compare with")
    parser.add_argument(
        "--sizes",
        default="4k,36k",
        help=f"sizes of the generated programs, from {', '.join([*SIZES, *VARIED, MODELS])}; or `none` "
        "(default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="the number of rounds")
    parser.add_argument(
        "--pipeline",
        dest="pipelines",
        action="append",
        help=f"a pipeline to measure, possibly one of several (default: {', '.join(PIPELINES)})",
    )
    parser.add_argument("--keep", metavar="FOLDER", help="keep the generated programs in this folder")
    parser.add_argument("--output", type=Path, help="the Markdown file to write the tables to")
    options = parser.parse_args()
    options.pipelines = options.pipelines or list(PIPELINES)
    options.sizes = [] if options.sizes == "none" else options.sizes.split(",")
    known = [*SIZES, *VARIED, MODELS]
    if unknown := [size for size in options.sizes if size not in known]:
        parser.error(f"unknown size {unknown[0]}; known are {', '.join(known)}")
    return options


def _programs(options: argparse.Namespace, folder: Path) -> list[Program]:
    folder.mkdir(parents=True, exist_ok=True)
    programs = []
    for size in options.sizes:
        if size in VARIED or size == MODELS:
            programs += _varied_programs(size, folder)
            continue
        path = folder / ("constants.mlir" if size == CONSTANTS else f"training_step_{size}.mlir")
        run([sys.executable, "-m", "benchmarks.programs", SIZES[size], str(path)])
        programs.append(Program(path.stem, path, is_generated=size != CONSTANTS))
    for path in options.programs:
        if path.is_dir():
            programs += [Program(file.stem, file, folder=path.name) for file in sorted(path.glob("*.mlir"))]
        else:
            programs.append(Program(path.stem, path))
    return programs


def _varied_programs(size: str, folder: Path) -> list[Program]:
    """A program of many models, or many programs of one model each."""
    command = [sys.executable, "-m", "benchmarks.varied"]
    if size != MODELS:
        path = folder / f"{size}.mlir"
        run([*command, VARIED[size], "1", str(path)])
        return [Program(size, path)]
    programs = []
    for seed in range(MODEL_COUNT):
        path = folder / f"model_{seed}.mlir"
        run([*command, "1", str(seed), str(path)])
        programs.append(Program(path.stem, path, folder=f"{MODEL_COUNT} models"))
    return programs


def _measure(program: Program, options: argparse.Namespace) -> None:
    path, first = str(program.path), options.pipelines[0]
    in_process = {OURS: [sys.executable, "-m", "benchmarks.ours", path, first]}
    ours = [sys.executable, "-m", "sdyopt", path]
    whole_processes = {"whole process": {OURS: ours}}
    for pipeline in options.pipelines:
        whole_processes[_with(pipeline)] = {OURS: [*ours, f"--pass-pipeline={pipeline}"]}
    if options.reference_python:
        reference = [options.reference_python, str(HERE / "reference.py")]
        in_process[THEIRS] = [*reference, path, first]
        theirs = [*reference, "--whole", path]
        whole_processes["whole process"][THEIRS] = theirs
        for pipeline in options.pipelines:
            whole_processes[_with(pipeline)][THEIRS] = [*theirs, pipeline]
    for tool, command in in_process.items():
        steps = json.loads(run(command, keeps_output=True).output)
        program.operations = int(steps.pop("operations", program.operations))
        program.figures["peak memory, in process"][tool].append(steps.pop("memory"))
        for step, seconds in steps.items():
            program.figures[step][tool].append(seconds)
        program.figures["together"][tool].append(steps["parse and verify"] + steps["print"])
    for measurement, commands in whole_processes.items():
        for tool, command in commands.items():
            finished = run(command)
            program.figures[measurement][tool].append(finished.seconds)
            program.figures[f"peak memory, {measurement}"][tool].append(finished.memory)


def _with(pipeline: str) -> str:
    """The name of the measurement of a whole process with a pipeline."""
    return f"with {pipeline.removeprefix('builtin.module(').removesuffix(')')}"


def _measure_start(small: Program, reference_python: str | None) -> None:
    opt = [sys.executable, "-m", "sdyopt"]
    commands = {
        ("Python alone", OURS): [sys.executable, "-c", "pass"],
        ("--version", OURS): [*opt, "--version"],
        ("20-line file, one pass", OURS): [*opt, str(small.path), "-sdy-close-shardings"],
    }
    if reference_python:
        whole = [reference_python, str(HERE / "reference.py"), "--whole", str(small.path), PIPELINES[0]]
        commands["20-line file, one pass", THEIRS] = whole
    for (measurement, tool), command in commands.items():
        small.figures[measurement][tool].append(run(command).seconds)


def _start_table(small: Program) -> Table:
    rows = [[measurement, *_row(small, measurement, _seconds)] for measurement in small.figures]
    return Table("Start, whole process", ["", OURS, THEIRS, "ratio"], rows)


def _program_table(program: Program) -> Table:
    rows = [
        [
            measurement,
            *_row(program, measurement, _megabytes if measurement.startswith("peak") else _seconds),
        ]
        for measurement in program.figures
    ]
    title = f"{program.name}: {program.megabytes:.1f} MB, {program.operations} operations"
    return Table(title, ["", OURS, THEIRS, "ratio"], rows)


def _sum_table(folder: str, programs: list[Program]) -> Table:
    """The sum of the times of programs that run one by one."""
    total = Program(folder, programs[0].path)
    total.operations = sum(program.operations for program in programs)
    total.megabytes = sum(program.megabytes for program in programs)
    for measurement in programs[0].figures:
        if measurement.startswith("peak"):
            continue
        for tool in (OURS, THEIRS):
            medians = [program.median(measurement, tool) for program in programs]
            if None not in medians:
                total.figures[measurement][tool].append(sum(median or 0 for median in medians))
    table = _program_table(total)
    return table._replace(title=f"{folder}, one by one: {table.title.partition(': ')[2]}")


def _growth_table(programs: list[Program]) -> Table:
    generated = [program for program in programs if program.is_generated]
    measurements = [each for each in generated[0].figures if not each.startswith("peak")]
    rows = []
    for measurement in measurements:
        for tool in (OURS, THEIRS):
            costs = [
                (program.median(measurement, tool) or 0) / program.operations * 1e6 for program in generated
            ]
            if any(costs):
                rows.append([measurement, tool, *(f"{cost:.1f} ({cost / costs[0]:.2f})" for cost in costs)])
    header = ["", "", *(program.name for program in generated)]
    return Table("Growth: microseconds per operation (against the first)", header, rows)


def _row(program: Program, measurement: str, text: Callable[[float], str]) -> list[str]:
    ours, theirs = program.median(measurement, OURS), program.median(measurement, THEIRS)
    ratio = f"{ours / theirs:.2f}" if ours and theirs else ""
    return [text(figure) if figure is not None else "" for figure in (ours, theirs)] + [ratio]


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"


def _print_table(table: Table) -> None:
    title, header, rows = table
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    print(f"\n{title}\n")
    for row in [header, *rows]:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  " + "  ".join(cells).rstrip())


def _markdown(table: Table) -> str:
    rows = [table.header, ["---", *["--:"] * (len(table.header) - 1)], *table.rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([f"## {table.title}", "", *lines, ""])


_HEAD = """\
# Speed

`make bench REFERENCE_PYTHON=…` writes this page; the [README](README.md) describes the measurements. Times
are processor times. C++ stands for the passes in jaxlib, and a ratio below 1 means that sdy-opt takes less.
"""


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Judges printed changes by the compiler of a machine: python -m benchmarks.advice.judged PROGRAM…

The changes are those that --check prints for its places, and the first of --advise, with --topology=MACHINE
or without a topology. The compiler of the machine compiles each program before and after each change, ahead
of time. A change holds if the compiler saves at least half of the bytes that are printed; it costs if the
compiler sends more, and the change is not said to. The figures that are printed are compared with those of a
run of all passes. With --keep=FILE, a run continues an earlier one. Needs jax with libtpu or the CUDA plugin,
as --jax-python.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.advice.table import Row, Rows, write_table
from benchmarks.calibration.common_passes import compile_by_common_passes
from benchmarks.processes import BenchmarkFailed
from sdyopt.analysis.advise.adviser import Verification
from sdyopt.analysis.changes.effect import NOISE
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import CompiledCost, Trial
from sdyopt.analysis.changes.trials import Trials, trials_on
from sdyopt.analysis.execution.process import Worker
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.figures.units import bytes_text
from sdyopt.analysis.report.check.checker import check_of
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.driver.job import interpreter_settings

_SECONDS = 600
_SCRIPT = Path(__file__).parents[1] / "calibration" / "compile_with_xla.py"
HOLDS, LESS, COSTS, OTHER = "holds", "less", "costs", "sends as before"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.judged", description=__doc__)
    parser.add_argument("--jax-python", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--machine", default="tpu-v5e")
    parser.add_argument("--without-topology", action="store_true", help="search without --topology")
    parser.add_argument("--changes", type=int, default=2, help="changes of --advise for each program")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    parser.add_argument("--output", type=Path, metavar="PAGE", help="write the table in this page")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    rows = Rows(arguments.keep)
    with interpreter_settings():
        for path in arguments.programs:
            rows.add(path.stem, partial(_rows, path, arguments))
    # Keys of the table: the command, and the verdict.
    counts = Counter((row.cells[1], row.cells[-1]) for row in rows.all)
    verdicts = (HOLDS, LESS, COSTS, OTHER)
    table = [
        Row([command, *(str(counts[command, verdict]) for verdict in verdicts)], [])
        for command in ("check", "advise", "check, advise")
    ]
    good = sum(
        counts[command, verdict] for command, *_ in [row.cells for row in table] for verdict in (HOLDS, OTHER)
    )
    summary = (
        f"{len(rows.all)} changes of {len({row.cells[0] for row in rows.all})} programs on "
        f"{arguments.machine}: "
        f"{good} ({100 * good // max(1, len(rows.all))}%) hold."
    )
    sys.stdout.write("\n".join([summary, *(row.text for row in table)]) + "\n")
    if arguments.output is not None:
        write_table(arguments.output, f"judged-{arguments.machine}", summary, ("command", *verdicts), table)
    return int(good * 100 < 92 * len(rows.all))


def _rows(path: Path, arguments: argparse.Namespace) -> list[Row]:
    return list(_judged(path, arguments))


def _judged(path: Path, arguments: argparse.Namespace) -> Iterator[Row]:
    machine = built_in_topology(arguments.machine)
    try:
        module, _ = parse_module(
            Source("program", path.read_text("utf-8")), DialectTable(find_dialect, all_dialects)
        )
        topology = None if arguments.without_topology else machine
        trials = trials_on(
            module, assumed_pipeline(module, topology.compiler if topology else "")[1], topology
        )
        shown = _shown(trials, arguments.changes)
    except DiagnosticError:
        return
    if not shown or trials.outcome is None:
        return
    for trial, _ in shown:
        effect = trials.effect(trial.change)
        if effect is None or effect.after != trial.after:
            sys.stderr.write(f"{path.stem}: {trial.text}: a run of all passes has other figures\n")
    report = trials.outcome.report
    verification = Verification(Worker(arguments.jax_python, _SECONDS, 0), machine, is_ahead=True)
    programs = [trials.changed(), *(trials.changed(trial.change) for trial, _ in shown)]
    before, *after = verification.compiled(programs, report.mesh, report.devices)
    if isinstance(before, str):
        return
    for (trial, commands), each in zip(shown, after, strict=True):
        ours = trial.before.wire_bytes, trial.after.wire_bytes
        theirs = [before.wire_bytes, None if isinstance(each, str) else each.wire_bytes]
        sizes = ["rejected" if size is None else bytes_text(size) for size in (*ours, *theirs)]
        yield Row([path.stem, ", ".join(commands), trial.text, *sizes, _verdict(trial, before, each)], [])


def _shown(trials: Trials, count: int) -> list[tuple[Trial, list[str]]]:
    """The changes that are printed, with the commands that do."""
    search = Search(trials)
    if not search.can_try or trials.outcome is None:
        return []
    found: dict[object, tuple[Trial, list[str]]] = {}
    of_check = [place.best for place in check_of(trials.outcome.report, search).places]
    of_advice = search.ranked[:count]
    for command, printed in (("check", of_check), ("advise", of_advice)):
        for trial in printed:
            if trial is not None:
                commands = found.setdefault(trial.change.key, (trial, []))[1]
                if command not in commands:
                    commands.append(command)
    return list(found.values())


def _verdict(trial: Trial, before: CompiledCost, after: CompiledCost | str) -> str:
    if isinstance(after, str):
        return COSTS
    said = trial.before.wire_bytes - trial.after.wire_bytes
    saved = before.wire_bytes - after.wire_bytes
    noise = NOISE * before.wire_bytes
    if abs(said) <= NOISE * trial.before.wire_bytes:
        return OTHER if saved >= -noise else COSTS
    if saved * 2 >= said or (said < 0 and saved >= 2 * said):
        return HOLDS
    return LESS if saved >= -noise else COSTS


def compiled_by_xla(name: str, text: str, devices: int, python: str, keep: Path | None) -> str | None:
    """The HLO of a program after the passes that all devices have in common; None if XLA rejects it."""
    kept = None if keep is None else keep / f"{name}-{sha256(text.encode()).hexdigest()[:16]}.json"
    if kept is None or not kept.exists():
        with TemporaryDirectory() as folder:
            program = Path(folder) / f"{name}.mlir"
            program.write_text(text, encoding="utf-8")
            try:
                found = compile_by_common_passes(_SCRIPT, program, devices, python)
            except BenchmarkFailed:
                return None
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(found, encoding="utf-8")
    else:
        found = kept.read_text(encoding="utf-8")
    hlo: str = json.loads(found)["hlo"]
    return hlo


if __name__ == "__main__":
    sys.exit(main())

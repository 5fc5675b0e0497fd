"""Checks explanations: python -m tests.explanations [--random N] [--undo N] [--sources N] [--origins] FILE…

For every axis of every value of the programs, the chain of steps has to end at an annotation, and replaying
it has to give the axis. Every axis that a neighbor has and a value lacks must have a reason. `--undo`
undoes the reasons of a sample, and checks that the axis then propagates. `--sources` removes a sample of axes
from their sources, and checks that they are gone. `--origins` compares with `sdy.sharding_origins`. The exit
status is 1 if a chain or a reason is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from sdyopt.analysis.sharding_record.absences import Obstacle, absences
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_ref_text
from sdyopt.shardy.record import Subject
from tests.explanations.chains import check_chains, check_replay
from tests.explanations.origins import compare_origins
from tests.explanations.programs import Recorded, propagated
from tests.explanations.sources import remains
from tests.explanations.undo import Case, Obstruction, Outcome, UndoMethod, undo
from tests.random_modules.modules import random_module
from tests.random_modules.programs import random_program

_SHOWN = 10


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.explanations", description=__doc__)
    parser.add_argument("--random", type=int, default=0, help="number of random programs")
    parser.add_argument("--undo", type=int, default=0, help="number of absent axes to undo the reason of")
    parser.add_argument(
        "--sources", type=int, default=0, help="axes per program to remove from their sources"
    )
    parser.add_argument("--origins", action="store_true", help="compare with sdy.sharding_origins")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    problems: list[str] = []
    cases: list[Case] = []
    for program in _programs(arguments.files, arguments.random, arguments.origins, counts):
        problems += [*check_chains(program, counts), *check_replay(program)]
        problems += _without_reason(program, counts)
        if arguments.undo:
            cases += undoable(program)
        for subject, axis in sample_of_axes(program, arguments.sources):
            counts[f"axes without their sources: remains is {remains(program, subject, axis)}"] += 1
        if arguments.origins:
            problems += compare_origins(program, counts)
    for name, count in counts.items():
        print(f"{count:8} {name}")
    for problem in problems[:_SHOWN]:
        print(problem)
    if cases:
        _report_undone(Random(1).sample(cases, min(arguments.undo, len(cases))))
    return bool(problems)


def _programs(files: list[Path], count: int, has_origins: bool, counts: Counter[str]) -> Iterator[Recorded]:
    texts = [(path.name, path.read_text()) for path in files]
    for name, text in (*texts, *random_programs(count)):
        program = propagated(name, text, has_origins=has_origins)
        counts["programs" if program is not None else "programs that a pass rejects"] += 1
        if program is not None:
            yield program


def random_programs(count: int) -> Iterator[tuple[str, str]]:
    """Random programs of two kinds, by turns."""
    for number in range(count):
        create = random_module if number % 2 else random_program
        yield f"{create.__name__} {number // 2}", create(number // 2)


def _without_reason(program: Recorded, counts: Counter[str]) -> Iterator[str]:
    for subject in program.run.final:
        for absence in absences(program.run, subject):
            counts["absent axes"] += 1
            if not absence.has_reason:
                yield f"{program.name}: no reason why {absence.axis} is absent along {absence.site.op_name}"


def sample_of_axes(program: Recorded, count: int) -> list[tuple[Subject, AxisRef]]:
    """Some axes of values that an edit of annotations can remove."""
    shardings = [(subject, each) for subject, each in program.run.final.items() if program.number(subject)]
    axes = [(subject, axis) for subject, each in shardings if each for dim in each.dims for axis in dim.axes]
    return Random(1).sample(axes, min(count, len(axes)))


def undoable(program: Recorded) -> Iterator[Case]:
    """The absences of a program whose reason an edit of annotations can undo."""
    for subject in program.run.final:
        if program.number(subject) is None:
            continue
        for absence in absences(program.run, subject):
            case = Case(program, absence)
            if absence.obstacle is not Obstacle.NO_DIMENSION and program.number(absence.neighbor) is not None:
                yield case


def _report_undone(cases: list[Case]) -> None:
    methods: Counter[tuple[UndoMethod, Outcome]] = Counter()
    obstructions: Counter[Obstruction] = Counter()
    reasons: Counter[str] = Counter()
    propagating: Counter[str] = Counter()
    for case in cases:
        undone = undo(case)
        found = list(dict.fromkeys(_reasons(case)))
        reasons.update(found)
        if undone.propagates:
            methods[undone.method, undone.outcome] += 1
            propagating.update(found)
            continue
        obstructions[undone.obstruction] += 1
        if obstructions[undone.obstruction] <= _SHOWN:
            absence = case.absence
            where = f"{case.program.name}: {axis_ref_text(absence.axis)} along {absence.site.op_name}"
            print(f"{undone.obstruction.name}: {where}: {', '.join(found)}: {undone.outcome.value}")
            if undone.message:
                print(f"    {undone.message}")
    print(f"{len(cases):8} absent axes of which the reasons are undone")
    print(f"{sum(methods.values()):8} propagate then:")
    for (method, outcome), count in methods.most_common():
        further = " (further reasons, too)" if outcome is Outcome.AFTER_MORE else ""
        print(f"{count:12} {method.value}{further}")
    print(f"{sum(obstructions.values()):8} do not:")
    for obstruction, count in obstructions.most_common():
        print(f"{count:12} {obstruction.value}")
    print("By reason, where an axis may have several:")
    for reason, count in reasons.most_common():
        print(f"{count:12} {reason}: {propagating[reason]} propagate")


def _reasons(case: Case) -> list[str]:
    obstacle = case.absence.obstacle
    return [obstacle.name] if obstacle else [refusal.reason.name for refusal in case.absence.refusals]


if __name__ == "__main__":
    sys.exit(main())

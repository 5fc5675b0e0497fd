"""Crosses what commands print for the places of programs: python -m benchmarks.advice.crossed PROGRAM…

For each place of --check, the change and the figures that check has are compared with what --lint and
--explain print for its line, and with the list of --advise. They contradict each other if one has a change
where another has none or another one; --advise, which tries more, may have a better one, and --explain what
is written on the line and printed by --check for another one. Each program is crossed in a process of its
own, for so many seconds at most, and has a line as soon as that ends.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence, Set
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import sdyopt
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.explain.explainer import ShardingExplainer
from sdyopt.analysis.explain.names import RecordedProgram
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.analysis.report.check.checker import CostlyPlace
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions, parse_module
from sdyopt.mlir.asm.parser.ssa_scope import ParseRecord
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.pipeline.run import run_pipeline
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.tools.driver.job import interpreter_settings


class Crossed(NamedTuple):
    """A place, its change in a check, and what contradicts that."""

    place: str
    change: str
    contradictions: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether no command contradicts another."""
        return not self.contradictions


def crossed(text: str) -> Iterator[Crossed]:
    """The places of a program."""
    module = sdyopt.parse(text)
    check = sdyopt.check(module)
    # A finding of a rule of its own has the change as help.
    helps = [" ".join(text.split()) for each in module.lint() for text in (each.message, each.help) if text]
    advice = module.advise()
    advised = [(change.text, change.after.at_most(True)) for change in advice.ir.changes]
    places = check.ir.places
    answers = _explained(text, [place.key for place in places if _has_line(place)])
    printed = {_text(place.best) for place in places if place.best is not None}
    for place in places:
        change = "" if place.best is None else _text(place.best)
        explained = answers.get(place.key)
        found = _contradictions(place, printed, helps, explained, advised)
        yield Crossed(place.name, change, tuple(found))


def _explained(text: str, keys: Sequence[str]) -> dict[str, str]:
    """The answers about lines of a program, in one run."""
    if not keys:
        return {}
    with interpreter_settings():
        source, parse_record = Source("program", text), ParseRecord()
        dialects = DialectTable(find_dialect, all_dialects)
        module, _ = parse_module(source, dialects, ParseOptions(), parse_record)
        recorded = RecordedProgram(source, module, dialects, parse_record)
        assumption, pipeline = assumed_pipeline(module)
        explainer = ShardingExplainer(recorded)
        explainer.advice.is_assumed = bool(assumption)
        targets = [explainer.target(key) for key in keys]
        with recorded.recording():
            run_pipeline(pipeline, module, None)
        answers = [explainer.answer(target, 1000) for target in targets]
    return {key: " ".join(answer.split()) for key, answer in zip(keys, answers, strict=True)}


def _contradictions(
    place: CostlyPlace,
    printed: Set[str],
    helps: list[str],
    explained: str | None,
    advised: Sequence[tuple[str, Fraction]],
) -> Iterator[str]:
    trial = place.best
    if trial is None:
        untried = " ".join(place.untried.split())
        if untried and untried not in helps:
            yield f"lint has not {untried}"
        answer = explained or ""
        allowed = {untried} if untried else printed
        has_allowed = any(f"help: {text}" in answer for text in allowed)
        if explained is not None and (untried or _first_help(answer)) and not has_allowed:
            yield f"explain has {_first_help(answer) or 'no help'}"
        return
    text, figures = _text(trial), trial.effect.figures_text
    if not place.shared and not any(_says(help, trial) for help in helps):
        yield f"lint has not {text}: {figures}"
    if explained is not None and f"help: {text}" not in explained:
        yield f"explain has {_first_help(explained) or 'no help'}"
    elif explained is not None and f"tried: {figures}" not in explained:
        yield f"explain has other figures than {figures}"
    best = trial.after.at_most(True)
    if not trial.change.parts and not any(text == other or cost <= best for other, cost in advised):
        yield f"advise has not {text}"


def _text(trial: Trial) -> str:
    return " ".join((trial.text or "; ".join(trial.texts)).split())


def _says(help: str, trial: Trial) -> bool:
    return help.startswith(_text(trial)) and f": {trial.effect.figures_text}" in help


def _has_line(place: CostlyPlace) -> bool:
    return place.largest.location.file.endswith(".py")


def _first_help(answer: str) -> str:
    """The help of the line, before what is said of its values."""
    line = answer.partition("see --explain=")[0]
    return line.partition("help: ")[2].partition(" tried:")[0]


def _cross(path: Path) -> None:
    """Writes the contradictions of a program, and a line with its figures."""
    try:
        found = list(crossed(path.read_text(encoding="utf-8")))
    except sdyopt.Error as error:
        sys.stdout.write(f"{path.stem}: {str(error)[:100]}\n")
        return
    for each in found:
        for text in each.contradictions:
            sys.stdout.write(f"{path.stem}: {each.place}: check has {each.change or 'none'}; {text}\n")
    contradictions = sum(len(each.contradictions) for each in found)
    sys.stdout.write(f"{path.stem}: {len(found)} places, {contradictions} contradictions\n")


_FIGURES = re.compile(r": (\d+) places, (\d+) contradictions$")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.crossed", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="for each program")
    parser.add_argument("--one", action="store_true", help="in this process, without a limit")
    parser.add_argument("programs", nargs="+", type=Path)
    arguments = parser.parse_args()
    if arguments.one:
        for path in arguments.programs:
            _cross(path)
        return 0
    programs = places = contradictions = 0
    for path in arguments.programs:
        command = [sys.executable, "-m", "benchmarks.advice.crossed", "--one", str(path)]
        start = monotonic()
        try:
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=arguments.seconds)
            text = run.stdout or f"{path.stem}: ended with {run.returncode}\n"
        except subprocess.TimeoutExpired:
            text = f"{path.stem}: not crossed in {arguments.seconds:g} s\n"
        sys.stdout.write(f"{text[:-1]} ({monotonic() - start:.0f} s)\n")
        sys.stdout.flush()
        if (figures := _FIGURES.search(text.rstrip())) is not None:
            programs += figures[1] != "0"
            places += int(figures[1])
            contradictions += int(figures[2])
    sys.stdout.write(f"{programs} programs, {places} places, {contradictions} contradictions\n")
    return int(contradictions > 0)


if __name__ == "__main__":
    sys.exit(main())

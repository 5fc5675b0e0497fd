"""Crosses what commands print for the places of programs: python -m benchmarks.advice.crossed PROGRAM…

For each place of --check, the change and the figures that check has are compared with what --lint and
--explain print for its line, and with the list of --advise. They contradict each other if one has a change
where another has none or another one; --advise, which tries more, may have a better one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import sdyopt
from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.report.check.checker import CostlyPlace


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
    for place in check.ir.places:
        change = "" if place.best is None else _text(place.best)
        explained = " ".join(str(module.explain(place.key, width=1000)).split()) if _has_line(place) else None
        yield Crossed(place.name, change, tuple(_contradictions(place, helps, explained, advised)))


def _contradictions(
    place: CostlyPlace,
    helps: list[str],
    explained: str | None,
    advised: Sequence[tuple[str, Fraction]],
) -> Iterator[str]:
    trial = place.best
    if trial is None:
        untried = " ".join(place.untried.split())
        if untried and untried not in helps:
            yield f"lint has not {untried}"
        explains = explained is None or (
            f"help: {untried}" in explained if untried else not _first_help(explained)
        )
        if not explains:
            yield f"explain has {_first_help(explained or '') or 'no help'}"
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.crossed", description=__doc__)
    parser.add_argument("programs", nargs="+", type=Path)
    programs = places = contradictions = 0
    for path in parser.parse_args().programs:
        try:
            found = list(crossed(path.read_text(encoding="utf-8")))
        except sdyopt.Error as error:
            sys.stdout.write(f"{path.stem}: {str(error)[:100]}\n")
            continue
        programs += bool(found)
        places += len(found)
        for each in found:
            for text in each.contradictions:
                contradictions += 1
                sys.stdout.write(f"{path.stem}: {each.place}: check has {each.change or 'none'}; {text}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{programs} programs, {places} places, {contradictions} contradictions\n")
    return int(contradictions > 0)


if __name__ == "__main__":
    sys.exit(main())

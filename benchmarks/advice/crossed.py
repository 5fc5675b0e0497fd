"""Crosses what commands find for the places of programs: python -m benchmarks.advice.crossed PROGRAM…

For each place of --check, the change that check prints is compared with those that lint and explanations, and
--advise, have for its line. They agree if none has one, or if all have the same, or one that saves as much.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from benchmarks.advice.planted import adviser_on
from sdyopt.analysis.changes.search import ADVISE, CHECK, Search
from sdyopt.analysis.changes.trials import Trial
from sdyopt.analysis.report.check.checker import costliest, places_of
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.tools.driver.job import interpreter_settings

# What saves so much less of the time is no other change.
_SAME = Fraction(1, 1000)


class Crossed(NamedTuple):
    """A place, with the change that each command has for it."""

    place: str
    of_command: dict[str, Trial | None]

    @property
    def agrees(self) -> bool:
        """Whether no command contradicts another."""
        found = [trial for trial in self.of_command.values() if trial is not None]
        if len(found) not in (0, len(self.of_command)):
            return False
        saved = [trial.saved(moves_whole=True) for trial in found]
        return not found or max(saved) - min(saved) <= _SAME


def crossed(text: str) -> Iterator[Crossed]:
    """The places of a program."""
    trials = adviser_on(text, 1).search.trials
    check, lint, advise = (Search(trials, budget) for budget in (CHECK, CHECK, ADVISE))
    if not check.can_try or trials.outcome is None:
        return
    for place in costliest(places_of(trials.outcome.report.collectives)):
        sent = {key: size for key, size in trials.outcome.sent.items() if key[0] == place.key}
        if not sent:
            continue
        of_lint = lint.at_place(max(sent, key=lambda key: sent[key]))
        found = {"check": check.at_line(place.key), "lint": of_lint, "advise": advise.at_line(place.key)}
        yield Crossed(place.key, found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice.crossed", description=__doc__)
    parser.add_argument("programs", nargs="+", type=Path)
    programs = places = contradictions = 0
    with interpreter_settings():
        for path in parser.parse_args().programs:
            try:
                found = list(crossed(path.read_text(encoding="utf-8")))
            except DiagnosticError as error:
                sys.stdout.write(f"{path.stem}: {error}\n")
                continue
            programs += bool(found)
            places += len(found)
            for each in found:
                if not each.agrees:
                    contradictions += 1
                    texts = {name: trial and trial.text for name, trial in each.of_command.items()}
                    sys.stdout.write(f"{path.stem}: {each.place}: {texts}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{programs} programs, {places} places, {contradictions} contradictions\n")
    return int(contradictions > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Trials of what is proposed for drawn programs, and their order: the page trials.txt.

python -m tests.unit.advise.test_drawn_trials    # writes the page
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest

from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.analysis.changes.order import each_place_once, surest_first, without_equals
from sdyopt.analysis.changes.proposals import kinds
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.tools.driver.job import interpreter_settings
from tests.unit.advise.test_proposals import parsed
from tests.unit.report.programs import parts_of_page
from tests.unit.report.test_drawn_programs import sharded_program

PAGE = Path(__file__).with_name("trials.txt")
NAMES = tuple(f"drawn {number}" for number in range(130, 138))
# So many changes of each kind are tried.
_OF_KIND = 2


def part_of(name: str) -> str:
    """The part of the page for a program."""
    with interpreter_settings():
        return "".join(f"{line}\n" for line in (name, *_lines(int(name.split()[1]))))


def _lines(number: int) -> Iterator[str]:
    module = parsed(sharded_program(number, 3))
    trials = Trials(module, completing_pipeline(module), built_in_topology("tpu-v5e"), may_fork=False)
    names, program = ChangeNames(module), Search(trials).program
    changes: dict[object, Change] = {}
    for kind in kinds().values():
        for change in islice(kind.propose(program), _OF_KIND):
            changes.setdefault(change.key, change)
    tried = [trial for trial in trials.of_changes(list(changes.values()), 1, None, 99) if trial.figures]
    worded = [names.worded(trial, trials) for trial in tried]
    for index, trial in enumerate(worded):
        yield f"  {index}: {trial.text}{trial.now and f' (now {trial.now})'}"
        yield f"    {', '.join(_figures(trial))}"
        yield f"    {', '.join(_words(trial))}"
        # Passes that begin after propagation give what all of them give.
        assert trials.in_full(tried[index]).figures == trial.figures
    numbers = {id(trial): str(index) for index, trial in enumerate(worded)}
    orders = {"each place once": each_place_once(worded)}
    for moves_whole in (False, True):
        by_saved = sorted(worded, key=lambda trial: -trial.saved(moves_whole))
        orders[f"without equals, {moves_whole}"] = list(without_equals(by_saved, moves_whole))
        orders[f"surest first, {moves_whole}"] = surest_first(by_saved, moves_whole)
    for order, listed in orders.items():
        yield f"  {order}: {' '.join(numbers[id(trial)] for trial in listed)}"


def _figures(trial: Trial) -> Iterator[str]:
    """What is after it otherwise than before."""
    for name, before, after in zip(trial.after._fields, trial.before, trial.after, strict=True):
        if before != after and name != "reshards":
            yield f"{name} {f'{float(after):.6g}' if isinstance(after, Fraction) else after}"
    yield f"saves {float(trial.saved(False)):.6g}, {float(trial.saved(True)):.6g}"


def _words(trial: Trial) -> Iterator[str]:
    for name in ("sends_more", "may_send_still_more", "is_conflict_free"):
        if getattr(trial, name):
            yield name
    yield from (f"{result.place} is {result.spec}" for result in trial.results)
    yield from (f"{annotation.place}: {annotation.spec}" for annotation in trial.annotations)


@pytest.mark.parametrize("name", NAMES)
def test_trials_are_those_of_the_page(name: str) -> None:
    assert part_of(name) == parts_of_page(PAGE).get(name)


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, NAMES)), encoding="utf-8")

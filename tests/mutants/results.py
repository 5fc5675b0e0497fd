"""Results of mutants, and the file from which an interrupted session continues."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from tests.mutants.mutant import Mutant


class State(StrEnum):
    KILLED = "killed"
    HANGS = "hangs"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Result:
    """What the tests say about a mutant.

    `reason` is the failing test, or why no test can fail. `tests` is the number of tests that execute the
    lines of the mutant. `passed` are the files of tests that a survivor passed, with their versions, if
    `source` is still the hash of the file of the mutant.
    """

    name: str
    state: State
    reason: str = ""
    tests: int = 0
    source: str = ""
    passed: tuple[str, ...] = ()

    @property
    def is_killed(self) -> bool:
        return self.state in (State.KILLED, State.HANGS)


def read(path: Path | None) -> dict[str, Result]:
    """The results in a file; of several for a mutant, the last one."""
    if path is None or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    results = [Result(**json.loads(line)) for line in lines]
    typed = [replace(each, state=State(each.state), passed=tuple(each.passed)) for each in results]
    return {result.name: result for result in typed}


def append(path: Path, result: Result) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def summary(groups: Mapping[str, Sequence[Mutant]], results: Mapping[str, Result]) -> str:
    """A table of the groups, and all mutants that no test kills."""
    lines = [_row("", ["mutants", "killed", "equivalent", "survived", "score"])]
    everything = [mutant for mutants in groups.values() for mutant in mutants]
    for name, mutants in [*groups.items(), ("all", everything)]:
        found = [results[mutant.name] for mutant in mutants if mutant.name in results]
        killed = sum(result.is_killed for result in found)
        equivalent = sum(result.state is State.EQUIVALENT for result in found)
        score = f"{killed / len(found):.1%}" if found else ""
        survived = len(found) - killed - equivalent
        lines.append(_row(name, [len(found), killed, equivalent, survived, score]))
    for state in (State.EQUIVALENT, State.SURVIVED):
        for mutant in everything:
            result = results.get(mutant.name)
            if result is not None and result.state is state:
                note = result.reason or f"{result.tests} tests execute this line"
                lines.append(f"\n{state}: {mutant.diff()}\n    {note}")
    return "\n".join(lines)


def _row(name: str, cells: Sequence[object]) -> str:
    return f"{name:24}" + "".join(f"{cell:>12}" for cell in cells)

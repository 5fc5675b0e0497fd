"""Mutants, their selection and their results; `python -m tests.mutants` runs them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.mutants import results
from tests.mutants.equivalent import Equivalence, read_table, stale_entries
from tests.mutants.mutant import mutants_of
from tests.mutants.mutations import edits
from tests.mutants.reach import Reach
from tests.mutants.results import Result, State
from tests.mutants.sample import select
from tests.mutants.session import Session
from tests.mutants.targets import GROUPS, ROOT, files_of
from tests.mutants.tree import Tree
from tests.mutants.worker import Verdict, Worker

TOYS = "tests/mutants/toy_tests.py::test_"


def texts(source: str) -> list[str]:
    """What a source becomes by each edit."""
    return [source[: edit.start] + edit.text + source[edit.end :] for edit in edits(source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a is not None", ["a is None"]),
        ("(a) == (b)", ["(a) != (b)"]),
        ("a and b and c", ["a or b and c", "a and b or c"]),
        ("a + b // c", ["a - b // c", "a + b * c"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = 3", ["x = 4", "x = 2"]),
        ("x = zip(a, b, strict=True)", ["x = zip(a, b, strict=False)"]),
        ("def f(a: int = 1): ...", ["def f(a: int = 2): ...", "def f(a: int = 0): ..."]),
        ("if a: b = 'c'", ["if not (a): b = 'c'"]),
        ("x = [a for a in b if c(a)]", ["x = [a for a in b if not (c(a))]"]),
        ("x = min(a, b)", ["x = max(a, b)"]),
        ("x += a", ["x -= a", "pass"]),
        ("a.b = c", ["pass"]),
        ("def f(): return", ["def f(): pass"]),
        ("def f(): return a", ["def f(): return None"]),
        ("for a in b: continue", ["for a in b: pass", "for a in b: break"]),
        ("raise a('b')", ["pass"]),
    ],
)
def test_edits(source: str, expected: Sequence[str]) -> None:
    # A call or comparison that is a statement can also be dropped.
    assert [text for text in texts(source) if text != "pass" or "pass" in expected] == expected


@pytest.mark.parametrize(
    "source",
    ["'docstring'", "assert a < 1", "import a", "x: list[1]", "@f(1)\ndef g(): ...", "x = f'{a + 1}'"],
)
def test_what_is_not_edited(source: str) -> None:
    assert texts(source) == []


def test_a_mutant_shows_the_lines_that_it_changes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(é):\n    return (\n        é\n        < 1\n    )\n")
    mutant = next(mutants_of("a.py", tmp_path))
    assert mutant.diff() == ("a.py:2\n-    return (\n-        é\n-        < 1\n-    )\n+    return None")


def test_a_change_elsewhere_keeps_the_selection(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = a < b\ny = a + b\nz = a or b\n")
    before = [mutant.name for mutant in select({"": ["a.py"]}, tmp_path, 0, 10)]
    path.write_text("'new'\nx = a < b\n\n\ny = a + b\nz = a or b\n")
    assert [mutant.name for mutant in select({"": ["a.py"]}, tmp_path, 0, 10)] == before
    assert len(set(before)) == 4


def test_every_group_has_files() -> None:
    assert all(files_of([pattern]) for patterns in GROUPS.values() for pattern in patterns)


def test_a_mutant_is_restored(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    before = path.stat().st_mtime_ns
    mutant = next(mutants_of("a.py", tmp_path))
    with Tree(ROOT, tmp_path).mutated(mutant):
        assert path.read_text() == "x = 2\n"
    assert (path.read_text(), path.stat().st_mtime_ns) == ("x = 1\n", before)


def test_a_worker_stops_at_the_first_failure() -> None:
    with closing(Worker(Tree(ROOT, ROOT), "sdyopt/analysis/figures/figures.py", grace=0.2)) as worker:
        assert worker.run({f"{TOYS}finds_all_imported_but_figures": 0}) == Verdict()
        assert worker.run({f"{TOYS}passes": 0, f"{TOYS}fails": 0}) == Verdict(f"{TOYS}fails")
        assert worker.run({f"{TOYS}hangs": 0}) == Verdict(f"{TOYS}hangs", hangs=True)
        assert worker.run({f"{TOYS}ends_the_process": 0}) == Verdict(f"{TOYS}ends_the_process")


# Tests, and the text of a file that makes them fail.
WRONG = {"checks sums": "a - b", "checks limits": "a <= b", "always fails": ""}


class Toys:
    """A worker that runs the tests of `WRONG`."""

    def __init__(self, tree: Tree, mutated: str, forks: bool) -> None:
        self._tree = tree

    def run(self, tests: dict[str, float]) -> Verdict:
        text = (self._tree.folder / "a.py").read_text()
        return next((Verdict(test) for test in tests if WRONG[test] in text), Verdict())

    def close(self) -> None:
        pass


def test_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.mutants.session.Worker", Toys)
    (tmp_path / "a.py").write_text("x = a < b\ny = a + b\n")
    mutants = list(mutants_of("a.py", tmp_path))
    session = Session(Tree(ROOT, tmp_path), reach_of(tmp_path, {"checks limits": [1]}), tmp_path / "r")
    session.run(mutants)
    states = {mutant.after: session.results[mutant.name].state for mutant in mutants}
    assert states == {"x = a <= b": "killed", "x = a >= b": "survived", "y = a - b": "survived"}
    summary = results.summary({"sums": mutants}, session.results)
    assert summary.splitlines()[1].split() == ["sums", "3", "1", "0", "2", "33.3%"]
    assert "survived: a.py:2\n-    y = a + b\n+    y = a - b\n    1 tests execute this line" in summary


def test_a_session_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Survivors run again if a test is new."""
    monkeypatch.setattr("tests.mutants.session.Worker", Toys)
    (tmp_path / "a.py").write_text("y = a + b\n")
    [mutant] = mutants_of("a.py", tmp_path)
    for lines, expected in [({}, State.SURVIVED), ({"checks sums": [1]}, State.KILLED)]:
        session = Session(Tree(ROOT, tmp_path), reach_of(tmp_path, lines), tmp_path / "r")
        session.run([mutant])
        assert session.results[mutant.name].state is expected
    assert results.read(tmp_path / "r")[mutant.name] == Result(mutant.name, State.KILLED, "checks sums", 1)


def test_a_test_that_fails_without_a_mutant_kills_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.mutants.session.Worker", Toys)
    (tmp_path / "a.py").write_text("y = a + b\n")
    [mutant] = mutants_of("a.py", tmp_path)
    reach = reach_of(tmp_path, {"always fails": [1], "checks limits": [1]})
    session = Session(Tree(ROOT, tmp_path), reach, tmp_path / "r")
    session.run([mutant])
    assert session.results[mutant.name].state is State.SURVIVED
    assert reach.unstable == ["always fails"]


def test_tests_run_in_the_order_in_which_they_probably_kill(tmp_path: Path) -> None:
    """Tests of functions that killed mutants come first, then those of few lines, but not all parameters."""
    lines = {"general": range(1000), "special[1]": range(1), "special[2]": range(1), "other": range(20)}
    reach = reach_of(tmp_path, lines)
    tests = ["general", "special[1]", "special[2]", "other"]
    reach.sort(tests, Counter())
    assert tests == ["special[1]", "other", "special[2]", "general"]
    reach.sort(tests, Counter(general=1))
    assert tests[0] == "general"


def reach_of(folder: Path, lines: Mapping[str, Iterable[int]]) -> Reach:
    """A record in which tests execute lines of a.py."""
    reach = Reach(folder)
    reach.replace(
        [
            {"test": test, "passed": True, "seconds": 0.1, "lines": {"a.py": list(numbers)}}
            for test, numbers in lines.items()
        ],
        dict.fromkeys(lines, ""),
    )
    return reach


def test_an_entry_is_stale_if_its_line_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("y = a + b\n")
    entries = [Equivalence("a.py", f"y = a + {name}", f"y = a - {name}", "unused result") for name in "bc"]
    assert stale_entries(entries, tmp_path) == [entries[1]]


def test_every_equivalent_mutant_has_a_reason() -> None:
    assert all(entry.reason for entry in read_table())

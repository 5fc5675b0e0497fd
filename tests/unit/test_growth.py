"""The programs that grow, and the exponents of growth."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import sdyopt
from benchmarks.growth import Growth, Usage, _measure, exponent, row
from benchmarks.growth_programs import DIMENSIONS, HLO, Dimension
from sdyopt.analysis.changes.proposals.roles import roles
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import trials_on
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.tools.cli import main
from tests.fuzz.batch import preload, run_all
from tests.fuzz.inputs import Input


@pytest.mark.parametrize(
    ("values", "power"), [([1, 2, 4], 1), ([1, 4, 16], 2), ([3, 3, 3], 0), ([0.001, 1, 4], 2)]
)
def test_the_exponent_is_that_of_the_last_two_values(values: list[float], power: float) -> None:
    assert exponent(values, 0.1) == power


def test_small_values_have_no_exponent() -> None:
    assert exponent([0.01, 0.02, 0.04], 0.1) is None


def test_exponents_above_the_limit_are_bold() -> None:
    growth = Growth(4000, (Usage(1, 10), Usage(2, 20), Usage(8, 40)))
    cells = "8.00 s | **2.00** | 40 MiB | 1.00"
    assert row("blocks", growth) == f"| blocks | 4,000 | {cells} | – | – | – | – |"
    assert row("blocks", growth, growth) == f"| blocks | 4,000 | {cells} | {cells} |"


def test_exponents_are_those_of_the_text_where_it_grows_faster_than_the_program() -> None:
    growth = Growth(4000, (Usage(2, 20, 10_000), Usage(8, 60, 40_000)))
    assert row("loops", growth).startswith(
        "| loops | 4,000 | 8.00 s | 2.00, of the text 1.00 | 60 MiB | 1.58, of the text 0.79 | – |"
    )
    # What another tool prints is the same text.
    cubic = Growth(4000, (Usage(1, 20), Usage(8, 60)))
    assert "| 8.00 s | **3.00, of the text 1.50** | 60 MiB |" in row("loops", growth, cubic)
    # A text that grows less, or is short, changes nothing.
    for before, after in ((10_000, 11_000), (2000, 8000)):
        other = Growth(4000, (Usage(2, 20, before), Usage(8, 40, after)))
        assert "| 8.00 s | **2.00** | 40 MiB | 1.00 |" in row("blocks", other)


def test_a_command_that_fails_has_no_growth() -> None:
    def ends_with(status: int) -> Growth | None:
        program = Dimension(lambda size: "", 1, status=1)
        return _measure(program, lambda path: [sys.executable, "-IS", "-c", f"raise SystemExit({status})"])

    assert ends_with(1) is not None
    assert ends_with(0) is None


@pytest.mark.parametrize("name", DIMENSIONS)
def test_text_grows_linearly(name: str) -> None:
    for write in (DIMENSIONS[name].write, DIMENSIONS[name].hlo):
        if write is not None:
            small, large = len(write(100)), len(write(1000))
            assert 5 * small < large < 15 * small


def calls(pipeline: str, name: str, size: int) -> int:
    """The functions that a pipeline calls on a program of a size, or the text of a report if it is empty."""
    module = sdyopt.parse(DIMENSIONS[name].write(size), allow_unregistered_dialects=True)
    return counted(lambda: module.run(pipeline) if pipeline else str(module.report()))


def counted(function: Callable[[], object]) -> int:
    """The functions that a function calls."""
    events: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, argument: events.update([event]))
    try:
        function()
    finally:
        sys.setprofile(None)
    return events["call"] + events["c_call"]


@pytest.mark.parametrize(
    ("pipeline", "name", "size"),
    [
        ("sdy-propagation-pipeline", "nested manual computations, propagated", 10),
        ("cse", "nested loops, merged", 10),
        ("canonicalize{region-simplify=aggressive}", "blocks of a switch, propagated", 40),
        ("canonicalize", "ifs of a condition, canonicalized", 20),
        ("canonicalize", "values of an scf.while, canonicalized", 40),
        ("", "sums of products, reported", 50),
        ("", "values of a loop in a shard_map, reported", 50),
        ("", "rank, reported", 50),
    ],
)
def test_passes_take_linear_time(pipeline: str, name: str, size: int) -> None:
    """Four times the size takes at most about four times the calls; the first run fills caches."""
    calls(pipeline, name, size)
    assert calls(pipeline, name, 4 * size) < 4.5 * calls(pipeline, name, size)


def test_proposals_for_roles_take_linear_time() -> None:
    def count(size: int) -> int:
        module = sdyopt.parse(DIMENSIONS["gathered values of a loop, linted"].write(size)).ir
        program = Search(trials_on(module, completing_pipeline(module))).program
        return counted(lambda: list(roles(program)))

    count(10)
    assert count(40) < 4.5 * count(10)


def test_programs_are_valid() -> None:
    preload()
    valid = {name: each for name, each in DIMENSIONS.items() if name != "errors" and each.hlo is None}
    outcomes = run_all([Input(each.write(3).encode(), each.flags).run for each in valid.values()])
    for name, outcome in zip(valid, outcomes, strict=True):
        assert (outcome.status, outcome.errors) == (0, ""), name


def test_programs_are_compared_with_their_hlo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dimension = DIMENSIONS["collectives, compared"]
    assert dimension.hlo is not None
    Path("program.mlir").write_text(dimension.write(3), encoding="utf-8")
    Path(HLO).write_text(dimension.hlo(3), encoding="utf-8")
    assert main(["program.mlir", "-o", "out.mlir", *dimension.flags]) == 0

"""What holds for all advice: the program that is written has the printed figures, and limits are kept."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import sdyopt
from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.adviser import Adviser
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.figures.assumed_pipeline import assumed_pipeline
from sdyopt.mlir.asm.printer.asm_printer import print_op

ROOT = Path(__file__).parents[3]


def programs() -> Iterator[tuple[str, str]]:
    lit = ROOT / "tests" / "lit"
    yield "one_change", (lit / "advise" / "one_change.mlir").read_text(encoding="utf-8")
    for path in sorted((lit / "report" / "worsened").glob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        yield path.stem, text[text.index("\n", text.index("//--- worse.mlir")) :]


PROGRAMS = dict(programs())
MODES: dict[str, dict[str, object]] = {
    "one change": {},
    "two changes": {"advise_changes": 2},
    "from scratch": {"advise_from_scratch": True},
}


def adviser(text: str, **options: object) -> Adviser:
    module = sdyopt.parse(text).ir
    return Adviser(module, assumed_pipeline(module)[1], None, Options(advise="-", **options))  # type: ignore[arg-type]


def figures(text: str) -> Figures:
    found = adviser(text).figures()
    assert found is not None
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_written_program_has_the_printed_figures(name: str, mode: str) -> None:
    text = PROGRAMS[name]
    advice = adviser(text, **MODES[mode], advise_jobs=1).advice()
    changes = advice.changes
    best = advice.together or (changes[-1 if advice.is_sequence else 0] if changes else None)
    last = figures(text) if best is None else best.after
    assert figures(print_op(advice.program)) == (advice.final or last)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_proposed_above_the_limit_of_memory(name: str, mode: str) -> None:
    peak = figures(PROGRAMS[name]).peak_bytes
    for limit in (peak, peak // 2):
        advice = adviser(PROGRAMS[name], **MODES[mode], advise_jobs=1, memory=limit).advice()
        for change in advice.changes:
            before, after = change.before.peak_bytes, change.after.peak_bytes
            assert after <= limit or after < before
        assert figures(print_op(advice.program)).peak_bytes <= max(limit, peak)


@pytest.mark.parametrize("mode", MODES)
def test_runs_are_equal_with_any_number_of_processes(mode: str) -> None:
    runs = [adviser(PROGRAMS["one_change"], **MODES[mode], advise_jobs=jobs).advice() for jobs in (1, 1, 3)]
    texts = [
        ([(each.text, each.before, each.after) for each in advice.changes], print_op(advice.program))
        for advice in runs
    ]
    assert texts[0] == texts[1] == texts[2]

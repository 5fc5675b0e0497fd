"""Baselines: what has grown since an earlier report, and invalid baseline files."""

from fractions import Fraction

import pytest

from sdyopt.analysis.report.json_report import json_report, read_baseline
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileLoc
from tests.unit.report.programs import report

PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
    -> tensor<64x32xf32> {{
  %0 = stablehlo.negate %a {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}, {{}}]>]>}}
    : tensor<64x32xf32> loc("model.py":6:1)
  %1 = sdy.all_reduce {{{axes}}} %0 out_sharding=<@mesh, [{{"x"}}, {{}}]> : tensor<64x32xf32> loc({location})
  return %1 : tensor<64x32xf32> loc("model.py":8:1)
}}
"""


def program(axes: str = '"y"', location: str = '"model.py":7:1') -> str:
    return PROGRAM.format(axes=axes, location=location)


def grown(old: str, new: str, tolerance: Fraction = Fraction(0)) -> list[str]:
    baseline = read_baseline("old.json", json_report(report(old)))
    found = baseline.grown(report(new), tolerance)
    return [line for each in found for line in (each.message, *(note.message for note in each.notes))]


def test_the_same_program_has_not_grown() -> None:
    assert grown(program(), program()) == []


def test_less_is_no_growth() -> None:
    assert grown(program(), program("")) == []


def test_notes_list_the_collectives_that_grew() -> None:
    assert grown(program(""), program()) == [
        "wire bytes per device grew from 0 B to 2.00 KiB",
        'all_reduce {"y"}: 2.00 KiB, is new; result 0 of @main needs this sharding: the program states it',
        "the baseline is set here",
    ]


def test_growth_within_the_tolerance_is_accepted() -> None:
    smaller = program().replace("64x32", "60x32")
    assert grown(smaller, program(), Fraction(1, 10)) == []
    assert grown(smaller, program(), Fraction(1, 20)) != []


def test_a_collective_whose_line_moves_is_matched_by_its_name_stack() -> None:
    old = program(location='"step/sum"("model.py":7:1)').replace("64x32", "60x32")
    new = program(location='"step/sum"("model.py":70:1)')
    assert "was 1.88 KiB" in grown(old, new)[1]


def with_flops(figure: str) -> str:
    totals = f'{{"wire_bytes": {{"high": 0}}, "flops": {{"high": {figure}}}}}'
    memory = '{"peak": 0, "live_at_peak": []}'
    lists = f'"memory": {memory}, "collectives": [], "products": []'
    return f'{{"schema": "sdy-opt-report", "version": 1, {lists}, "totals": {totals}}}'


def test_figures_may_be_whole_numbers() -> None:
    assert read_baseline("old.json", with_flops("9")).flops.value == 9


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "invalid JSON: Expecting property name enclosed in double quotes"),
        ("[]", 'not a report of sdy-opt: it has no "schema": "sdy-opt-report"'),
        ('{"schema": "sdy-opt-report"}', "not a report of this version of sdy-opt: its version is not 1"),
        ('{"schema": "sdy-opt-report", "version": 1}', "'collectives' is missing"),
        (with_flops('"9"'), "'high' must be a number, at least 0"),
        (with_flops("true"), "'high' must be a number, at least 0"),
        (with_flops("-1"), "'high' must be a number, at least 0"),
        (with_flops("Infinity"), "'high' must be a number, at least 0"),
        (with_flops("NaN"), "'high' must be a number, at least 0"),
    ],
)
def test_an_invalid_baseline_is_an_error_with_help(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_baseline("old.json", text)
    assert caught.value.diagnostic.message == message
    assert isinstance(caught.value.diagnostic.location, FileLoc)
    assert caught.value.diagnostic.help == "write a baseline with --report=FILE.json"


def test_an_invalid_figure_is_located_in_the_file() -> None:
    text = with_flops('"9"').replace('"totals"', '\n  "totals"')
    with pytest.raises(DiagnosticError) as caught:
        read_baseline("old.json", text)
    column = text.split("\n")[1].index('"9"') + 1
    assert caught.value.diagnostic.location == FileLoc("old.json", 2, column)


def test_the_error_is_at_the_line_that_grew_most() -> None:
    baseline = read_baseline("old.json", json_report(report(program(""))))
    (error,) = baseline.grown(report(program()))
    assert error.location == FileLoc("model.py", 7, 1)
    limit = error.notes[-1].location
    assert isinstance(limit, FileLoc)
    assert limit.file == "old.json"
    assert error.help.startswith("if this is intended, write a new baseline with --report=old.json")

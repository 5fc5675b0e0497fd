"""Timing and statistics of passes, and their reports."""

from __future__ import annotations

import json

from sdyopt.mlir.pipeline import Pass, Pipeline, Statistic
from sdyopt.mlir.pipeline.instrumentation import Timer, statistics_report, timing_report


def a_run() -> Timer:
    """A run of one second: a parser phase, and a nested pipeline of two passes."""
    root = Timer("root", 1.0)
    root.child("p", "Parser").seconds = 0.5
    nested = root.child("n", "'func.func' Pipeline")
    nested.seconds = 0.25
    nested.child("a", "CSEPass").seconds = 0.125
    nested.child("b", "CSEPass").seconds = 0.0625
    return root


def test_the_tree_has_passes_below_their_pipeline() -> None:
    assert timing_report(a_run()).splitlines()[3:] == [
        "  Total Execution Time: 1.0000 seconds",
        "",
        "  ----Wall Time----  ----Name----",
        "    0.5000 ( 50.0%)  Parser",
        "    0.2500 ( 25.0%)  'func.func' Pipeline",
        "    0.1250 ( 12.5%)    CSEPass",
        "    0.0625 (  6.2%)    CSEPass",
        "    0.2500 ( 25.0%)  Rest",
        "    1.0000 (100.0%)  Total",
    ]


def test_list_sums_equal_names_longest_first() -> None:
    assert timing_report(a_run(), as_list=True).splitlines()[6:] == [
        "    1.0000 (100.0%)  root",
        "    0.5000 ( 50.0%)  Parser",
        "    0.2500 ( 25.0%)  'func.func' Pipeline",
        "    0.1875 ( 18.8%)  CSEPass",
        "    0.2500 ( 25.0%)  Rest",
        "    1.0000 (100.0%)  Total",
    ]


def test_json_is_valid() -> None:
    tree = json.loads(timing_report(a_run(), as_json=True))
    assert [entry["name"] for entry in tree] == ["Parser", "'func.func' Pipeline", "Rest", "Total"]
    assert [entry.get("name") for entry in tree[1]["passes"]] == ["CSEPass", "CSEPass", None]
    names = [entry["name"] for entry in json.loads(timing_report(a_run(), as_list=True, as_json=True))]
    assert names == ["root", "Parser", "'func.func' Pipeline", "CSEPass", "Rest", "Total"]


def test_the_total_of_an_empty_run_is_zero() -> None:
    assert "0.0000 (  0.0%)  Total" in timing_report(Timer("root"))


class Counts(Pass):
    """A pass with two statistics."""

    merged = Statistic("num-merged", "merged operations")
    erased = Statistic("num-dce'd", "erased operations")


def a_pipeline() -> Pipeline:
    first, second = Counts(), Counts()
    first.count(first.merged, 12)
    second.count(second.erased, 3)
    return Pipeline(elements=[first, Pipeline("func.func", [second])])


def test_statistics_by_pipeline_are_nested() -> None:
    assert statistics_report(a_pipeline()).splitlines()[3:] == [
        "CountsPass",
        "  (S)  0 num-dce'd  - erased operations",
        "  (S) 12 num-merged - merged operations",
        "'func.func' Pipeline",
        "  CountsPass",
        "    (S) 3 num-dce'd  - erased operations",
        "    (S) 0 num-merged - merged operations",
        "",
    ]


def test_statistics_by_name_are_sums_of_equal_passes() -> None:
    assert statistics_report(a_pipeline(), as_list=True).splitlines()[3:] == [
        "  CountsPass",
        "    (S)  3 num-dce'd  - erased operations",
        "    (S) 12 num-merged - merged operations",
        "",
    ]

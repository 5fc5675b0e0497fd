"""Reports on modules: the figures of `sdy-opt --report`."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import sdyopt
from sdyopt.tools.api import reports
from tests.unit.api.programs import COLLECTIVES, REDUCED


def test_collectives_with_their_lines() -> None:
    report = sdyopt.parse(REDUCED).run(COLLECTIVES).report()
    [collective] = report.collectives
    assert str(collective) == 'all_reduce {"model"} at model.py:12'
    assert (
        collective.location == sdyopt.parse(REDUCED).functions["layer"].regions[0][0].operations[0].location
    )
    # 8x32 floats, which two devices reduce along a ring: each sends half of them twice.
    assert (collective.bytes_in, collective.bytes_out, collective.wire_bytes) == (1024, 1024, 1024)
    assert (collective.group_size, collective.times, collective.value) == (2, (1, 1), "%1")
    assert collective.cause == 'dot_general contracts a dimension that is sharded along "model" on both sides'
    assert repr(report) == "<sdyopt.Report: 1 collective, 8 devices>"


def test_formats_of_a_report() -> None:
    module = sdyopt.parse(REDUCED, name="model.mlir").run(COLLECTIVES)
    report = module.report()
    assert report.to_dict() == json.loads(report.to_json())
    assert report.to_dict()["collectives"][0]["kind"] == "all_reduce"
    assert str(report).startswith('8 devices, mesh <["data"=4, "model"=2]>\n')
    assert "<summary>communication: " in report.to_markdown()
    html = report.to_html()
    assert "<title>model.mlir</title>" in html
    assert "stablehlo.dot_general" in html


def test_a_notebook_has_the_page_in_a_frame_if_it_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    report = sdyopt.parse(REDUCED).run(COLLECTIVES).report()
    [page] = re.findall(r'<iframe srcdoc="([^"]*)" [^<>]*></iframe>', report._repr_html_(), re.DOTALL)
    assert unescape(page) == report.to_html()
    monkeypatch.setattr(reports, "MAX_PAGE", 1000)
    assert "<iframe" not in report._repr_html_()
    assert "report.to_html()" in report._repr_html_()


def test_a_collective_without_a_line_is_shown_without_it() -> None:
    program = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32> loc(unknown)
          return %0 : tensor<8xf32> loc(unknown)
        } loc(unknown)
    """
    [collective] = sdyopt.parse(program).report().collectives
    assert str(collective) == 'all_gather {"x"}'
    assert str(collective.location) == "loc(unknown)"


def test_limits_are_checked_against_files(tmp_path: Path) -> None:
    report = sdyopt.parse(REDUCED).run(COLLECTIVES).report()
    budget = tmp_path / "budget.toml"
    budget.write_text("[total]\ncollectives = 0\n")
    [error] = report.over_budget(budget)
    assert (error.severity, error.id) == ("error", "budget-exceeded")
    budget.write_text("[total]\ncollectives = 1\n")
    assert report.over_budget(budget) == ()
    baseline = tmp_path / "main.json"
    baseline.write_text(report.to_json())
    assert report.over_baseline(baseline) == ()
    baseline.write_text(report.to_json().replace('"high": 1024', '"high": 1000'))
    assert [error.id for error in report.over_baseline(baseline)] == ["baseline-exceeded"]
    assert report.over_baseline(baseline, tolerance=3) == ()


def test_a_topology_adds_times(tmp_path: Path) -> None:
    topology = tmp_path / "machine.toml"
    topology.write_text('flops = "1 TFLOP/s"\n')
    module = sdyopt.parse(REDUCED).run(COLLECTIVES)
    assert module.report(topology).to_dict()["time"] is not None
    assert module.report().to_dict()["time"] is None


def test_a_machine_has_the_devices_of_the_program() -> None:
    with pytest.raises(sdyopt.ParseError, match="tpu-v5e:1x1,slices=1 has 1 device, and the program"):
        sdyopt.parse(REDUCED).report("tpu-v5e:1x1,slices=1")
    with pytest.raises(sdyopt.ParseError, match="slices=1 has 1 device, and the program"):
        sdyopt.check(REDUCED, topology="tpu-v5e:1x1,slices=1")


def test_mistakes_in_a_file_are_shown_in_its_line(tmp_path: Path) -> None:
    topology = tmp_path / "machine.toml"
    topology.write_text('flop = "1 TFLOP/s"\n')
    with pytest.raises(sdyopt.ParseError) as caught:
        sdyopt.parse(REDUCED).report(topology)
    head, *rest = str(caught.value).splitlines()
    assert head == f"{topology}:1:1: error: unknown table or key 'flop'"
    assert rest == ['flop = "1 TFLOP/s"', "^", "help: did you mean 'flops'?"]


_LOOP = """sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %n: tensor<i32>)
    -> tensor<64x32xf32> {
  %0:2 = stablehlo.while(%i = %n, %v = %a) : tensor<i32>, tensor<64x32xf32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}, {}]>]>}
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %g = sdy.all_gather [{"x"}, {}] %v out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
    %h = sdy.all_slice [{"x"}, {}] %g out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x32xf32>
    stablehlo.return %i, %h : tensor<i32>, tensor<64x32xf32>
  }
  return %0#1 : tensor<64x32xf32>
}
"""


@pytest.mark.parametrize("trips", [10, {4: 10}])
def test_assumed_trip_counts(trips: int | dict[int, int]) -> None:
    module = sdyopt.parse(_LOOP)
    assert module.report().collectives[0].times is None
    assert module.report(assume_trips=trips).collectives[0].times == (10, 10)
    assert module.report(assume_trips={99: 10}).collectives[0].times is None

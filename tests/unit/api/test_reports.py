"""Reports on modules: the figures of `sdy-opt --report`."""

from __future__ import annotations

import json
import re
from html import unescape

import sdyopt
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


def test_formats() -> None:
    module = sdyopt.parse(REDUCED, name="model.mlir").run(COLLECTIVES)
    report = module.report()
    assert report.to_dict() == json.loads(report.to_json())
    assert report.to_dict()["collectives"][0]["kind"] == "all_reduce"
    assert str(report).startswith('8 devices, mesh <["data"=4, "model"=2]>\n')
    assert "\n### communication: " in report.to_markdown()
    html = report.to_html()
    assert "<title>model.mlir</title>" in html
    assert "stablehlo.dot_general" in html


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    report = sdyopt.parse(REDUCED).report()
    [page] = re.findall(r'^<iframe srcdoc="([^"]*)" [^<>]*></iframe>$', report._repr_html_(), re.DOTALL)
    assert unescape(page) == report.to_html()


def test_a_collective_without_a_line() -> None:
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

"""The sections of a report: what they contain, and what they leave out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sdyopt.analysis.figures import peak_memory
from sdyopt.analysis.figures.figures import LiveValue, Memory, Report
from sdyopt.analysis.figures.fusion import Fusion
from sdyopt.analysis.figures.program_report import report_on, report_unless
from sdyopt.analysis.figures.source_locations import NO_LOCATION, SourceLocation
from sdyopt.analysis.figures.totals import wire_total
from sdyopt.analysis.interface.pages.section import ReportTable, Section, without_empty
from sdyopt.analysis.report.communication import _compilers_text
from sdyopt.analysis.report.json_report import json_report
from sdyopt.analysis.report.sections import differing_peaks, most_repeated, sections_of
from sdyopt.analysis.report.text_report import section_lines, text_report
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.registry import all_dialects, find_dialect

PRODUCT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> SHARDING) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""
SHARDED = "{sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}"


def _parsed(text: str) -> Op:
    root, _ = parse_module(Source("model.mlir", text), DialectTable(find_dialect, all_dialects))
    return root


def test_the_useful_share_needs_shardings() -> None:
    local = text_report(report_on(_parsed(PRODUCT.replace("SHARDING", ""))))
    assert "in 1 product, useful share unknown: no shardings" in local
    replicated = text_report(report_on(_parsed(PRODUCT.replace("SHARDING", SHARDED))))
    assert "in 1 product, 50% of them useful" in replicated


def test_where_most_products_are_repeated() -> None:
    program = PRODUCT.replace("  return", '      loc("model.py":7:1)\n  return')
    assert most_repeated(report_on(_parsed(program.replace("SHARDING", "")))) == ""
    found = report_on(_parsed(program.replace("SHARDING", SHARDED)))
    assert most_repeated(found) == 'most is repeated along "x" at model.py:7'
    # In a shard_map, all axes may be manual: what devices repeat is a whole number of times, and no padding.
    products = [replace(product, spare_axes=()) for product in found.products]
    assert most_repeated(replace(found, products=products)) == "most is repeated on 2 devices at model.py:7"
    padded = [replace(product, global_flops=(product.global_flops or 0) - 1) for product in products]
    assert most_repeated(replace(found, products=padded)) == "most is padding at model.py:7"
    # Of several kinds, the one of which most is not useful: half of one, and a little more of the other.
    for mixed in ([*padded, *found.products], [*found.products, *padded]):
        assert most_repeated(replace(found, products=mixed)) == "most is padding at model.py:7"


def test_recomputed_products_are_told_beside_useful_ones() -> None:
    program = PRODUCT.replace("SHARDING", SHARDED).replace(
        "  return",
        "  %1 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]\n"
        "      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
        '      loc("jit(f)/rematted_computation/dot")\n'
        "  return",
    )
    found = report_on(_parsed(program))
    assert "50% of them useful, 50% recomputed" in text_report(found)
    assert '"recomputed_share": 0.5' in json_report(found)
    # Without name stacks it is unknown.
    assert '"recomputed_share": null' in json_report(report_on(_parsed(PRODUCT.replace("SHARDING", SHARDED))))


def test_shardings_of_a_partitioned_program_are_ignored() -> None:
    program = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
          %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64,
              replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8xf32>) -> tensor<16xf32>
          return %0 : tensor<16xf32>
        }
    """
    report = report_on(_parsed(program))
    assert report.memory.arguments == 8 * 4
    assert [each.bytes_in for each in report.collectives] == [8 * 4]
    assert not report.is_sharded


def test_an_optional_column_without_text_is_left_out() -> None:
    columns = ("bytes", "copies", "type")
    assert without_empty(columns, [("1 B", "", "i8")]) == (("bytes", "type"), [("1 B", "i8")])
    assert without_empty(columns, [("1 B", "less", "i8")]) == (columns, [("1 B", "less", "i8")])


def test_text_has_no_escape_sequences_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich would write them wherever FORCE_COLOR is set."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in text_report(report_on(_parsed(PRODUCT.replace("SHARDING", SHARDED))))


def test_live_values_of_a_line_are_one_row() -> None:
    at = SourceLocation("model.py", 3, 0, "jit(f)/dot_general")
    layers = [LiveValue(f"%{number}", "tensor<8x8xf32>", "", 256, 1, at) for number in range(2)]
    other = LiveValue("%a", "tensor<8x8xf32>", "", 300, 1, NO_LOCATION)
    report = Report(devices=4, memory=Memory(live_at_peak=[other, *layers, other]))
    [table] = next(section.tables for section in sections_of(report) if section.heading.startswith("memory"))
    assert table.rows == [
        ("512 B", "1 of 4", "2 × temporary (dot_general)", "model.py:3", "f32[8,8]"),
        ("300 B", "1 of 4", "temporary (%a)", "", "f32[8,8]"),
        ("300 B", "1 of 4", "temporary (%a)", "", "f32[8,8]"),
    ]


def test_the_largest_rows_are_shown_of_whichever_lines() -> None:
    rows = [(f"{size} B", "here", "a note") for size in range(99, 9, -10)]
    table = ReportTable("", ("bytes", "where", "note"), 1, [*rows, ("1 B", "there", "another")], True)
    text = "\n".join(section_lines([], [Section("heading", [], [table])], 80, 9, 5))
    assert [size in text for size in ("99 B", "59 B", "1 B")] == [True, True, False]
    assert "… and 5 more" in text


def test_peaks_differ_if_they_are_more_than_a_tenth_off() -> None:
    peaks = {"TPU": 219, "GPU": 221, "CPU": 179}
    assert differing_peaks(Memory(peak=200, by_compiler=peaks)) == {"GPU": 221, "CPU": 179}


def test_what_compilers_send_is_said_if_one_of_them_differs_by_more_than_a_tenth() -> None:
    report = report_on(
        _parsed("""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    """)
    )
    total = wire_total(report)

    def text(**shares: Fraction) -> str:
        by_compiler = {
            name: [replace(each, wire_bytes=(each.wire_bytes or 0) * share) for each in report.collectives]
            for name, share in shares.items()
        }
        return _compilers_text(replace(report, by_compiler=lambda: by_compiler), total)

    assert text(tpu=Fraction(11, 10), gpu=Fraction(9, 10)) == ""
    assert text(tpu=Fraction(1), gpu=Fraction(12, 10))
    assert text(tpu=Fraction(8, 10), gpu=Fraction(1))


def test_the_peak_is_that_of_the_function_that_needs_most() -> None:
    """Also without what describes it, as in trials."""
    shapes = ("tensor<8x128xf32>", "tensor<16x128xf32>")
    functions = [
        f"func.func @f{n}(%a: {type}) -> {type} {{ return %a : {type} }}" for n, type in enumerate(shapes)
    ]
    for order in (functions, functions[::-1]):
        program = _parsed("\n".join(order))
        plain = report_unless(program, None, None, is_described=False)
        assert plain is not None
        assert report_on(program).memory.peak == plain.memory.peak == 2 * 16 * 128 * 4


def test_what_is_fused_is_found_for_tpu_and_once_for_all_that_fuse_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fusions: list[Fusion] = []

    def fusion(*arguments: Any) -> Fusion:
        fusions.append(Fusion(*arguments))
        return fusions[-1]

    monkeypatch.setattr(peak_memory, "Fusion", fusion)
    memory = report_on(_parsed(PRODUCT.replace("SHARDING", SHARDED))).memory
    assert list(memory.by_compiler) == ["tpu", "gpu"]
    assert len(fusions) == 2

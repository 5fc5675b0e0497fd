"""The collectives that the calibration finds in optimized HLO and in reports, and how it pairs them."""

from collections import Counter

import pytest

from benchmarks.calibration.collectives import CollectiveOperand, of_hlo, of_report
from benchmarks.calibration.device_groups import Groups, groups_of_axes, groups_of_hlo
from benchmarks.calibration.matching import compare
from tests.unit.report.programs import report

pytestmark = pytest.mark.sources

MESH = '<["x"=4, "y"=2]>'
ALONG_X = frozenset({frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7})})
ALONG_Y = frozenset({frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5}), frozenset({6, 7})})
ALL = frozenset({frozenset(range(8))})


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,2,4,6},{1,3,5,7}}, to_apply=%add", ALONG_X),
        ("[2,4]<=[4,2]T(1,0), dimensions={0}", ALONG_X),
        ("[4,2]<=[8], dimensions={0}", ALONG_Y),
        ("mesh['axis_0'=4,'axis_1'=2] {'axis_1'}, to_apply=%add", ALONG_Y),
        ("mesh['axis_0'=2,'axis_1'=4], device_ids=([4,2]T(1,0)) {'axis_1'}", ALONG_X),
        ("mesh['axis_0'=8] {'axis_0':(4)2}", ALONG_Y),
        ("{}", ALL),
    ],
)
def test_groups_of_hlo(text: str, groups: Groups) -> None:
    assert groups_of_hlo(text, 8) == groups


def test_groups_of_axes() -> None:
    assert groups_of_axes('{"x"}', MESH) == ALONG_X
    assert groups_of_axes('{"x", "y"}', MESH) == ALL
    # The minor half of "x": devices 0 and 2 are neighbors along it.
    assert frozenset({0, 2}) in groups_of_axes('{"x":(2)2}', MESH)
    assert groups_of_axes('{"x"}', '<["x"=2], device_ids=[1, 0]>') == frozenset({frozenset({0, 1})})


def test_each_operand_of_a_combined_collective_counts() -> None:
    line = "%r = (f32[8,4]{1,0}, bf16[6]{0}) all-reduce(%a, %b), replica_groups=[4,2]<=[8], to_apply=%add"
    compiled = of_hlo(line, 8)
    assert compiled.operands == [
        CollectiveOperand("all_reduce", ALONG_Y, 32, 32),
        CollectiveOperand("all_reduce", ALONG_Y, 6, 16),
    ]
    assert compiled.combined == 2


def test_operands_of_a_decomposed_all_to_all_count_as_one() -> None:
    line = "%r = (f32[1,4]{1,0}, f32[1,4]{1,0}) all-to-all(%a, %b), replica_groups=[4,2]<=[8]"
    assert of_hlo(line, 8).operands == [CollectiveOperand("all_to_all", ALONG_Y, 8, 32)]


def test_the_elements_of_a_reduce_scatter_are_those_of_its_operand() -> None:
    line = "%r = f32[4,32]{1,0} reduce-scatter(%a), replica_groups={{0,2,4,6},{1,3,5,7}}, dimensions={0}"
    assert of_hlo(line, 8).operands == [CollectiveOperand("reduce_scatter", ALONG_X, 4 * 4 * 32, 32)]


def test_permutes_that_send_nothing_are_left_out() -> None:
    pairs = "source_target_pairs={{0,0},{1,1}}"
    assert of_hlo(f"%r = f32[4]{{0}} collective-permute(%a), {pairs}", 2).operands == []


def test_collectives_of_a_report() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
      %1 = sdy.all_slice [{"y"}, {}] %0 out_sharding=<@mesh, [{"y"}, {}]> : tensor<64x32xf32>
      return %1 : tensor<64x32xf32>
    }
    """
    # The slice sends nothing.
    assert list(of_report(report(program))) == [CollectiveOperand("all_gather", ALONG_X, 64 * 32, 32)]


REDUCED = CollectiveOperand("all_reduce", ALL, 64, 32)


@pytest.mark.parametrize(
    ("xla", "reasons"),
    [
        ([REDUCED], {"same": 1}),
        (
            [
                CollectiveOperand("all_reduce", ALONG_X, 64, 32),
                CollectiveOperand("all_reduce", ALONG_Y, 64, 32),
            ],
            {"axis by axis": 1},
        ),
        ([CollectiveOperand("all_reduce", ALL, 64, 16)], {"other element type": 1}),
        ([CollectiveOperand("reduce_scatter", ALL, 64, 32)], {"reduce-scatter or all-reduce": 1}),
        ([CollectiveOperand("all_reduce", ALONG_X, 64, 32)], {"other axes": 1}),
        ([CollectiveOperand("all_gather", ALL, 64, 32)], {"other kind": 1}),
        ([CollectiveOperand("all_reduce", ALL, 60, 32)], {"other tensor": 1}),
        ([REDUCED, REDUCED], {"same": 1, "repeated": 1}),
        ([], {"only in the report": 1}),
        ([REDUCED, CollectiveOperand("all_gather", ALONG_X, 4, 8)], {"same": 1, "only in XLA": 1}),
    ],
)
def test_reasons_for_differences(xla: list[CollectiveOperand], reasons: dict[str, int]) -> None:
    assert +compare([REDUCED], xla) == Counter(reasons)

"""Which sums are sliced by the index of a device along axes of them."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

import sdyopt
from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.proposals import sure_proposals
from sdyopt.analysis.changes.proposals.sums import sliced_sums
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp

_PROGRAM = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<16x32xf32>, %index: tensor<8xi32>) -> tensor<16x32xf32> {
  %limit = stablehlo.constant dense<4> : tensor<i32>
  %first = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"data", "model"}]>]
      manual_axes={"data", "model"} () {
    %four = stablehlo.constant dense<4> : tensor<ui32>
    %size = stablehlo.constant dense<8> : tensor<i32>
    %id = stablehlo.partition_id : tensor<ui32>
    %position = stablehlo.remainder %id, %four : tensor<ui32>
    %position_i = stablehlo.convert %position : (tensor<ui32>) -> tensor<i32>
    %start = stablehlo.multiply %position_i, %size : tensor<i32>
    %starts = stablehlo.reshape %start : (tensor<i32>) -> tensor<1xi32>
    sdy.return %starts : tensor<1xi32>
  } : () -> tensor<8xi32>
  %explicit = sdy.sharding_constraint %first <@mesh, [{"data", "model"}]> : tensor<8xi32>
  %0:2 = stablehlo.while(%carried = INITIAL, %y = %x) : tensor<8xi32>, tensor<16x32xf32>
  cond {
    %true = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %true : tensor<i1>
  } do {
    %next = stablehlo.add %carried, %carried : tensor<8xi32>
    %1 = sdy.manual_computation(%y, %carried) in_shardings=[<@mesh, [{"data"}, {}]>, <@mesh, [IN]>]
        out_shardings=[<@mesh, [{"data"}, {"model"}]>]
        manual_axes={"data", "model"} (%a: tensor<8x32xf32>, %starts: tensor<LOCALxi32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %carry = stablehlo.slice %starts [0:1] : (tensor<LOCALxi32>) -> tensor<1xi32>
      %start = stablehlo.reshape CARRY : (tensor<1xi32>) -> tensor<i32>
      %2 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<GROUPS> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.REDUCTION %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %3 = stablehlo.dynamic_slice %2, %zero, %start, sizes = [8, 8]
          : (tensor<8x32xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
      sdy.return %3 : tensor<8x8xf32>
    } : (tensor<16x32xf32>, tensor<8xi32>) -> tensor<16x32xf32>
    stablehlo.return NEXT, %1 : tensor<8xi32>, tensor<16x32xf32>
  }
  return %0#1 : tensor<16x32xf32>
}
"""
_PLAIN = {
    "INITIAL": "%explicit",
    "IN": '{"data", "model"}',
    "LOCAL": "1",
    "CARRY": "%starts",
    "GROUPS": "[[0, 1, 2, 3], [4, 5, 6, 7]]",
    "REDUCTION": "add",
    "NEXT": "%carried",
}


def _written(**replaced: str) -> str:
    text = _PROGRAM
    for name, value in (_PLAIN | replaced).items():
        text = text.replace(name, value)
    return text


def _texts(**replaced: str) -> list[str]:
    return _texts_of(_written(**replaced))


def _texts_of(text: str) -> list[str]:
    return [change.words[0] for change in _changes_of(text)]


def _changes_of(text: str) -> list[Change]:
    module = sdyopt.parse(text).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    program = SimpleNamespace(module=module, mesh=SimpleNamespace(mesh=mesh))
    return list(sliced_sums(cast("Any", program)))


def test_every_search_tries_them() -> None:
    module = sdyopt.parse(_written()).ir
    words = [
        change.words[0]
        for change in sure_proposals(Search(Trials(module, completing_pipeline(module))).program)
    ]
    assert any("for the sliced psum" in text for text in words)


def test_a_loop_carries_the_index_of_another_manual_computation() -> None:
    (text,) = _texts()
    assert text.startswith(
        "write jax.lax.psum_scatter(…, 'model', scatter_dimension=1, tiled=True) for the sliced psum at "
    )


@pytest.mark.parametrize(
    "replaced",
    [
        {"INITIAL": "%index"},
        {"NEXT": "%next"},
        {"IN": '{"model", "data"}'},
        {"IN": "{}", "LOCAL": "8", "CARRY": "%carry"},
        {"GROUPS": "[[0, 2, 4, 6], [1, 3, 5, 7]]"},
        {"REDUCTION": "maximum"},
        {"multiply %position_i, %size": "add %position_i, %size"},
        {"remainder %id, %four": "divide %id, %four"},
    ],
    ids=["data", "changed", "permuted", "sliced", "groups", "maximum", "other start", "other axis"],
)
def test_what_is_no_slice_by_the_index_along_an_axis_of_the_sum_is_left(replaced: dict[str, str]) -> None:
    assert not _texts(**replaced)


_IN_LOOP = """
sdy.mesh @mesh = <["model"=4]>
func.func @main(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}, {}]>] out_shardings=[<@mesh, [{}, {"model"}]>]
      manual_axes={"model"} (%a: tensor<8x32xf32>) {
    %size = stablehlo.constant dense<8> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %parts = stablehlo.constant dense<0.0> : tensor<8x8xf32>
    %id = stablehlo.partition_id : tensor<ui32>
    %position = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %start = stablehlo.multiply %position, %size : tensor<i32>
    %1:2 = stablehlo.while(%at = %start, %part = %parts) : tensor<i32>, tensor<8x8xf32>
    cond {
      %true = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %true : tensor<i1>
    } do {
      %2 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8x32xf32>) -> tensor<8x32xf32>
      %3 = stablehlo.dynamic_slice %2, %zero, %at, sizes = [8, 8]
          : (tensor<8x32xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
      %next = stablehlo.add %at, %size : tensor<i32>
      stablehlo.return NEXT, %3 : tensor<i32>, tensor<8x8xf32>
    }
    sdy.return %1#1 : tensor<8x8xf32>
  } : (tensor<8x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}
"""


def test_what_jax_transposes_an_implicit_pvary_to_is_no_statement_to_change() -> None:
    """The sum has the line of what computes the gradient, in the backward pass."""
    text = _IN_LOOP.replace("NEXT", "%at").replace('"stablehlo.all_reduce"(%a)', '"stablehlo.all_reduce"(%b)')
    for name, count in (("psum_invariant", 0), ("psum", 0), ("other", 1)):
        of_sum, of_operand = (
            f'loc("jit(f)/transpose(jvp())/{of}"("f"("model.py":8:8)))' for of in (name, "mul")
        )
        marked = text.replace(
            '      %2 = "stable',
            f'      %b = stablehlo.negate %a : tensor<8x32xf32> {of_operand}\n      %2 = "stable',
        ).replace(
            "(tensor<8x32xf32>) -> tensor<8x32xf32>\n      %3",
            f"(tensor<8x32xf32>) -> tensor<8x32xf32> {of_sum}\n      %3",
        )
        assert len(_texts_of(marked)) == count


_OF_SLICE = """
  %zeros = stablehlo.constant dense<0.0> : tensor<8x32xf32>
  %whole = stablehlo.dynamic_update_slice %zeros, %3, %zero, %at
      : (tensor<8x32xf32>, tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x32xf32> SLICE
  %summed = "stablehlo.all_reduce"(%whole) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x32xf32>) -> tensor<8x32xf32> SUMMED
"""


@pytest.mark.parametrize(("line", "count"), [(9, 2), (8, 2), (7, 1)])
def test_the_gradient_of_the_slice_is_summed_no_more_either(line: int, count: int) -> None:
    """It is at the line of the slice, 9, or of the psum."""
    text = _IN_LOOP.replace("NEXT", "%at").replace(
        "(tensor<8x32xf32>) -> tensor<8x32xf32>\n      %3",
        '(tensor<8x32xf32>) -> tensor<8x32xf32> loc("jit(f)/psum"("f"("model.py":8:8)))\n      %3',
    )
    slice_type = ": (tensor<8x32xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>"
    gradient = _OF_SLICE
    for name, of in (("SLICE", "dynamic_update_slice"), ("SUMMED", "psum_invariant")):
        gradient = gradient.replace(name, f'loc("jit(f)/transpose(jvp())/{of}"("f"("model.py":{line}:8)))')
    of_slice = 'loc("jit(f)/dynamic_slice"("f"("model.py":9:8)))'
    (change,) = _changes_of(text.replace(slice_type, f"{slice_type} {of_slice}{gradient}"))
    assert len(cast("Any", change.rewrite).args[0]) == count


@pytest.mark.parametrize(("carried", "count"), [("%at", 1), ("%next", 0)])
def test_a_loop_keeps_the_index_of_the_device(carried: str, count: int) -> None:
    assert len(_texts_of(_IN_LOOP.replace("NEXT", carried))) == count


def test_a_slice_along_two_axes_is_scattered_along_one_after_the_other() -> None:
    text = _IN_LOOP.replace('["model"=4]', '["data"=2, "model"=2]').replace('{"model"}', '{"data", "model"}')
    (words,) = _texts_of(text.replace("NEXT", "%at"))
    assert words.startswith(
        "write jax.lax.psum_scatter(…, 'data', scatter_dimension=1, tiled=True), then along 'model'"
    )

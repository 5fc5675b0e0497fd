"""What is proposed first for the collective of a place, and what is changed with an input."""

from collections.abc import Iterator
from functools import partial

import pytest

from benchmarks.advice.planted import adviser_on
from sdyopt.analysis.changes import search as module_of_search
from sdyopt.analysis.changes.derived import _mapped
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.effect import is_indexed
from sdyopt.analysis.changes.proposals import ProposedOn, rewrites, sure_proposals
from sdyopt.analysis.changes.proposals.axes import axis_orders
from sdyopt.analysis.changes.proposals.boundary import state
from sdyopt.analysis.changes.proposals.collectives import at_place
from sdyopt.analysis.changes.proposals.constraints import lines
from sdyopt.analysis.changes.proposals.rewrites import donations
from sdyopt.analysis.changes.proposals.roles import outliers
from sdyopt.analysis.changes.proposals.shard_maps import free_axes
from sdyopt.analysis.changes.proposals.sums import scattered_sums
from sdyopt.analysis.changes.same_batch import scattered_in_steps
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.assumed_pipeline import completing_pipeline
from sdyopt.analysis.figures.source_locations import _is_expanded
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import parse_module
from sdyopt.mlir.asm.printer.asm_printer import PrintOptions, print_op
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.mlir.value_names import name_of
from sdyopt.tools.driver.job import interpreter_settings

_LAYERS = """
sdy.mesh @mesh = <["fsdp"=4, "tp"=2]>
func.func @main(
    %x: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>} loc("x"),
    %w: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [UP]>} loc("params['up']"),
    %v: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [DOWN]>} loc("params['down']"))
    -> (tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<64x256xf32>, tensor<256x1024xf32>) -> tensor<64x1024xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"fsdp"}, {"tp"}]> : tensor<64x1024xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<64x1024xf32>, tensor<1024x256xf32>) -> tensor<64x256xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"fsdp"}, {"tp"}]> : tensor<64x256xf32>
  return %3 : tensor<64x256xf32>
}
"""


def parsed(text: str) -> Op:
    module, _ = parse_module(Source("program", text), DialectTable(find_dialect, all_dialects))
    return module


def search_of(text: str) -> Search:
    module = parsed(text)
    return Search(Trials(module, completing_pipeline(module)))


@pytest.mark.parametrize(
    ("up", "down", "spec"),
    [
        # What the product contracts has "tp", as the other dimension of the weight.
        ('{"fsdp"}, {"tp"}', '{"fsdp"}, {"tp"}', "P('tp', 'fsdp')"),
        # What the product gives is needed along "tp", as the dimension that it contracts has it.
        ('{"tp"}, {"fsdp"}', '{"tp"}, {"fsdp"}', "P('fsdp', 'tp')"),
    ],
)
def test_a_weight_as_its_product_needs_it_comes_first(up: str, down: str, spec: str) -> None:
    search = search_of(_LAYERS.replace("UP", up).replace("DOWN", down))
    assert search.trials.outcome is not None
    first = [next(iter(at_place(search.program, place)), None) for place in search.trials.outcome.largest_at]
    assert [spec] in [[edit.jax for edit in change.edits] for change in first if change is not None]


_GATHERED = """
sdy.mesh @mesh = <["fsdp"=4, "tp"=2]>
func.func @main(%w: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {"tp"}]>})
    -> tensor<256x1024xf32> {
  %0 = stablehlo.negate %w : tensor<256x1024xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [AXES]> : tensor<256x1024xf32>
  %2 = stablehlo.negate %1 : tensor<256x1024xf32>
  return %2 : tensor<256x1024xf32>
}
"""


# Of a weight that is sharded in the wrong dimensions, as of another one.
@pytest.mark.parametrize(("axes", "count"), [('{}, {"tp"}', 1), ('{}, {"fsdp"}', 1), ('{"tp"}, {"fsdp"}', 2)])
def test_where_a_weight_is_gathered_is_not_changed_with_it(axes: str, count: int) -> None:
    program = search_of(_GATHERED.replace("AXES", axes)).program
    constraint = next(op for op in program.module.walk() if isinstance(op, ShardingConstraintOp))
    argument = next(op for op in program.module.walk() if op.results).operands[0]
    assert isinstance(argument, BlockArgument)
    change = program.alike(AnnotationEdit(argument, program.mesh.sharding((("tp",), ())), program.mesh.mesh))
    assert len({edit.subject for edit in change.edits} & {argument, constraint.output}) == count


_LOOKED_UP = """
func.func @main(%x: tensor<8x64xf32>, %i: tensor<8x1x1xi32>, %j: tensor<8x1xi32>)
    -> (tensor<8x1xf32>, tensor<8x64xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1],
      operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1],
      index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<8x64xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
  %1 = stablehlo.negate %x : tensor<8x64xf32>
  %2 = "stablehlo.gather"(%1, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 64>}> : (tensor<8x64xf32>, tensor<8x1xi32>) -> tensor<8x64xf32>
  return %0, %2 : tensor<8x1xf32>, tensor<8x64xf32>
}
"""


def test_what_is_looked_up_in_each_batch_is_as_estimated() -> None:
    gathers = [op for op in parsed(_LOOKED_UP).walk() if op.signature.name == "stablehlo.gather"]
    assert [is_indexed(op.results[0]) for op in gathers] == [False, True]


_TIED = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("params['w']"),
    %v: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("params['v']"),
    %m: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("state.mu['w']"))
    -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.add %w, %m : tensor<8x8xf32>
  %1 = stablehlo.add %v, %0 : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}
"""


@pytest.mark.parametrize(("of_parameter", "names"), [(True, {"w", "m"}), (False, {"w", "v", "m"})])
def test_a_parameter_is_changed_with_its_moments_and_no_other(of_parameter: bool, names: set[str]) -> None:
    program = search_of(_TIED).program
    arguments = {"w": 0, "v": 1, "m": 2}
    function = next(op for op in program.module.walk() if isinstance(op, FuncOp))
    edit = AnnotationEdit(
        function.entry.arguments[0], program.mesh.sharding((("y",), ("x",))), program.mesh.mesh
    )
    changed = {edit.subject for edit in program.alike(edit, of_parameter).edits}
    assert {name for name, index in arguments.items() if function.entry.arguments[index] in changed} == names


REPEATED = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>})
    -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>)
      -> tensor<64x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {DIM}]> : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
"""


@pytest.mark.parametrize(("dim", "is_repeated"), [("", True), ('"model"', False)])
def test_a_product_that_devices_repeat_is_sharded_along_the_axis_that_it_lacks(
    dim: str, is_repeated: bool
) -> None:
    with interpreter_settings():
        search = adviser_on(REPEATED.replace("DIM", dim), 1).search
        assert search.can_try
        changes = list(search.for_repeated_product())
        axes = {
            axis.name
            for change in changes
            for edit in change.edits
            for dim in edit.sharding.dims
            for axis in dim.axes
        }
        assert ("model" in axes) == is_repeated


_STEP = """
sdy.mesh @mesh = <["fsdp"=4, "tp"=2]>
func.func @main(%w: tensor<256x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [SPEC]>} loc("params['w']"))
    -> (tensor<256x1024xf32> {jax.result_info = "result['w']", sdy.sharding = #sdy.sharding<@mesh, [SPEC]>}) {
  %0 = stablehlo.tanh %w : tensor<256x1024xf32>
  return %0 : tensor<256x1024xf32>
}
"""


@pytest.mark.parametrize(
    ("spec", "specs"),
    [("{}, {}", {"P(None, 'fsdp')", "P(None, 'tp')", "P('fsdp')", "P('tp')"}), ('{}, {"tp"}', set())],
)
def test_every_search_shards_the_parameter_that_all_devices_have(spec: str, specs: set[str]) -> None:
    changes = list(sure_proposals(search_of(_STEP.replace("SPEC", spec)).program))
    assert {change.edits[0].spec for change in changes if change.edits} == specs
    assert [change.words[0] for change in changes if not change.edits] == [
        "jax.jit(…, donate_argnames=['params'])"
    ]


@pytest.mark.parametrize("memory", [None, 1])
def test_changes_of_what_is_live_at_the_peak_are_for_programs_that_do_not_fit(
    memory: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[ProposedOn] = []

    def at_peak(program: ProposedOn) -> Iterator[Change]:
        asked.append(program)
        return iter(())

    monkeypatch.setattr(module_of_search, "at_peak", at_peak)
    search = search_of(_STEP.replace("SPEC", "{}, {}"))
    search.memory = memory
    assert search.ranked
    assert len(asked) == (memory is not None)


_UPDATED = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %w: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['w']"),
    %m: tensor<8xf32> loc("state.m"), %i: tensor<i32> loc("i"))
    -> (tensor<512x512xf32> {jax.result_info = "result[0]['w']"},
        tensor<8xf32> {jax.result_info = "result[1].m"}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<512x512xf32>
  %0 = stablehlo.negate %w : tensor<512x512xf32>
  %1 = stablehlo.tanh %m : tensor<8xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<8xf32>
}
"""
_RESULT = """jax.result_info = "result[0]['w']\""""
_PUT = """= stablehlo.dynamic_update_slice {}, %zero, %zero
      : (tensor<512x512xf32>, tensor<512x512xf32>, tensor<i32>, tensor<i32>) -> tensor<512x512xf32>"""


@pytest.mark.parametrize(
    ("old", "new", "roots"),
    [
        ("", "", "'params', 'state'"),
        # A mebibyte is worth it.
        ("512x512xf32", "512x511xf32", ""),
        # What is donated already, is beside another argument, or is sharded otherwise is not proposed.
        ('loc("params', 'loc("other', "'other', 'state'"),
        ("}, {}]>}", "}, {}]>, jax.buffer_donor = true}", ""),
        ("}, {}]>}", "}, {}]>, tf.aliasing_output = 0 : i32}", ""),
        ("%m: tensor<8xf32>", "%m: tensor<8xf32> {tf.aliasing_output = 1 : i32}", "'params'"),
        ("%i: tensor<i32>", "%i: tensor<512x512xf32> {tf.aliasing_output = 0 : i32}", ""),
        # One before it that has no name, or is donated already, is no obstacle.
        ("%w: ", "%first: tensor<512x512xf32>, %w: ", "'params', 'state'"),
        (
            "%w: ",
            "%b: tensor<2xf32> {jax.buffer_donor = true} loc(\"b['w']\"), %w: ",
            "'params', 'state'",
        ),
        (_RESULT, f'{_RESULT}, sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>', "'params', 'state'"),
        (_RESULT, f'{_RESULT}, sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{"x"}}]>', ""),
        # Nor is what has another key, or is not computed elementwise.
        ("['w']\"}", "['v']\"}", ""),
        ("= stablehlo.negate %w : tensor<512x512xf32>", _PUT.format("%w, %zeros"), "'params', 'state'"),
        ("= stablehlo.negate %w : tensor<512x512xf32>", _PUT.format("%zeros, %w"), ""),
        (
            "%0 = stablehlo.negate %w : tensor<512x512xf32>",
            "%g = stablehlo.transpose %w, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>\n"
            "  %0 = stablehlo.subtract %w, %g : tensor<512x512xf32>",
            "'params', 'state'",
        ),
        (
            "= stablehlo.negate %w : tensor<512x512xf32>",
            "= stablehlo.transpose %w, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>",
            "",
        ),
    ],
)
def test_arguments_are_donated_to_their_new_values(old: str, new: str, roots: str) -> None:
    assert old in _UPDATED
    program = search_of(_UPDATED.replace(old, new) if old else _UPDATED).program
    words = [change.words for change in donations(program)]
    assert words == ([(f"jax.jit(…, donate_argnames=[{roots}])", "jax.buffer_donor")] if roots else [])


@pytest.mark.parametrize(("result", "is_donated"), [("result[0]", True), ("result[0]['w']", False)])
def test_no_leaf_of_a_tree_is_the_new_value_of_an_argument(result: str, is_donated: bool) -> None:
    text = _UPDATED.replace("params['w']", "cache").replace("result[0]['w']", result)
    text = text.replace("= stablehlo.negate %w : tensor<512x512xf32>", _PUT.format("%w, %zeros"))
    words = [change.words[0] for change in donations(search_of(text).program)]
    assert ["'cache'" in text for text in words] == [True] * is_donated


def test_of_arguments_of_one_name_few_results_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A growth of the square takes 50 s for 2,000. The result of the name itself is looked at first."""
    looked_at: list[Value] = []
    original = rewrites._is_update

    def is_update(value: Value, argument: Value) -> bool:
        looked_at.append(argument)
        return original(value, argument)

    monkeypatch.setattr(rewrites, "_is_update", is_update)
    count, shape = 50, "tensor<512x512xf32>"
    arguments = ", ".join(f"%a{n}: {shape} loc(\"params['w']\")" for n in range(count))
    results = [f"{shape} {{jax.result_info = \"result[0]['layer']['w']\"}}"] * (count - 1)
    results.append(f"{shape} {{jax.result_info = \"result[0]['w']\"}}")
    lines = [f"%r{n} = stablehlo.negate %a{n} : {shape}" for n in range(count)]
    values = ", ".join(f"%r{n}" for n in range(count))
    text = f"""
sdy.mesh @mesh = <["x"=4]>
func.func @main({arguments}) -> ({", ".join(results)}) {{
  {chr(10).join(lines)}
  return {values} : {", ".join([shape] * count)}
}}
"""
    (change,) = donations(search_of(text).program)
    assert change.words[0] == "jax.jit(…, donate_argnames=['params'])"
    assert len(looked_at) < 8 * count
    assert isinstance(change.rewrite, partial) and change.rewrite.args[1] == [*range(7), count - 1]


_MAPPED = """
sdy.mesh @mesh = <["data"=2, "model"=4, "one"=1]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>]
      out_shardings=[<@mesh, [{"data"}, {}]>]
      manual_axes={"data", "model"} (%a: tensor<4x16xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.tanh %a : tensor<4x16xf32>
    sdy.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("m.py":4:1)
  return %0 : tensor<8x16xf32>
}
"""
_SUMMED = """%1 = "stablehlo.all_reduce"(%a) <{
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x16xf32>) -> tensor<4x16xf32>"""


@pytest.mark.parametrize(
    ("old", "new", "axes"),
    [
        ("", "", ["model"]),
        # What is sharded along an axis, is summed along it, or depends on it is not the same along it.
        ('in_shardings=[<@mesh, [{"data"}, {}]>]', 'in_shardings=[<@mesh, [{"data"}, {"model"}]>]', []),
        ('[{"data"}, {}]>]\n', '[{"data"}, {"model"}]>]\n', []),
        ("%1 = stablehlo.tanh %a : tensor<4x16xf32>", _SUMMED, []),
        ("%zero = ", "%id = stablehlo.partition_id : tensor<ui32>\n    %zero = ", []),
        # All axes cannot be left, nor those of one device.
        ('manual_axes={"data", "model"}', 'manual_axes={"data"}', []),
        ('manual_axes={"data", "model"}', 'manual_axes={"data", "one"}', []),
        ('manual_axes={"data", "model"}', 'manual_axes={"data", "model", "one"}', ["model"]),
    ],
)
def test_axes_along_which_a_shard_map_does_the_same_are_left_to_the_compiler(
    old: str, new: str, axes: list[str]
) -> None:
    assert old in _MAPPED
    text = _MAPPED.replace(old, new) if old else _MAPPED
    changes = list(free_axes(search_of(text).program))
    assert [change.words[1] for change in changes] == [
        f'no "{axis}" in manual_axes, and open shardings' for axis in axes
    ]
    for change in changes:
        others = ", ".join(
            f"'{axis}'" for axis in ("data", "one") if f'"{axis}"' in text.split("manual_axes")[1]
        )
        assert change.words[0].startswith(f"write axis_names={{{others}}} in the shard_map at m.py:4")


_SCATTERED = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"data"}, {}]>]
      out_shardings=[<@mesh, [{"data"}, {}]>] manual_axes={"data", "model"} (%a: tensor<4x16xf32>) {
    %1 = "stablehlo.all_reduce"(%a) <{
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %s = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    sdy.return %1 : tensor<4x16xf32>
  } : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
"""
_CONSTRAINED = "%3 = sdy.sharding_constraint %0 <@mesh, [DIMS]> : tensor<8x16xf32>\n  %2 ="


@pytest.mark.parametrize(
    ("old", "new", "dims"),
    [
        ("", "", [1]),
        ('[{"data"}, {"model"}]> : tensor', '[{"model"}, {}]> : tensor', [0]),
        # What devices do not use a part of along the axis, or use twice, is no part.
        ('[{"data"}, {"model"}]> : tensor', '[{}, {"data"}]> : tensor', []),
        ('[{"data"}, {"model"}]> : tensor', '[{"data"}, {"model":(1)2}]> : tensor', []),
        ("%2 =", _CONSTRAINED.replace("DIMS", '{}, {"model"}'), [1]),
        ("%2 =", _CONSTRAINED.replace("DIMS", '{"model"}, {}'), []),
        ("%2 =", "%3 = stablehlo.negate %0 : tensor<8x16xf32>\n  %2 =", []),
        ("sdy.return %1", "%4 = stablehlo.negate %1 : tensor<4x16xf32>\n    sdy.return %1", []),
        ("sdy.return %1", "sdy.return %a", []),
        # Each device has another part of fifteen.
        ("x16xf32", "x15xf32", []),
    ],
)
def test_sums_of_which_devices_use_parts_are_scattered(old: str, new: str, dims: list[int]) -> None:
    assert old in _SCATTERED
    text = _SCATTERED.replace(old, new) if old else _SCATTERED
    call = "jax.lax.psum_scatter(…, 'model', scatter_dimension={}, tiled=True)"
    expected = [f"write {call.format(dim)} in place of the psum at program:6" for dim in dims]
    assert [change.words[0] for change in scattered_sums(search_of(text).program)] == expected


OUTLIER = """
sdy.mesh @mesh = <["data"=2, "model"=2]>
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"model"}]> : tensor<64x64xf32>
  %2 = stablehlo.tanh %1 : tensor<64x64xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{FIRST}, {"model"}]> : tensor<64x64xf32>
  %4 = stablehlo.tanh %3 : tensor<64x64xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{"data"}, {}]> : tensor<64x64xf32>
  %6 = stablehlo.tanh %5 : tensor<64x64xf32>
  %7 = sdy.sharding_constraint %6 <@mesh, [{"data"}, {}]> : tensor<64x64xf32>
  return %7 : tensor<64x64xf32>
}
"""


@pytest.mark.parametrize(("first", "specs"), [("", ["P('data', 'model')"]), ('"data"', [])])
def test_the_constraint_that_lacks_an_axis_that_all_others_have_gets_it(first: str, specs: list[str]) -> None:
    with interpreter_settings():
        changes = outliers(search_of(OUTLIER.replace("FIRST", first)).program)
        assert [[edit.jax for edit in change.edits] for change in changes] == [[spec] for spec in specs]


_ON_ONE_LINE = """
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<64x64xf32>, %y: tensor<6x64xf32>) -> (tensor<64x64xf32>, tensor<6x64xf32>) {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {"data"}]> : tensor<64x64xf32> loc("m.py":5:1)
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = sdy.sharding_constraint %y <@mesh, [{}, {"data"}]> : tensor<6x64xf32> loc("m.py":5:1)
  %3 = stablehlo.tanh %2 : tensor<6x64xf32>
  return %1, %3 : tensor<64x64xf32>, tensor<6x64xf32>
}
"""


def test_what_one_line_writes_fits_all_its_values() -> None:
    with interpreter_settings():
        changes = list(lines(search_of(_ON_ONE_LINE).program))
        specs = {edit.jax for change in changes for edit in change.edits}
        assert all(len(change.edits) == 2 for change in changes)
        # Six rows are not four times as many.
        assert "P('data')" in specs
        assert "P('model')" not in specs


_ORDERED = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}) {
  %0 = stablehlo.negate %a : tensor<64x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x", "y"}, {}]> : tensor<64x64xf32>
  %2 = stablehlo.negate %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
"""


def test_an_order_of_axes_is_written_everywhere() -> None:
    with interpreter_settings():
        search = search_of(_ORDERED)
        texts = set()
        for change in axis_orders(search.program):
            text = print_op(search.trials._changed((change,), {}), PrintOptions())
            texts.add((text.count('{"x", "y"}'), text.count('{"y", "x"}')))
        assert texts == {(3, 0), (0, 3)}


def made_of_argument(made: str, type: str, then: str = "") -> Op:
    """The last operation of a program that makes a value of %a."""
    types = f"(tensor<8x4xf32>) -> tensor<{type}xf32>"
    text = f"""
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x4xf32>) {{
      %0 = {made} : {types if "negate" not in made else "tensor<8x4xf32>"}
      {then}
      return
    }}
    """
    return [op for op in parsed(text).walk() if op.results][-1]


@pytest.mark.parametrize(
    ("made", "type", "dims"),
    [
        ("stablehlo.transpose %a, dims = [1, 0]", "4x8", (1, 0)),
        ("stablehlo.reshape %a", "1x8x4", (None, 0, 1)),
        ("stablehlo.broadcast_in_dim %a, dims = [1, 2]", "1x8x4", (None, 0, 1)),
        ("stablehlo.slice %a [0:2, 0:4]", "2x4", (0, 1)),
        # Which part of a dimension is whose, and what has one of its own, is not known.
        ("stablehlo.reshape %a", "4x2x4", None),
        ("stablehlo.reshape %a", "32", None),
        ("stablehlo.broadcast_in_dim %a, dims = [1, 2]", "3x8x4", None),
    ],
)
def test_operations_keep_dimensions_of_a_weight(made: str, type: str, dims: tuple[int | None, ...]) -> None:
    op = made_of_argument(made, type)
    assert _mapped(op, op.operands[0], (0, 1), op.results[0]) == dims


@pytest.mark.parametrize(
    ("made", "type", "name", "is_expanded"),
    [
        ("stablehlo.broadcast_in_dim %a, dims = [1, 2]", "1x8x4", "jit(f)/broadcast_in_dim", True),
        ("stablehlo.broadcast_in_dim %a, dims = [1, 2]", "3x8x4", "jit(f)/broadcast_in_dim", False),
        ("stablehlo.reshape %a", "1x8x4", "jit(f)/broadcast_in_dim", True),
        ("stablehlo.reshape %a", "1x8x4", "jit(f)/reshape", False),
        ("stablehlo.negate %a", "8x4", "jit(f)/neg", False),
    ],
)
def test_what_only_gets_dimensions_of_size_1_is_expanded(
    made: str, type: str, name: str, is_expanded: bool
) -> None:
    dims = ", ".join(["{}"] * len(type.split("x")))
    then = f'%1 = sdy.sharding_constraint %0 <@mesh, [{dims}]> : tensor<{type}xf32> loc("{name}")'
    assert _is_expanded(made_of_argument(made, type, then)) == is_expanded


_STATE = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>} loc("state[0]['w']"),
    %v: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} loc("state[0]['v']"),
    %m: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} loc("state[1]['w']"),
    %n: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>} loc("state[1]['v']"))
    -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  %0 = stablehlo.add %w, %m : tensor<64x32xf32>
  %1 = stablehlo.add %v, %n : tensor<64x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x32xf32>
  return %0, %2 : tensor<64x32xf32>, tensor<64x32xf32>
}
"""


def test_what_belongs_to_a_parameter_of_a_tuple_has_another_number() -> None:
    with interpreter_settings():
        (change,) = state(search_of(_STATE).program)
        edits = {
            name_of(edit.named): edit.jax for edit in change.edits if isinstance(edit.named, BlockArgument)
        }
        assert edits == {"state[1]['w']": "P('x', 'y')"}


_STEPS = """
func.func @main(%g: tensor<8xbf16>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %zero, %sum = %none) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = "stablehlo.reduce_scatter"(%g) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %4 = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %4 : tensor<bf16>
    }) : (tensor<8xbf16>) -> tensor<4xbf16>
    %2 = stablehlo.convert %1 : (tensor<4xbf16>) -> tensor<4xf32>
    %3 = stablehlo.add ADDED, %2 : tensor<4xf32>
    stablehlo.return %i, %3 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
"""


@pytest.mark.parametrize(("added", "count"), [("%sum", 1), ("%none", 0)])
def test_a_sum_over_devices_that_a_loop_adds_up_is_found(added: str, count: int) -> None:
    assert len(list(scattered_in_steps(parsed(_STEPS.replace("ADDED", added))))) == count


_WITH_LITERAL = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %0 = stablehlo.negate %a : tensor<64x64xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
"""


def test_a_change_that_constrains_a_literal_is_none() -> None:
    program = search_of(_WITH_LITERAL).program
    zero, value, _ = (op.results[0] for op in program.module.walk() if op.results)
    assert isinstance(zero, OpResult) and isinstance(value, OpResult)
    sharding = TensorSharding(SymbolRef("mesh"), (DimensionSharding((AxisRef("x"),)), DimensionSharding()))
    on_zero, on_value = (AnnotationEdit(subject, sharding, program.mesh.mesh) for subject in (zero, value))
    assert [edit.subject for edit in program.change([on_value]).edits] == [value]
    assert program.change([on_zero]) == program.change([on_value, on_zero]) == Change()

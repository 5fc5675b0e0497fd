"""What JAX derives, with explicit axes, from a statement or a weight that is sharded otherwise."""

import pytest

import sdyopt
from sdyopt.analysis.changes.derived import DerivedConstraints, _is_summed
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, annotation_of
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult
from tests.unit.sharding.notation import read_rule, read_sharding

# The constraints of a weight's cast, and of its transposed gradient, follow from the weight; that of what the
# weight is added to does not.
OF_WEIGHT = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%w: tensor<8x4xf32>, %y: tensor<3x8x4xf32>, %g: tensor<4x8xf32>)
    -> (tensor<8x4xf32>, tensor<3x8x4xf32>) {
  %0 = stablehlo.negate %w : tensor<8x4xf32> loc(#first)
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8x4xf32> loc(#first)
  %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<8x4xf32>) -> tensor<3x8x4xf32> loc(#first)
  %3 = stablehlo.add %2, %y : tensor<3x8x4xf32> loc(#second)
  %4 = sdy.sharding_constraint %3 <@mesh, [{"x"}, {}, {}]> : tensor<3x8x4xf32> loc(#second)
  %5 = sdy.sharding_constraint %g <@mesh, [{}, {}]> : tensor<4x8xf32> loc(#second)
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(#second)
  %7 = stablehlo.subtract %w, %6 : tensor<8x4xf32> loc(#second)
  return %7, %4 : tensor<8x4xf32>, tensor<3x8x4xf32>
}
#first = loc("jit(step)/convert_element_type"("layer"("model.py":6:5)))
#second = loc("jit(step)/add"("layer"("model.py":7:5)))
"""


def test_constraints_of_all_of_a_weight_follow_from_it() -> None:
    module = sdyopt.parse(OF_WEIGHT).ir
    cast_, _, gradient = (op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp))
    weight = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[0]
    assert isinstance(weight, BlockArgument)
    assert DerivedConstraints(module).whole([weight]) == {cast_, gradient}


# Of each expert: h = reshard(t) @ reshard(u), y = reshard((2 * h) ** 3 @ reshard(v)); gradients of t and y.
EXPERTS = """
sdy.mesh @mesh = <["d"=2, "e"=2]>
func.func @main(%t: tensor<4x6x8xf32>, %u: tensor<4x8x2xf32>, %v: tensor<4x2x8xf32>)
    -> (tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) {
  %0 = sdy.sharding_constraint %t <@mesh, [{"e"}, {}, {}]> : tensor<4x6x8xf32> loc(#tokens)
  %1 = sdy.sharding_constraint %u <@mesh, [{"e"}, {}, {}]> : tensor<4x8x2xf32> loc(#up)
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<4x6x8xf32>, tensor<4x8x2xf32>) -> tensor<4x6x2xf32> loc(#first)
  %3 = sdy.sharding_constraint %2 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x2xf32> loc(#first)
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %4 = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<4x6x2xf32> loc(#double)
  %5 = sdy.sharding_constraint %4 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x2xf32> loc(#double)
  %6 = stablehlo.multiply %5, %3 : tensor<4x6x2xf32> loc(#double)
  %7 = sdy.sharding_constraint %6 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x2xf32> loc(#double)
  %8 = stablehlo.multiply %7, %7 : tensor<4x6x2xf32> loc(#power)
  %9 = stablehlo.multiply %8, %7 : tensor<4x6x2xf32> loc(#power)
  %10 = sdy.sharding_constraint %9 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x2xf32> loc(#power)
  %11 = sdy.sharding_constraint %v <@mesh, [{"e"}, {}, {}]> : tensor<4x2x8xf32> loc(#down)
  %12 = stablehlo.dot_general %10, %11, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<4x6x2xf32>, tensor<4x2x8xf32>) -> tensor<4x6x8xf32> loc(#second)
  %13 = sdy.sharding_constraint %12 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x8xf32> loc(#second)
  %14 = sdy.sharding_constraint %13 <@mesh, [{"e"}, {"d"}, {}]> : tensor<4x6x8xf32> loc(#last)
  %15 = stablehlo.negate %t : tensor<4x6x8xf32> loc(#backOfFirst)
  %16 = sdy.sharding_constraint %15 <@mesh, [{"e"}, {}, {}]> : tensor<4x6x8xf32> loc(#backOfFirst)
  %17 = sdy.sharding_constraint %t <@mesh, [{"e"}, {}, {}]> : tensor<4x6x8xf32> loc(#backOfLast)
  return %14, %16, %17 : tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>
}
#tokens = loc("jit(step)/jvp()/reshard"("layer"("model.py":1:5)))
#up = loc("jit(step)/jvp()/reshard"("layer"("model.py":2:5)))
#first = loc("jit(step)/jvp()/dot_general"("layer"("model.py":3:5)))
#double = loc("jit(step)/jvp()/mul"("layer"("model.py":4:5)))
#power = loc("jit(step)/jvp()/integer_pow"("layer"("model.py":5:5)))
#down = loc("jit(step)/jvp()/reshard"("layer"("model.py":6:5)))
#second = loc("jit(step)/jvp()/dot_general"("layer"("model.py":7:5)))
#last = loc("jit(step)/jvp()/reshard"("layer"("model.py":8:5)))
#backOfFirst = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":3:5)))
#backOfLast = loc("jit(step)/transpose(jvp())/reshard"("layer"("model.py":8:5)))
"""
# The constraints of it, in its order.
_NAMES = ("tokens", "up", "first", "two", "double", "power", "down", "second", "last", "of first", "of last")


def _edits(module: Op, **specs: str) -> tuple[dict[str, OpResult], list[AnnotationEdit]]:
    """The constraints of the program, and the edits of some of them to specs such as `e,d,`."""
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    values = [op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp)]
    of_name = dict(zip(_NAMES, values, strict=True))
    edits = []
    for name, spec in specs.items():
        value = of_name[name]
        assert isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp)
        edits.append(AnnotationEdit(value, value.op.sharding.with_dims(_dims(spec)), mesh))
    return of_name, edits


def _following(**specs: str) -> dict[str, str] | None:
    """What follows from statements with such specs."""
    module = sdyopt.parse(EXPERTS).ir
    of_name, edits = _edits(module, **specs)
    found = DerivedConstraints(module).following(edits)
    if found is None:
        return None
    texts = {edit.subject: _text(edit.sharding) for edit in found}
    return {name: texts[value] for name, value in of_name.items() if value in texts}


def test_what_is_computed_from_a_reshard_follows_up_to_the_next_one() -> None:
    """With literals, the steps of a power, and gradients; as JAX 0.12 types it."""
    names = ("first", "two", "double", "power", "second", "of first", "of last")
    assert _following(tokens="e,d,") == dict.fromkeys(names, "e,d,")
    # An axis of what a product contracts goes no further, and that of columns does up to the next product.
    assert _following(tokens="e,,d") == {"of first": "e,,d"}
    assert _following(up="e,,d") == dict.fromkeys(("first", "two", "double", "power"), "e,,d")
    # Where both operands have an axis, an out_sharding says what the result has.
    assert _following(tokens="e,,d", up="e,d,") == {"of first": "e,,d"}


# A product of an argument and a weight, with a bias that is broadcast, in a loop over two layers.
OF_LAYERS = """
sdy.mesh @mesh = <["d"=2, "m"=2]>
func.func @main(%w: tensor<2x8x8xf32>, %b: tensor<8xf32>, %x: tensor<4x8xf32> {sdy.sharding =
    #sdy.sharding<@mesh, [{"d"}, {}]>}) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:3 = stablehlo.while(%v = %w, %i = %zero, %c = %x) : tensor<2x8x8xf32>, tensor<i32>, tensor<4x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %v, %i, %zero, %zero, sizes = [1, 8, 8]
        : (tensor<2x8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32> loc(#loop)
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}, {}]> : tensor<1x8x8xf32> loc(#loop)
    %3 = stablehlo.reshape %2 : (tensor<1x8x8xf32>) -> tensor<8x8xf32> loc(#loop)
    %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}]> : tensor<8x8xf32> loc(#loop)
    %5 = stablehlo.dot_general %c, %4, contracting_dims = [1] x [0]
        : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32> loc(#product)
    %6 = sdy.sharding_constraint %5 <@mesh, [{"d"}, {}]> : tensor<4x8xf32> loc(#product)
    %7 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32> loc(#sum)
    %8 = sdy.sharding_constraint %7 <@mesh, [{"d"}, {}]> : tensor<4x8xf32> loc(#sum)
    %9 = stablehlo.add %6, %8 : tensor<4x8xf32> loc(#sum)
    %10 = sdy.sharding_constraint %9 <@mesh, [{"d"}, {}]> : tensor<4x8xf32> loc(#sum)
    LAST
    %i1 = stablehlo.add %i, %i : tensor<i32>
    stablehlo.return %v, %i1, LEFT : tensor<2x8x8xf32>, tensor<i32>, tensor<4x8xf32>
  }
  return %0#2 : tensor<4x8xf32>
}
#loop = loc("jit(step)/while/body/squeeze"("layers"("model.py":3:5)))
#product = loc("jit(step)/while/body/dot_general"("layer"("model.py":1:5)))
#sum = loc("jit(step)/while/body/add"("layer"("model.py":2:5)))
#last = loc("jit(step)/while/body/reshard"("layer"("model.py":4:5)))
"""
_RESHARD = '%11 = sdy.sharding_constraint %10 <@mesh, [{"d"}, {}]> : tensor<4x8xf32> loc(#last)'


@pytest.mark.parametrize(
    ("spec", "is_resharded", "expected"),
    [
        ((None, None, "m"), True, [",,m", ",m", "d,m", "d,m", "d,m"]),
        ((None, "m", None), True, [",m,", "m,"]),
        ((None, "m", None), False, [",m,", "m,"]),
        # The loop would carry on what it does not begin with.
        ((None, None, "m"), False, None),
        # The rows and the columns of the product would have one axis.
        ((None, None, "d"), True, None),
        # A loop takes one layer after the other.
        (("m", None, None), True, None),
    ],
)
def test_what_is_computed_from_a_weight_follows(
    spec: tuple[str | None, ...], is_resharded: bool, expected: list[str] | None
) -> None:
    """As JAX 0.12 types it."""
    text = OF_LAYERS.replace("LAST", _RESHARD if is_resharded else "")
    module = sdyopt.parse(text.replace("LEFT", "%11" if is_resharded else "%10")).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    weight = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[0]
    assert isinstance(weight, BlockArgument)
    dims = tuple(DimensionSharding((AxisRef(name),) if name else ()) for name in spec)
    replicated = read_sharding("[{}, {}, {}]")
    assert replicated is not None
    edits = [AnnotationEdit(weight, replicated.with_dims(dims), mesh)]
    following = DerivedConstraints(module).following(edits)
    if following is None:
        assert expected is None
        return
    assert [
        ",".join(" ".join(axis.name for axis in dim.axes) for dim in edit.sharding.dims) for edit in following
    ] == expected


def test_from_a_new_constraint_nothing_follows() -> None:
    module = sdyopt.parse(EXPERTS).ir
    _, (edit,) = _edits(module, tokens="e,d,")
    product = next(op.results[0] for op in module.walk() if isinstance(op, DotGeneralOp))
    assert isinstance(product, OpResult)
    assert DerivedConstraints(module).following([edit._replace(subject=product)]) == []


@pytest.mark.parametrize(
    ("line_of_product", "title", "text"),
    [
        (3, "", "{}; where out_sharding is written, too: P('e', 'd') at model.py:3 and 7"),
        (3, "do so", "do so: {}; where out_sharding is written, too: P('e', 'd') at model.py:3 and 7"),
        # On the line of a statement, it is one: that line is edited anyway.
        (
            1,
            "do so",
            "do so: {}, out_sharding=P('e', 'd') in the dot_general at model.py:1; where out_sharding is "
            "written, too: P('e', 'd') at model.py:7",
        ),
    ],
)
def test_what_may_be_written_is_told_apart_from_the_statement(
    line_of_product: int, title: str, text: str
) -> None:
    module = sdyopt.parse(EXPERTS.replace('"model.py":3:5', f'"model.py":{line_of_product}:40')).ir
    _, edits = _edits(module, tokens="e,d,")
    following = DerivedConstraints(module).following(edits)
    assert following is not None
    assert ChangeNames(module).text(Change((*edits, *following), title)) == text.format(
        "write P('e', 'd') in the reshard at model.py:1"
    )


@pytest.mark.parametrize(
    "specs",
    [
        # The rows and the columns of the second product would have one axis.
        {"tokens": "e,d,", "down": "e,,d"},
        # Operands have other axes where they are one dimension.
        {"tokens": ",,"},
        {"tokens": "e d,,"},
    ],
)
def test_what_jax_rejects_is_no_change(specs: dict[str, str]) -> None:
    assert _following(**specs) is None


# A reshard of one operand of a product; the other has no sharding, so that its columns have no axes either.
OF_ONE_OPERAND = """
sdy.mesh @mesh = <["d"=2]>
func.func @main(%t: tensor<4x8xf32>, %u: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = sdy.sharding_constraint %t <@mesh, [{}, {}]> : tensor<4x8xf32> loc(#tokens)
  %1 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc(#product)
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<4x2xf32> loc(#product)
  %3 = stablehlo.negate %2 : tensor<4x2xf32> loc(#negative)
  %4 = sdy.sharding_constraint %3 <@mesh, [{}, {}]> : tensor<4x2xf32> loc(#negative)
  return %4 : tensor<4x2xf32>
}
#negative = loc("jit(step)/neg"("layer"("model.py":3:5)))
#tokens = loc("jit(step)/reshard"("layer"("model.py":1:5)))
#product = loc("jit(step)/dot_general"("layer"("model.py":2:5)))
"""


def test_what_follows_keeps_the_dimensions_that_no_operand_says() -> None:
    module = sdyopt.parse(OF_ONE_OPERAND).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    statement, *following = (op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp))
    assert isinstance(statement, OpResult) and isinstance(statement.op, ShardingConstraintOp)
    none = DimensionSharding(())
    written = statement.op.sharding.with_dims((DimensionSharding((AxisRef("d"),)), none))
    found = DerivedConstraints(module).following([AnnotationEdit(statement, written, mesh)])
    assert found is not None
    assert [(edit.subject, edit.sharding.dims) for edit in found] == [
        (each, written.dims) for each in following
    ]


@pytest.mark.parametrize(
    ("rule", "lhs", "rhs", "is_summed"),
    [
        ("([i, k],[k, j])->([i, j]) {i=4, j=4, k=4}", '[{}, {"x"}]', '[{"x"}, {}]', True),
        ("([i, k],[k, j])->([i, j]) {i=4, j=4, k=4}", '[{}, {"x"}]', "[{}, {}]", False),
        # What nothing says may be sharded or not.
        ("([i, k],[k, j])->([i, j]) {i=4, j=4, k=4}", '[{}, {"x"}]', None, False),
        ("([i, k],[k, j])->([i, j]) {i=4, j=4, k=4}", '[{"x"}, {}]', '[{}, {"y"}]', False),
        # A batch is contracted by no product.
        ("([i, k],[i, j])->([i, j, k]) {i=4, j=4, k=4}", '[{"x"}, {}]', '[{"x"}, {}]', False),
    ],
)
def test_a_product_is_summed_if_both_operands_are_sharded_where_it_contracts_them(
    rule: str, lhs: str, rhs: str | None, is_summed: bool
) -> None:
    operands = [None if text is None else read_sharding(text) for text in (lhs, rhs)]
    assert _is_summed(read_rule(rule), operands) == is_summed


# What is computed of a reshard: an outer product of a product, its square in two steps, a clamp, and calls.
OF_RESHARD = """
sdy.mesh @mesh = <["d"=2, "e"=2]>
func.func @main(%t: tensor<4x8xf32>, %u: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"e"}]>},
    %v: tensor<8xf32>, %y: tensor<4x2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"e"}, {}]>})
    -> (tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<4x2x8xf32>) {
  %0 = sdy.sharding_constraint %t <@mesh, [{}, {}]> : tensor<4x8xf32> loc(#tokens)
  %1 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc(#product)
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"e"}]> : tensor<4x2xf32> loc(#product)
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [] x []
      : (tensor<4x2xf32>, tensor<8xf32>) -> tensor<4x2x8xf32> loc(#outer)
  %4 = sdy.sharding_constraint %3 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#outer)
  %5 = stablehlo.multiply %4, %4 : tensor<4x2x8xf32> loc(#power)
  %6 = stablehlo.multiply %5, %5 : tensor<4x2x8xf32> loc(#power)
  %7 = sdy.sharding_constraint %6 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#power)
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %8 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4x2x8xf32> loc(#clamp)
  %9 = sdy.sharding_constraint %8 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#clamp)
  %10 = stablehlo.clamp %y, %4, %9 : tensor<4x2x8xf32> loc(#clamp)
  %11 = sdy.sharding_constraint %10 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#clamp)
  %12 = sdy.sharding_constraint %y <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#other)
  %13 = stablehlo.add %4, %12 : tensor<4x2x8xf32> loc(#sum)
  %14 = sdy.sharding_constraint %13 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#sum)
  %15 = sdy.sharding_constraint %14 <@mesh, [{}, {"e"}, {}]> : tensor<4x2x8xf32> loc(#jit)
  %16 = sdy.sharding_constraint %14 <@mesh, [{"e"}, {}, {}]> : tensor<4x2x8xf32> loc(#other)
  %17 = stablehlo.reshape %4 : (tensor<4x2x8xf32>) -> tensor<8x8xf32> loc(#reshape)
  %18 = sdy.sharding_constraint %17 <@mesh, [{}, {}]> : tensor<8x8xf32> loc(#reshape)
  %19 = stablehlo.negate %4 : tensor<4x2x8xf32> loc(#again)
  %20 = sdy.sharding_constraint %19 <@mesh, [{}, {}, {}]> : tensor<4x2x8xf32> loc(#again)
  %21:2 = stablehlo.custom_call @f(%4, %16, %20) : (tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>)
      -> (tensor<4x2x8xf32>, tensor<f32>) loc(#call)
  %22 = stablehlo.custom_call @g(%4) : (tensor<4x2x8xf32>) -> tensor<4x2x8xf32> loc(#call)
  return %7, %11, %15, %18, %22
      : tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<4x2x8xf32>, tensor<8x8xf32>, tensor<4x2x8xf32>
}
#tokens = loc("jit(step)/reshard"("layer"("model.py":1:5)))
#product = loc("jit(step)/dot_general"("layer"("model.py":2:5)))
#outer = loc("jit(step)/dot_general"("layer"("model.py":3:5)))
#power = loc("jit(step)/integer_pow"("layer"("model.py":4:5)))
#clamp = loc("jit(step)/clamp"("layer"("model.py":5:5)))
#other = loc("jit(step)/reshard"("layer"("model.py":6:5)))
#sum = loc("jit(step)/add"("layer"("model.py":7:5)))
#jit = loc("jit(step)/jit"("layer"("model.py":8:5)))
#reshape = loc("jit(step)/reshape"("layer"("model.py":9:5)))
#again = loc("jit(step)/transpose(jvp())/rematted_computation/neg"("layer"("model.py":10:5)))
#call = loc("jit(step)/ffi_call"("layer"("model.py":11:5)))
"""


def _text(sharding: TensorSharding) -> str:
    return ",".join(" ".join(axis.name for axis in dim.axes) for dim in sharding.dims)


# The results of constraints after the reshard, in their order.
_OF_RESHARD = (
    *("product", "outer", "power", "literal", "clamp", "other", "sum", "of jit", "reshard", "reshape"),
    "again",
)


def _following_rows(of_factor: str) -> dict[str, str]:
    """What follows if the rows are sharded along "d", and the factor as a spec such as `,e`."""
    module = sdyopt.parse(OF_RESHARD).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    factor = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[1]
    tokens, *following = (op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp))
    assert isinstance(tokens, OpResult) and isinstance(factor, BlockArgument)
    edits = [
        AnnotationEdit(subject, TensorSharding(SymbolRef("mesh"), _dims(spec)), mesh)
        for subject, spec in ((tokens, "d,"), (factor, of_factor))
    ]
    found = DerivedConstraints(module).following(edits)
    assert found is not None
    texts = {edit.subject: _text(edit.sharding) for edit in found}
    names = dict(zip(_OF_RESHARD, following, strict=True))
    return {name: texts[value] for name, value in names.items() if value in texts}


def _dims(spec: str) -> tuple[DimensionSharding, ...]:
    return tuple(DimensionSharding(tuple(map(AxisRef, names.split()))) for names in spec.split(","))


def test_what_follows_keeps_the_axes_of_other_operands() -> None:
    """Through steps without constraints of their own, and beside inputs, statements and literals.

    Not what another statement, a reshape or a checkpoint says otherwise.
    """
    names = ("outer", "power", "literal", "clamp", "sum", "of jit")
    assert _following_rows(",e") == {"product": "d,e", **dict.fromkeys(names, "d,e,")}
    # Without an axis of the other factor, it has the ones of what it is combined with.
    alone = dict.fromkeys(("outer", "power", "literal"), "d,,")
    assert _following_rows(",") == {"product": "d,", **alone, **dict.fromkeys(names[3:], "d,e,")}


def _following_weight(text: str, spec: str) -> list[str] | None:
    """What follows from an argument of a program, sharded by a spec such as `y,`."""
    module = sdyopt.parse(text).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    weight = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[0]
    assert isinstance(weight, BlockArgument)
    edit = AnnotationEdit(weight, TensorSharding(SymbolRef("mesh"), _dims(spec)), mesh)
    derived = DerivedConstraints(module)
    assert derived.following([edit._replace(is_removal=True)]) == []
    found = derived.following([edit])
    return None if found is None else [_text(follower.sharding) for follower in found]


def test_what_follows_from_a_weight_has_its_axes_in_the_dimensions_of_the_weight() -> None:
    """The gradient is transposed, and a sum with something larger does not follow."""
    program = OF_WEIGHT.replace('["x"=2]', '["x"=2, "y"=2]')
    assert _following_weight(program, "y,") == ["y,", ",y"]
    # One with one more dimension, of size 1, keeps its own axes there.
    larger = program.replace("3x8x4", "1x8x4")
    assert _following_weight(larger, "y,") == ["y,", "x,y,", ",y"]
    module = sdyopt.parse(larger).ir
    weight = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[0]
    assert isinstance(weight, BlockArgument)
    assert {value.type for value in DerivedConstraints(module).whole([weight])} == {
        RankedTensor((8, 4), F32),
        RankedTensor((4, 8), F32),
    }
    # A sum along a dimension of the weight has the axes of the other one, as JAX 0.12 types it.
    summed = program.replace(
        "  return",
        """  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> loc(#sum)
  %9 = sdy.sharding_constraint %8 <@mesh, [{}]> : tensor<8xf32> loc(#sum)
  return""",
    )
    summed += '#sum = loc("jit(step)/reduce_sum"("layer"("model.py":8:5)))\n'
    assert _following_weight(summed, "y,") == ["y,", ",y", "y"]


# What JAX lowers `jnp.where(mask, row, cache)` to, with the sharding of the cache.
BESIDE = """
#reshard = loc("jit(f)/reshard"("f"("model.py":1:5)))
#spread = loc("jit(f)/broadcast_in_dim"(callsite("f"("model.py":2:5) at "f"("model.py":2:5))))
#select = loc("jit(f)/select_n"("f"("model.py":2:5)))
sdy.mesh @mesh = <["d"=2, "m"=2]>
func.func @main(%cache: tensor<4x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {"m"}, {}]>},
    %mask: tensor<1x6x1xi1>, %given: tensor<4x1x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {}]>})
    -> tensor<4x6x8xf32> {
  %0 = sdy.sharding_constraint %mask <@mesh, [{}, {"m"}, {}]> : tensor<1x6x1xi1> loc(#reshard)
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<1x6x1xi1>) -> tensor<4x6x8xi1> loc(#spread)
  %2 = sdy.sharding_constraint %1 <@mesh, [{"d"}, {"m"}, {}]> : tensor<4x6x8xi1> loc(#spread)
  %row = sdy.sharding_constraint %given <@mesh, [{"d"}, {}, {}]> : tensor<4x1x8xf32> loc(#reshard)
  %3 = stablehlo.broadcast_in_dim %row, dims = [0, 1, 2]
      : (tensor<4x1x8xf32>) -> tensor<4x6x8xf32> loc(#spread)
  %4 = sdy.sharding_constraint %3 <@mesh, [{"d"}, {"m"}, {}]> : tensor<4x6x8xf32> loc(#spread)
  %5 = stablehlo.select %2, %4, %cache : tensor<4x6x8xi1>, tensor<4x6x8xf32> loc(#select)
  %6 = sdy.sharding_constraint %5 <@mesh, [{"d"}, {"m"}, {}]> : tensor<4x6x8xf32> loc(#select)
  return %6 : tensor<4x6x8xf32>
}
"""


def _following_cache(program: str, spec: str) -> Change | None:
    module = sdyopt.parse(program).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    cache = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments[0]
    assert isinstance(cache, BlockArgument)
    before = annotation_of(cache)
    assert before is not None
    edit = AnnotationEdit(cache, before.with_dims(_dims(spec)), mesh)
    following = DerivedConstraints(module).following([edit])
    return None if following is None else Change((edit, *following))


@pytest.mark.parametrize(
    ("spec", "statements", "turns_off"),
    [
        # The mask has no dimension for the axis then.
        ("d,,m", [",,", "d,,m"], False),
        ("d m,,", [",,", "d m,,"], False),
        ("m,d,", [",d,", "m,,"], False),
        # It is the cache that is not sharded.
        ("d,,", [",,"], True),
    ],
)
def test_statements_that_are_broadcast_for_an_argument_follow_it(
    spec: str, statements: list[str], turns_off: bool
) -> None:
    change = _following_cache(BESIDE, spec)
    assert change is not None
    following = [_text(edit.sharding) for edit in change.edits[1:]]
    assert sorted(following) == sorted([*statements, spec, spec, spec])
    assert change.turns_sharding_off == turns_off


def test_an_argument_that_is_broadcast_for_another_does_not_follow_it() -> None:
    """JAX rejects the program: what is broadcast lacks an axis that the cache has in this dimension."""
    program = BESIDE.replace(
        "  %row = sdy.sharding_constraint %given", "  %other = sdy.sharding_constraint %given"
    )
    program = program.replace("broadcast_in_dim %row", "broadcast_in_dim %given")
    assert _following_cache(program, "d,,m") is None
    assert _following_cache(program, "d,,") is not None

"""What is said of changes, in words of JAX and of Shardy."""

import pytest

import sdyopt
from sdyopt.analysis.changes.edits import AnnotationEdit, Change, joined
from sdyopt.analysis.changes.names import ChangeNames
from sdyopt.analysis.changes.originals import Gradients
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.elementwise import SineOp, TanhOp
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult

# Two layers, in each of which a tanh and a sine have a gradient, but the sine of the second layer.
LAYERS = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x8xf32> loc("params['a']"), %b: tensor<8x8xf32> loc("params['b']"),
    %c: tensor<8x8xf32> loc("params['c']"), %d: tensor<8x8xf32> loc("params['d']"),
    %s: tensor<8x8xf32> loc("s"))
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %t1 = stablehlo.tanh %a : tensor<8x8xf32> loc(#tanh)
  %s1 = stablehlo.sine %t1 : tensor<8x8xf32> loc(#sine)
  %t2 = stablehlo.tanh %s1 : tensor<8x8xf32> loc(#tanh)
  %s2 = stablehlo.sine %t2 : tensor<8x8xf32> loc(#sine)
  %r = stablehlo.negate %s2 : tensor<8x8xf32> loc(#last)
  %g1 = stablehlo.negate %s : tensor<8x8xf32> loc(#backOfLast)
  %g2 = stablehlo.multiply %g1, %c : tensor<8x8xf32> loc(#backOfSine)
  %g3 = stablehlo.multiply %g2, %d : tensor<8x8xf32> loc(#backOfTanh)
  return %r, %g1, %g2, %g3, %s2
      : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
#tanh = loc("jit(step)/jvp()/tanh"("layer"("model.py":6:5)))
#sine = loc("jit(step)/jvp()/sin"("layer"("model.py":7:5)))
#last = loc("jit(step)/jvp()/neg"("loss"("model.py":9:5)))
#backOfLast = loc("jit(step)/transpose(jvp())/neg"("loss"("model.py":9:5)))
#backOfSine = loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":7:5)))
#backOfTanh = loc("jit(step)/transpose(jvp())/mul"("layer"("model.py":6:5)))
"""


def _sharded(module: Op, subject: OpResult | BlockArgument, dim: int = 0) -> AnnotationEdit:
    """The edit that shards a dimension of a matrix."""
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    dims = [DimensionSharding(), DimensionSharding()]
    dims[dim] = DimensionSharding((AxisRef("x"),))
    return AnnotationEdit(subject, TensorSharding(SymbolRef("mesh"), tuple(dims)), mesh)


def _results(module: Op, kind: type[Op]) -> list[OpResult]:
    results = [op.results[0] for op in module.walk() if isinstance(op, kind)]
    return [result for result in results if isinstance(result, OpResult)]


@pytest.mark.parametrize(
    ("tanh", "sine", "expected"),
    [
        (1, 0, "the tanh at model.py:6, P('x')), which constrains its gradient, too"),
        (2, 0, "the tanh at model.py:6, P('x')), which constrains its gradient, too"),
        (0, 2, "the sine at model.py:7, P('x')), which constrains its gradient, too"),
        # Of two statements, both gradients are listed.
        (
            *(1, 1),
            "the tanh at model.py:6, P('x')), and the sine at model.py:7, the multiply in the backward pass "
            "of model.py:7 and 1 more likewise",
        ),
    ],
)
def test_a_new_constraint_is_one_of_all_layers_and_of_the_gradient(
    tanh: int, sine: int, expected: str
) -> None:
    module = sdyopt.parse(LAYERS).ir
    names = ChangeNames(module)
    edits = [
        _sharded(module, value)
        for value in (*_results(module, TanhOp)[:tanh], *_results(module, SineOp)[:sine])
    ]
    change = Change(Gradients(module).constrained(edits))
    assert names.text(change) == f"jax.lax.with_sharding_constraint({expected}"
    assert len(change.edits) > len(edits)
    # Without a backward pass, there is no gradient.
    inference = sdyopt.parse(LAYERS.replace("transpose(jvp())", "jvp()")).ir
    layers = tuple(_sharded(inference, value) for value in _results(inference, TanhOp))
    expected = "jax.lax.with_sharding_constraint(the tanh at model.py:6, P('x'))"
    assert ChangeNames(inference).text(Change(layers)) == expected


@pytest.mark.parametrize(
    ("dims", "text", "more"),
    [
        # The dimensions of the first arguments that are sharded.
        ([0], "shard the input params['a'] as P('x')", ""),
        ([0, 0], "shard the input params['a'] as P('x'), and params['b'] likewise", "; 1 more"),
        (
            [0, 0, 0],
            "shard the input params['a'] as P('x'), and params['b'], params['c'] likewise",
            "; 2 more",
        ),
        (
            [0, 0, 0, 0],
            "shard the input params['a'] as P('x'), and params['b'], params['c'] and 1 more likewise",
            "; 3 more",
        ),
        ([0, 1], "shard the input params['a'] as P('x'); P(None, 'x') for params['b']", "; 1 more"),
        (
            [0, 1, 1, 0],
            "shard the input params['a'] as P('x'), and params['d'] likewise; P(None, 'x') for params['b'] "
            "and 1 more",
            "; 3 more",
        ),
    ],
)
def test_two_inputs_that_are_sharded_alike_are_named(dims: list[int], text: str, more: str) -> None:
    module = sdyopt.parse(LAYERS).ir
    arguments = next(op for op in module.walk() if isinstance(op, FuncOp)).entry.arguments
    edits = [
        _sharded(module, argument, dim)
        for argument, dim in zip(arguments, dims, strict=False)
        if isinstance(argument, BlockArgument)
    ]
    names, change = ChangeNames(module), Change(tuple(edits))
    assert (names.text(change), names.now(change)) == (text, "without an annotation")
    assert names.sdy_text(change) == f'[{{"x"}}, {{}}] on %arg0{more}'
    # Several changes are said one after the other.
    first = arguments[0]
    assert isinstance(first, BlockArgument)
    both = joined([change, Change((_sharded(module, first, 1),))])
    assert names.text(both) == f"{text}; shard the input params['a'] as P(None, 'x')"
    assert names.now(both) == ""


@pytest.mark.parametrize(
    ("now", "new", "is_removal", "frees"),
    [
        ("{}", DimensionSharding((AxisRef("x"),)), False, False),
        ("{}", DimensionSharding((), is_closed=False), False, True),
        ("{?}", DimensionSharding((), is_closed=False), False, False),
        ("{}", DimensionSharding(()), True, True),
        ("{?}", DimensionSharding((AxisRef("x"),)), True, True),
    ],
)
def test_what_removes_or_opens_a_constraint_frees_its_value(
    now: str, new: DimensionSharding, is_removal: bool, frees: bool
) -> None:
    module = sdyopt.parse(f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
      %0 = sdy.sharding_constraint %a <@mesh, [{now}]> : tensor<8xf32>
      return %0 : tensor<8xf32>
    }}
    """).ir
    mesh = next(op.mesh for op in module.walk() if isinstance(op, MeshOp))
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    (constrained,) = (op.results[0] for op in module.walk() if isinstance(op, ShardingConstraintOp))
    argument = function.entry.arguments[0]
    assert isinstance(constrained, OpResult) and isinstance(argument, BlockArgument)
    edit = AnnotationEdit(constrained, TensorSharding(SymbolRef("mesh"), (new,)), mesh, is_removal=is_removal)
    assert edit.frees == frees
    # An annotation of an input constrains nothing else.
    assert edit._replace(subject=argument).frees == is_removal

"""Where an axis in a result may come from, operation by operation."""

import sdyopt
from sdyopt.analysis.explain.arrival_text import _before_derived, _dimensions_before
from sdyopt.analysis.sharding_record.arrivals import AnnotationKind, UserAnnotation
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp

LOOP = """
func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<i1>) -> tensor<4x8xf32> {
  %r:3 = stablehlo.while(%x = %a, %y = %b, %z = %c) : tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>
  cond {
    stablehlo.return %z : tensor<i1>
  } do {
    %n = stablehlo.negate %y : tensor<4x8xf32>
    stablehlo.return %y, %n, %z : tensor<4x8xf32>, tensor<4x8xf32>, tensor<i1>
  }
  return %r#0 : tensor<4x8xf32>
}
"""


def test_what_a_loop_carries_comes_from_its_operand_and_its_body() -> None:
    module = sdyopt.parse(LOOP).ir
    loop = next(op for op in module.walk() if isinstance(op, WhileOp))
    returned = loop.body.blocks[0].terminator
    assert returned is not None
    for index, result in enumerate(loop.results):
        expected = [(loop.operands[index], 1), (returned.operands[index], 1)]
        assert list(_dimensions_before(result, 1)) == expected


# Each run adds, first, what a reshard replicates. The sum has the axes of the one before the loop, or of %k.
EXPLICIT = """
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"z"}]>},
    %k: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}, {}]>}, %c: tensor<i1>)
    -> tensor<4x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}, {"x"}]> : tensor<4x8xf32> loc(#reshard)
  %1 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<4x8xf32> loc(#reshard)
  %r:3 = stablehlo.while(%b = %c, %h = %0, %i = %k) : tensor<i1>, tensor<4x8xf32>, tensor<4x8xf32>
  cond {
    stablehlo.return %b : tensor<i1>
  } do {
    %m = stablehlo.add %1, %i : tensor<4x8xf32> loc(#add)
    %n = stablehlo.add %m, %h : tensor<4x8xf32> loc(#add)
    %d = sdy.sharding_constraint %n <@mesh, [{"z"}, {"x"}]> : tensor<4x8xf32> loc(#add)
    stablehlo.return %b, %d, %i : tensor<i1>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}
#reshard = loc("jit(step)/reshard"("step"("model.py":1:5)))
#add = loc("jit(step)/while/body/add"("step"("model.py":3:5)))
"""


def test_what_is_derived_in_a_loop_is_written_before_it() -> None:
    module = sdyopt.parse(EXPLICIT).ir
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    written, _, derived = (op for op in module.walk() if isinstance(op, ShardingConstraintOp))
    assert _before_derived(derived, AxisRef("x")) == UserAnnotation(AnnotationKind.CONSTRAINT, written, 0)
    # Of the input that has it in this dimension.
    assert _before_derived(derived, AxisRef("z")) == UserAnnotation(AnnotationKind.INPUT, function, 1)
    assert _before_derived(derived, AxisRef("y")) is None

"""Where an axis in a result may come from, operation by operation."""

import sdyopt
from sdyopt.analysis.explain.arrival_text import _dimensions_before
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

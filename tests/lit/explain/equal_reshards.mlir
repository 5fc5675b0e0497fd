// The reshards of two operands are one if the operands are one, after a barrier: that of the operand that the plan moves.
// RUN: sdy-opt %s --explain='#0' | filecheck %s

// CHECK: resharded: P() → P('x')
// CHECK: stablehlo.maximum: operand 1 (%a) does not fit "x"
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %b = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8x8xf32>
  %c = stablehlo.maximum %b, %a : tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

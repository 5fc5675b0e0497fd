// RUN: split-file %s %t
// The shardings of a manual computation are annotations, too: those of its operands are values of their own.
// RUN: sdy-opt %t/new.mlir -sdy-propagation-pipeline --compare-with=%t/old.mlir | filecheck %s

// CHECK:      1 annotation changed in the input
// CHECK-NEXT:   change  count  where       what                value
// CHECK-NEXT:    -64 B      1  new.mlir:3  manual_computation  %arg0 into a manual computation
// CHECK-NEXT:         f32[8,8]: P('x') → P('x', 'y')
// CHECK-EMPTY:
// CHECK-NEXT: shardings: 3 of 5 values changed
// CHECK-NEXT:   change  count  where       what      value
// CHECK-NEXT:    -64 B      1  new.mlir:2  argument  %arg0
// CHECK-NEXT:         f32[8,8]: P('x') → P('x', 'y')
// CHECK-NEXT:    -64 B      1  new.mlir:4  tanh      %1
// CHECK-NEXT:         f32[4,8]: none → P(None, 'y')

//--- old.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// REQUIRES: processes
// RUN: sdy-opt %s --reduce='grep -q "dot_general.*\[1\] x \[0\]" %%s && grep -q "arg[0-9]: tensor.*{.y.}" %%s' 2> %t | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file %t

// What is left is a program that the verifier accepts, with a product and an argument that is sharded along "y".
// CHECK:      module {
// CHECK-NEXT:   sdy.mesh @mesh = <["y"=1]>
// CHECK-NEXT:   func.func @main(%arg0: tensor<1x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %arg1: tensor<1x1xf32>) {
// CHECK-NEXT:     %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
// CHECK-NEXT:     return
// CHECK-NEXT:   }
// CHECK-NEXT: }
// REMARK: <unknown>:0: remark: reduced from 10 to 3 operations by {{[0-9]+}} tests
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func private @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8x16xf32> {jax.name = "x", sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<8x32xf32> {jax.result = "y"}, tensor<8x16xf32>) {
  %0 = stablehlo.sine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<8x16xf32>
  %1 = stablehlo.add %0, %x : tensor<8x16xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x", ?}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg: tensor<4x32xf32>) {
    %5 = stablehlo.tanh %arg : tensor<4x32xf32>
    %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x4xf32>
    sdy.return %5 : tensor<4x32xf32>
  } : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %4 = stablehlo.negate %3 : tensor<8x32xf32>
  return %4, %1 : tensor<8x32xf32>, tensor<8x16xf32>
}

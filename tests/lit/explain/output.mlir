// Names of the program that is printed, after the word `output`.
// RUN: sdy-opt %s -sdy-partition-pipeline --explain='output %%0' --explain='output %%1' | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// The answer says what the value is in the input.
// CHECK: output %0 is %sum: f32[4,8] is sharded P('x')
// CHECK-NEXT: ├─ in sdy: tensor<4x8xf32> [{"x", ?}, {?}]; ? is open: no annotation keeps further axes out
// CHECK-NEXT: ├─ "x" shards dimension 0
// CHECK-NEXT: │  ├─ from %a (dimension 0), forward along stablehlo.add

// A value that explicit reshards have inserted is a collective: the answer is that about the collective.
// CHECK: output %1 is #0 all_gather along {"x"} of %b: a device sends 128 B
// CHECK-NEXT: ├─ stablehlo.dot: operand 1 (%b) does not fit "x" on dimension 0 of operand 0
// CHECK: └─ see --explain='@main %b' for the sharding of what it moves
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %b: tensor<8x8xf32>)
    -> tensor<8x8xf32> {
  %sum = stablehlo.add %a, %b : tensor<8x8xf32>
  %product = stablehlo.dot %sum, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %product : tensor<8x8xf32>
}

// RUN: sdy-opt %s -sdy-resolve-permutation-factors=reduce-communication=true | filecheck %s

// Gathering the operands of a product along the dimensions that it sums over replaces the all-reduce of its
// result if that communicates at most half. On two devices a gather sends half of each operand, and an
// all-reduce all of the result.

sdy.mesh @mesh = <["x"=2]>

// Half of 64x32 and of 32x64 is 2,048 elements; the result has 4,096.
// CHECK-LABEL: func.func @half(
// CHECK-NEXT:    %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.dot_general %[[A]], %[[B]]
// CHECK-NEXT:    return %[[C]]
func.func @half(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// Two more columns are more than half.
// CHECK-LABEL: func.func @more_than_half(
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1
// CHECK-NEXT:    sdy.all_reduce
func.func @more_than_half(%a: tensor<64x34xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<34x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x34xf32>, tensor<34x64xf32>) -> tensor<64x64xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// Both devices would compute all 4096 x 4096 x 2048 products: more than 500 operations for each byte saved.
// CHECK-LABEL: func.func @too_much_work(
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1
// CHECK-NEXT:    sdy.all_reduce
func.func @too_much_work(%a: tensor<4096x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<2048x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4096x4096xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<4096x2048xf32>, tensor<2048x4096xf32>) -> tensor<4096x4096xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<4096x4096xf32>
  return %1 : tensor<4096x4096xf32>
}

// Operands that are resharded already are gathered from what they were.
// CHECK-LABEL: func.func @resharded(
// CHECK-NEXT:    %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.dot_general %[[A]], %[[B]]
// CHECK-NEXT:    return %[[C]]
func.func @resharded(%a: tensor<64x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<48x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x64xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<64x48xf32>
  %1 = sdy.reshard %b <@mesh, [{"x"}, {}]> : tensor<48x64xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x48xf32>, tensor<48x64xf32>) -> tensor<64x64xf32>
  %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// A second use needs the partial sums.
// CHECK-LABEL: func.func @two_uses(
// CHECK-NEXT:    stablehlo.dot_general %arg0, %arg1
// CHECK-NEXT:    sdy.all_reduce
func.func @two_uses(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<64x64xf32>, tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %1, %0 : tensor<64x64xf32>, tensor<64x64xf32>
}

// An operand that is whole already is not gathered; the program sums its copies.
// CHECK-LABEL: func.func @whole_operand(
// CHECK:         stablehlo.dot_general %arg0
// CHECK:         sdy.all_reduce
func.func @whole_operand(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x64xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

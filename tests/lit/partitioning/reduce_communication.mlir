// RUN: sdy-opt %s -sdy-resolve-permutation-factors=reduce-communication=true | filecheck %s
// RUN: sdy-opt %s -sdy-resolve-permutation-factors | filecheck %s --check-prefix=DEFAULT

sdy.mesh @mesh = <["x"=4, "y"=2]>

// 6 heads on 4 devices are 2+2+2+0: each device gets up to two shards of the next ones, instead of moving the tensor.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     sdy.reshard
// CHECK:         sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}, {}]>]
// CHECK:           "stablehlo.collective_permute"
// CHECK-NOT:     sdy.reshard
// CHECK:         return
// DEFAULT-LABEL: func.func @heads(
// DEFAULT:         sdy.reshard
func.func @heads(%a: tensor<4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x6x4xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<4x24xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x24xf32>) -> tensor<4x6x4xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x"}, {}]> : tensor<4x6x4xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {}]>]>} : tensor<4x6x4xf32>
  return %3 : tensor<4x6x4xf32>
}

// Heads along a part of the axis: 24 elements are gathered in pairs of shards, which have whole heads.
// CHECK-LABEL: func.func @half(
// CHECK-NEXT:    %[[PAIR:.*]] = sdy.reshard %{{.*}} <@mesh, [{}, {"x":(1)2}]>
// CHECK-NEXT:    %[[HEADS:.*]] = stablehlo.reshape %[[PAIR]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x":(1)2}, {}]>]>}
// CHECK-NEXT:    stablehlo.negate %[[HEADS]]
func.func @half(%a: tensor<4x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<4x6x4xf32> {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<4x24xf32>
  %1 = stablehlo.reshape %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}, {}]>]>} : (tensor<4x24xf32>) -> tensor<4x6x4xf32>
  %2 = sdy.reshard %1 <@mesh, [{}, {"x":(1)2}, {}]> : tensor<4x6x4xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x":(1)2}, {}]>]>} : tensor<4x6x4xf32>
  return %3 : tensor<4x6x4xf32>
}

// A slice of a padded tensor is a pad.
// CHECK-LABEL: func.func @padded_slice(
// CHECK-NOT:     tensor<9xf32>
// CHECK:         return
// DEFAULT-LABEL: func.func @padded_slice(
// DEFAULT:         tensor<9xf32>
func.func @padded_slice(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %cst, low = [1], high = [0], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
  %1 = stablehlo.slice %0 [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<9xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The left operand is smaller than the result, and the right one is a slice of a replicated tensor.
// CHECK-LABEL: func.func @few_terms(
// CHECK-NEXT:    %[[A:.*]] = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[B:.*]] = sdy.reshard %arg1 <@mesh, [{}, {}]>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.dot_general %[[A]], %[[B]]
// CHECK-NEXT:    return %[[C]]
// CHECK-LABEL: func.func @many_terms(
// CHECK:         sdy.all_reduce
func.func @few_terms(%a: tensor<8x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<2x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %b <@mesh, [{"y"}, {}]> : tensor<2x8xf32>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x2xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
func.func @many_terms(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %b: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %b <@mesh, [{"y"}, {}]> : tensor<64x8xf32>
  %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.all_reduce {"y"} %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The factorized dimensions must be replicated. Their common axis "x" moves to the batch dimension.
// CHECK-LABEL: func.func @hand_on
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y", "x"}, {}, {}]>
// CHECK-NEXT: %1 = stablehlo.cholesky %0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y", "x"}, {}, {}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"y"}, {"x"}, {}]>
// CHECK-NEXT: return %2
func.func @hand_on(%a: tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) -> (tensor<8x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) {
  %0 = stablehlo.cholesky %a, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}, {}]>]>} : tensor<8x4x4xf32>
  return %0 : tensor<8x4x4xf32>
}

// Without a batch dimension that "x" divides, it is dropped.
// CHECK-LABEL: func.func @nowhere
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"y"}, {}, {}]>
// CHECK-NEXT: %1 = stablehlo.cholesky %0, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}, {}]>]>}
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"y"}, {"x"}, {}]>
// CHECK-NEXT: return %2
func.func @nowhere(%a: tensor<6x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) -> (tensor<6x4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) {
  %0 = stablehlo.cholesky %a, lower = true {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}, {}]>]>} : tensor<6x4x4xf32>
  return %0 : tensor<6x4x4xf32>
}

// The sorted dimension must be replicated.
// CHECK-LABEL: func.func @sort
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {"x"}]>
// CHECK-NEXT: %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK-NEXT: ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
// CHECK-NEXT: %3 = stablehlo.compare LT, %arg1, %arg2
// CHECK-NEXT: stablehlo.return %3
// CHECK-NEXT: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: return %2
func.func @sort(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.compare LT, %b, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The reversed dimension is a permutation factor and may be sharded, so nothing changes.
// CHECK-LABEL: func.func @reverse
// CHECK-NEXT: %0 = stablehlo.reverse %arg0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}
// CHECK-NEXT: return %0
func.func @reverse(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// In a conflict, the tensor whose permutation factor is not sharded wins, although it has fewer shards.
// CHECK-LABEL: func.func @rather_no_moves
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
// CHECK-NEXT: %1 = stablehlo.reverse %0, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
// CHECK-NEXT: return %1
func.func @rather_no_moves(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An operation with a custom rule is not changed.
// CHECK-LABEL: func.func @custom_rule
// CHECK-NEXT: %0 = stablehlo.custom_call @foo(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>}
// CHECK-NEXT: return %0
func.func @custom_rule(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.custom_call @foo(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}, custom>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A rule that is only attached is used. Its factor that only the operand has is a reduction.
// CHECK-LABEL: func.func @written_rule
// CHECK-NEXT: %0 = stablehlo.custom_call @foo(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} reduction={j}>}
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{"y"}]>
// CHECK-NEXT: return %1
func.func @written_rule(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.custom_call @foo(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} reduction={j}>} : (tensor<8x4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The rule of a concatenate depends on its operands: these two differ in nothing else, and only one needs reshards.
// CHECK-LABEL: func.func @rules_of_one_signature
// CHECK:      %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: %3 = sdy.reshard %arg1 <@mesh, [{}]>
// CHECK-NEXT: %4 = sdy.reshard %arg2 <@mesh, [{}]>
// CHECK-NEXT: %5 = stablehlo.concatenate %3, %4, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
func.func @rules_of_one_signature(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<16xf32>, tensor<16xf32>) {
  %0 = stablehlo.slice %a [8:16] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<16xf32>) -> tensor<8xf32>
  %1 = stablehlo.slice %a [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<16xf32>) -> tensor<8xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %3 = stablehlo.concatenate %b, %c, dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %2, %3 : tensor<16xf32>, tensor<16xf32>
}

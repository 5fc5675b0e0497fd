// RUN: sdy-opt %s -sdy-resolve-permutation-factors -verify-diagnostics | filecheck %s

// A sharding rule in the program may declare reduction factors that the operation does not sum along. The
// operation is run on whole operands, so the all-reduce that follows by the rule is removed.

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A sine sums nothing.
// CHECK-LABEL: func.func @sine
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: %1 = stablehlo.sine %0
// CHECK-NEXT: return %1
func.func @sine(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  // expected-warning @+1 {{operands are replicated along the reduction factors {k} of the sharding rule, so no all-reduce of the results follows}}
  %0 = stablehlo.sine %a {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=8, j=4, k=4} reduction={k}>} : tensor<8x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// The sum of partial sums is partial along "y", as its operands are.
// CHECK-LABEL: func.func @partial
// CHECK: %[[SUM:.*]] = stablehlo.add
// CHECK-NEXT: %[[ALL:.*]] = sdy.all_reduce {"y"} %[[SUM]]
// CHECK-NEXT: return %[[ALL]]
func.func @partial(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced={"y"}>}) -> tensor<4xf32> {
  // expected-warning @+1 {{operands are replicated}}
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([j], [j])->([i]) {i=4, j=4} reduction={j}>} : tensor<4xf32>
  %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}]> : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// What a custom call sums is not known.
// CHECK-LABEL: func.func @custom_call
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: %1 = stablehlo.custom_call @sum(%0)
// CHECK-NEXT: return %1
func.func @custom_call(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8xf32> {
  // expected-warning @+1 {{operands are replicated}}
  %0 = stablehlo.custom_call @sum(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i]) {i=8, j=4} reduction={j}>} : (tensor<8x4xf32>) -> tensor<8xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The rule of the operation itself declares what it sums.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: %0 = stablehlo.dot %arg0, %arg1
// CHECK-NEXT: %1 = sdy.all_reduce {"x"} %0
// CHECK-NEXT: return %1
func.func @product(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x6xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding_rule = #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=6, k=4} reduction={k}>} : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// A result that is marked unreduced is whole, too, if all that uses it is the all-reduce.
// CHECK-LABEL: func.func @marked
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: %1 = stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
// CHECK-NEXT: return %1
func.func @marked(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x4xf32> {
  // expected-warning @+1 {{operands are replicated}}
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=8, j=4, k=4} reduction={k}>} : tensor<8x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Another use expects a part from each device: one gets the whole sine, the others zeros.
// CHECK-LABEL: func.func @marked_and_returned
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}, {}]>
// CHECK-NEXT: %1 = stablehlo.sine %0
// CHECK-NEXT: %2 = sdy.replicated_to_unreduced {"x"} %1
// CHECK-NEXT: %3 = sdy.all_reduce {"x"} %2
// CHECK-NEXT: return %2, %3
func.func @marked_and_returned(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}, tensor<8x4xf32>) {
  %0 = stablehlo.sine %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>, sdy.sharding_rule = #sdy.op_sharding_rule<([i, k])->([i, j]) {i=8, j=4, k=4} reduction={k}>} : tensor<8x4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

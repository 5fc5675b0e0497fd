// RUN: sdy-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Initial values of a loop, and values that its body returns, are resharded to the shardings of its results.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %1 = stablehlo.while(%iterArg = %0)
// CHECK-NEXT: cond {
// CHECK-NEXT: %c = stablehlo.constant dense<true>
// CHECK-NEXT: stablehlo.return %c
// CHECK-NEXT: } do {
// CHECK-NEXT: %2 = stablehlo.negate %iterArg {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: %3 = sdy.reshard %2 <@mesh, [{"y"}]>
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{"x"}]>
// CHECK-NEXT: stablehlo.return %4
// CHECK-NEXT: }
// CHECK-NEXT: return %1
func.func @loop(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.while(%b = %a) : tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  cond {
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// So is the value that a branch returns. The reshard is inserted after its definition, outside the branch.
// CHECK-LABEL: func.func @branches
// CHECK-NEXT: %0 = sdy.reshard %arg1 <@mesh, [{"x"}]>
// CHECK-NEXT: %1 = "stablehlo.case"(%arg0) ({
// CHECK-NEXT: stablehlo.return %0
// CHECK-NEXT: }, {
// CHECK-NEXT: stablehlo.return %arg2
// CHECK-NEXT: }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i32>) -> tensor<8xf32>
// CHECK-NEXT: return %1
func.func @branches(%i: tensor<i32>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<8xf32>
  }, {
    stablehlo.return %b : tensor<8xf32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Operands of a manual computation are resharded with manual axes, values that its body returns without.
// CHECK-LABEL: func.func @manual
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>
// CHECK-NEXT: %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
// CHECK-NEXT: %2 = sdy.reshard %arg1 <@mesh, [{"y"}, {}]>
// CHECK-NEXT: %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>}
// CHECK-NEXT: %4 = sdy.reshard %3 <@mesh, [{}, {"y"}]>
// CHECK-NEXT: sdy.return %4
// CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: return %1
func.func @manual(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// An operand of a named computation without input shardings is replicated.
// CHECK-LABEL: func.func @named
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: %1 = sdy.named_computation<"name">(%0) out_shardings=[<@mesh, [{"x"}]>] (%arg1: tensor<8xf32>) {
// CHECK-NEXT: %2 = sdy.reshard %arg1 <@mesh, [{"x"}]>
// CHECK-NEXT: sdy.return %2
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %1
func.func @named(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = sdy.named_computation<"name">(%a) out_shardings=[<@mesh, [{"x"}]>] (%b: tensor<8xf32>) {
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// An operand of a barrier is resharded to the sharding of its result.
// CHECK-LABEL: func.func @barrier
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %1:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]>} %0, %arg1
// CHECK-NEXT: return %1#0, %1#1
func.func @barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}, %b: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0:2 = stablehlo.optimization_barrier {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]>} %a, %b : tensor<8xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
}

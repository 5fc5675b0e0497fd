// RUN: sdy-opt %s -allow-unregistered-dialect -sdy-basic-propagate='debug-sharding-origins=true' | filecheck %s

sdy.mesh @mesh = <["x"=2]>

// The terminator of this function is unregistered. Its operands count as the returned values; there are more of
// them than results.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>
// CHECK-NEXT: "test.end"(%arg0, %arg1)
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<4xf32>) -> tensor<8xf32> {
  "test.end"(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> ()
}

// A function without results has no origins of results.
// CHECK-LABEL: func.func @no_results
// CHECK-SAME: %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, sdy.sharding_origins = {x = "self"}}) {
func.func @no_results(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  "test.end"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> ()
}

// An argument in a region of an unregistered operation stores no sharding, and so no origins either.
// CHECK-LABEL: func.func @unregistered_region
// CHECK: stablehlo.slice %arg1 [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
func.func @unregistered_region(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "test.region"(%a) ({
  ^bb0(%b: tensor<8xf32>):
    %1 = stablehlo.slice %b [0:8] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

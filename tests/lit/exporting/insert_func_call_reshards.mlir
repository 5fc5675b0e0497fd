// RUN: sdy-opt %s -split-input-file -sdy-insert-func-call-reshards | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The call gets what the function gives, and brings it to what it had before.
// CHECK-LABEL: func.func @differs
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    return %1, %1
func.func @differs(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}

// A call without a sharding has its result whole.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
func.func @whole(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Whether a dimension is open makes no difference, but the function's word is taken.
// CHECK-LABEL: func.func @equivalent
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    return %0
func.func @equivalent(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A function that says nothing of its results gives them whole, unless the call says nothing either.
// CHECK-LABEL: func.func @silent
// CHECK-NEXT:    %0 = call @g(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    %2 = call @g(%1) : (tensor<8xf32>) -> tensor<8xf32>
func.func @silent(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @g(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @g(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @g(tensor<8xf32>) -> tensor<8xf32>

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Each result by itself; one of which the function says nothing, while it does of others, is open and not split.
// CHECK-LABEL: func.func @several
// CHECK-NEXT:    %0:3 = call @h(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{?}]>, <@mesh, [{"y"}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0#2 <@mesh, [{"x"}]>
// CHECK-NEXT:    %2 = sdy.reshard %0#1 <@mesh, [{"x"}]>
// CHECK-NEXT:    return %0#0, %2, %1
func.func @several(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0:3 = call @h(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1, %0#2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @h(tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})

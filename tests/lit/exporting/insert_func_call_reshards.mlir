// RUN: sdy-opt %s -split-input-file -sdy-insert-func-call-reshards | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The call gets the result sharding of the callee, and its result is resharded to the old sharding.
// CHECK-LABEL: func.func @differs
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT:    return %1, %1
func.func @differs(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}

// The result of a call without a sharding is replicated.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT:    %0 = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT:    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
func.func @whole(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Open and closed dimensions are equivalent; the call gets those of the callee.
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

// Without result shardings, results are replicated, unless the call has no shardings either.
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

// Results are resharded one by one; a result without a sharding is open if another one has a sharding.
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

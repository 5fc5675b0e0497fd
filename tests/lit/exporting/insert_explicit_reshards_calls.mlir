// RUN: sdy-opt %s -sdy-insert-explicit-reshards | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

func.func private @silent(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// Call operands are resharded to the argument shardings, and replicated for an unsharded argument. Results of
// calls are left to -sdy-insert-func-call-reshards.
// CHECK-LABEL: func.func @caller
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{?}]>
// CHECK-NEXT: %1 = sdy.reshard %arg0 <@mesh, [{"x"}]>
// CHECK-NEXT: %2 = call @callee(%1, %0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: return %2
func.func @caller(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = call @callee(%a, %a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The same for a function none of whose arguments is sharded.
// CHECK-LABEL: func.func @silently
// CHECK-NEXT: %0 = sdy.reshard %arg0 <@mesh, [{}]>
// CHECK-NEXT: %1 = call @silent(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
// CHECK-NEXT: return %1
func.func @silently(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = call @silent(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: sdy-opt %s -sdy-propagate-sharding-from-func-to-call | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @one_device = <[], device_ids=[1]>

func.func private @sharded(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<8xf32>
}

func.func private @partly_sharded(%a: tensor<8x8xf32>, %b: tensor<8xf32>)
    -> (tensor<8x8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a, %b : tensor<8x8xf32>, tensor<8xf32>
}

func.func private @unsharded(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

func.func private @on_one_device(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@one_device, []>}) {
  return %a : tensor<8xf32>
}

func.func private @declared(tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>})

// A call gets the result shardings of the function.
// CHECK-LABEL: func.func @takes_result_shardings
func.func @takes_result_shardings(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @sharded(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
  %0 = call @sharded(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A result without a sharding is open if another result has a sharding.
// CHECK-LABEL: func.func @completes_with_open_shardings
func.func @completes_with_open_shardings(%a: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @partly_sharded{{.*}}<[<@mesh, [{?}, {?}]>, <@mesh, [{"x"}]>]>
  %0:2 = call @partly_sharded(%a, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>)
  return %0#1 : tensor<8xf32>
}

// Argument shardings are ignored.
// CHECK-LABEL: func.func @leaves_arguments_alone
func.func @leaves_arguments_alone(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @unsharded(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %0 = call @unsharded(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Shardings of a call are kept, empty ones included.
// CHECK-LABEL: func.func @keeps_shardings_of_call
func.func @keeps_shardings_of_call(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @sharded(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
  %0 = call @sharded(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A maximal sharding does not count.
// CHECK-LABEL: func.func @does_not_take_devices
func.func @does_not_take_devices(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: call @on_one_device(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %0 = call @on_one_device(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The callee may be a declaration, and the call nested.
// CHECK-LABEL: func.func @inside_computation
func.func @inside_computation(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"inside">(%a) (%b: tensor<8xf32>) {
    // CHECK: func.call @declared({{.*}}) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
    %1 = func.call @declared(%b) : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: sdy-opt %s -split-input-file -sdy-export-named-computations | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The body becomes a function with the input shardings; the call gets the output shardings.
// CHECK-LABEL: func.func @caller
// CHECK-NEXT:    %0 = call @doubled(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    return %0
// CHECK:       func.func private @doubled(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "doubled"} {
// CHECK-NEXT:    %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
// CHECK-NEXT:    return %0 : tensor<8xf32>
func.func @caller(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"doubled">(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>] (%b: tensor<8xf32>) {
    %1 = stablehlo.add %b, %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// The shardings of data-flow edges take precedence. A value whose edge is missing or unsharded is open.
// CHECK-LABEL: func.func @edges
// CHECK-NEXT:    %0:2 = call @swapped(%arg0, %arg1) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>, <@mesh, [{"y"}]>]>}
// CHECK-NEXT:    return %0#0, %0#1
// CHECK:       func.func private @swapped(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})
// CHECK-NEXT:    return %arg1, %arg0
func.func @edges(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = sdy.named_computation<"swapped">(%a, %b) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] (%c: tensor<8xf32>, %d: tensor<8xf32>) {
    %1 = sdy.data_flow_edge %c sharding=<@mesh, [{"x", ?}]> : tensor<8xf32>
    %2 = sdy.data_flow_edge %d : tensor<8xf32>
    sdy.return %2, %1 : tensor<8xf32>, tensor<8xf32>
  } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %3 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"y"}]> : tensor<8xf32>
  return %0#0, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Names are made unique by numbers. Inner computations become functions first.
// CHECK-LABEL: func.func @taken
// CHECK-NEXT:    call @taken_1(
// CHECK-NEXT:    call @free_2(
// CHECK:       func.func private @free(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "free"} {
// CHECK-NEXT:    return %arg0
// CHECK:       func.func private @taken_1(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {sdy.original_func_name = "taken"} {
// CHECK-NEXT:    call @free(%arg0)
// CHECK:       func.func private @free_2({{.*}} {sdy.original_func_name = "free"} {
func.func @taken(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"taken">(%a) (%b: tensor<8xf32>) {
    %1 = sdy.named_computation<"free">(%b) (%c: tensor<8xf32>) {
      sdy.return %c : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.named_computation<"free">(%0) (%c: tensor<8xf32>) {
    sdy.return %c : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func private @taken_0()

// -----

// Other attributes move to the call, the execution thread to the function.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT:    call @on_host() {mhlo.frontend_attributes = {speed = "slow"}} : () -> ()
// CHECK:       func.func private @on_host() attributes {execution_thread = "host", sdy.original_func_name = "on_host"} {
func.func @attributes() {
  sdy.named_computation<"on_host">() () {
    sdy.return
  } {execution_thread = "host", mhlo.frontend_attributes = {speed = "slow"}} : () -> ()
  return
}

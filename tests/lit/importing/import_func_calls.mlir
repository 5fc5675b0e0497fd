// RUN: sdy-opt %s -sdy-import-func-calls -split-input-file | filecheck %s
// RUN: sdy-opt %s -sdy-import-func-calls=add-data-flow-edges-on-named-computations=false -split-input-file | filecheck %s --check-prefix=PLAIN

// The body replaces the call, with data-flow edges on its arguments and results.
// CHECK-LABEL: func.func @one_call
// CHECK-NEXT:    %[[INPUT:.*]] = stablehlo.negate %arg0
// CHECK-NEXT:    %[[NAMED:.*]] = sdy.named_computation<"callee">(%[[INPUT]]) (%[[ARG:.*]]: tensor<8xf32>) {
// CHECK-NEXT:      %[[ARG_EDGE:.*]] = sdy.data_flow_edge %[[ARG]] : tensor<8xf32>
// CHECK-NEXT:      %[[SUM:.*]] = stablehlo.add %[[ARG_EDGE]], %[[ARG_EDGE]]
// CHECK-NEXT:      sdy.return %[[SUM]] : tensor<8xf32>
// CHECK-NEXT:    } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:    %[[EDGE:.*]] = sdy.data_flow_edge %[[NAMED]] : tensor<8xf32>
// CHECK-NEXT:    return %[[EDGE]]
// CHECK-NEXT:  }
// CHECK-NOT:   @callee

// Without edges.
// PLAIN-LABEL: func.func @one_call
// PLAIN:         %[[NAMED:.*]] = sdy.named_computation<"callee">({{.*}}) (%[[ARG:.*]]: tensor<8xf32>) {
// PLAIN-NEXT:      %[[SUM:.*]] = stablehlo.add %[[ARG]], %[[ARG]]
// PLAIN-NEXT:      sdy.return %[[SUM]]
// PLAIN-NEXT:    } : (tensor<8xf32>) -> tensor<8xf32>
// PLAIN-NEXT:    return %[[NAMED]]
func.func @one_call(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = call @callee(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @callee(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Argument shardings become input shardings, with open ones added; the call's shardings become output
// shardings. The result shardings of the function are ignored.
// CHECK-LABEL: func.func @shardings
// CHECK-NEXT:    sdy.named_computation<"callee">(%arg0, %arg1)
// CHECK-SAME:      in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{?}]>]
// CHECK-NEXT:      sdy.data_flow_edge {{.*}} sharding=<@mesh, [{"x"}]> : tensor<8xf32>
// CHECK-NEXT:      sdy.data_flow_edge {{.*}} sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
// CHECK:         }
// CHECK-NEXT:    sdy.data_flow_edge {{.*}} sharding=<@mesh, [{?}]> : tensor<8xf32>
sdy.mesh @mesh = <["x"=2]>
func.func @shardings(%a: tensor<8xf32>, %b: tensor<8x8xf32>) -> tensor<8xf32> {
  %0 = call @callee(%a, %b) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}]>]>}
    : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8x8xf32>)
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<8xf32>
}

// -----

// Attributes of the call are kept, and the execution thread and original name of the function.
// CHECK-LABEL: func.func @attributes
// CHECK-NEXT:    sdy.named_computation<"original">() () {
// CHECK-NEXT:      sdy.return
// CHECK-NEXT:    } {execution_thread = "second", test.mark = "here"} : () -> ()
func.func @attributes() {
  call @copy() {test.mark = "here"} : () -> ()
  return
}
func.func private @copy() attributes {execution_thread = "second", sdy.original_func_name = "original", test.mark = "gone"} {
  return
}

// -----

// Calls in callees are imported too.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    sdy.named_computation<"outer">
// CHECK-NEXT:      sdy.named_computation<"inner">
// CHECK-NEXT:        sdy.return
// CHECK-NEXT:      }
// CHECK-NEXT:      sdy.return
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @nested() {
  call @outer() : () -> ()
  return
}
func.func private @outer() {
  call @inner() : () -> ()
  return
}
func.func private @inner() {
  return
}

// -----

// Existing named computations get edges as well. Tokens get none.
// CHECK-LABEL: func.func @named_before
// CHECK-NEXT:    %[[NAMED:.*]]:2 = sdy.named_computation<"before">(%arg0, %arg1) (%[[ARG:.*]]: tensor<8xf32>, %[[TOKEN:.*]]: !stablehlo.token) {
// CHECK-NEXT:      %[[EDGE:.*]] = sdy.data_flow_edge %[[ARG]] : tensor<8xf32>
// CHECK-NEXT:      sdy.return %[[EDGE]], %[[TOKEN]]
// CHECK:         %[[RESULT_EDGE:.*]] = sdy.data_flow_edge %[[NAMED]]#0
// CHECK-NEXT:    return %[[RESULT_EDGE]], %[[NAMED]]#1
func.func @named_before(%a: tensor<8xf32>, %token: !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token) {
  %0:2 = sdy.named_computation<"before">(%a, %token) (%b: tensor<8xf32>, %t: !stablehlo.token) {
    sdy.return %b, %t : tensor<8xf32>, !stablehlo.token
  } : (tensor<8xf32>, !stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<8xf32>, !stablehlo.token
}

// -----

// The calls of a cycle are replaced, except the one that closes it: both copies of `@first` call `@second`.
// CHECK-LABEL: func.func @calls_cycle
// CHECK:         sdy.named_computation<"first">
// CHECK:           stablehlo.negate
// CHECK-NEXT:      func.call @second
// CHECK-LABEL: func.func private @second
// CHECK-NEXT:    stablehlo.abs
// CHECK-NEXT:    sdy.named_computation<"first">
// CHECK:           stablehlo.negate
// CHECK-NEXT:      func.call @second
// CHECK-NOT:   func.func private @first
func.func @calls_cycle(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @first(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @first(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = call @second(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @second(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.abs %a : tensor<8xf32>
  %1 = call @first(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

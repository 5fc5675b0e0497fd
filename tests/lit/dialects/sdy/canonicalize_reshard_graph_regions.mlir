// RUN: sdy-opt %s -allow-unregistered-dialect -canonicalize | filecheck %s

// In regions of unregistered operations, an operation may use its own result, and the patterns
// must terminate.

sdy.mesh @mesh = <["x"=2]>

// A reshard of itself is not folded; of two reshards in a cycle, one remains.
// CHECK-LABEL: func.func @reshard_of_itself
// CHECK: %[[OWN:.*]] = sdy.reshard %[[OWN]] <@mesh, [{"x"}]>
// CHECK-NEXT: "test.use"(%[[OWN]])
func.func @reshard_of_itself() {
  "test.graph"() ({
    %0 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
    "test.use"(%0) : (tensor<8xf32>) -> ()
    %1 = sdy.reshard %2 <@mesh, [{"x"}]> : tensor<8xf32>
    %2 = sdy.reshard %1 <@mesh, [{}]> : tensor<8xf32>
  }, {}) : () -> ()
  return
}

// A reshard of a reshape of itself, and a reshard of a cycle of reshapes.
// CHECK-LABEL: func.func @reshape_of_itself
// CHECK: "test.use"
func.func @reshape_of_itself() {
  "test.graph"() ({
    %0 = stablehlo.transpose %1, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.transpose %0, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<8xf32>
    %3 = stablehlo.transpose %4, dims = [0] : (tensor<8xf32>) -> tensor<8xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}]> : tensor<8xf32>
    "test.use"(%2, %4) : (tensor<8xf32>, tensor<8xf32>) -> ()
  }, {}) : () -> ()
  return
}

// RUN: sdy-opt %s -canonicalize | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A reshard of a reshard is folded.
// CHECK-LABEL: func.func @twice
func.func @twice(%arg: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[MOVED]]
  %0 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A reshard of a reshard with other uses is not folded.
// CHECK-LABEL: func.func @first_is_used
func.func @first_is_used(%arg: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[FIRST:.*]] = sdy.reshard %arg0
  // CHECK-NEXT: sdy.reshard %[[FIRST]]
  %0 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// An earlier reshard of the same value to the same sharding is reused.
// CHECK-LABEL: func.func @the_same
func.func @the_same(%arg: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: return %[[MOVED]], %[[MOVED]]
  %0 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A reshard before a reshape that does not change the devices' data is reused, too: its result is reshaped.
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%arg: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>) {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %[[MOVED]] : (tensor<8x8xf32>) -> tensor<64xf32>
  // CHECK-NEXT: return %[[MOVED]], %[[FLAT]]
  %0 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = stablehlo.reshape %arg : (tensor<8x8xf32>) -> tensor<64xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<64xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<64xf32>
}

// The earlier reshard may follow the reshape: its result is reshaped back.
// CHECK-LABEL: func.func @reshaped_before
func.func @reshaped_before(%arg: tensor<8x8xf32>) -> (tensor<64xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<8x8xf32>) -> tensor<64xf32>
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %[[FLAT]] <@mesh, [{"x"}]> : tensor<64xf32>
  // CHECK-NEXT: %[[BACK:.*]] = stablehlo.reshape %[[MOVED]] : (tensor<64xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: return %[[MOVED]], %[[BACK]]
  %0 = stablehlo.reshape %arg : (tensor<8x8xf32>) -> tensor<64xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<64xf32>
  %2 = sdy.reshard %arg <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %1, %2 : tensor<64xf32>, tensor<8x8xf32>
}

// A transpose permutes the dimension shardings; the tensor must be square.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%arg: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK-NEXT: %[[MOVED:.*]] = sdy.reshard %arg0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[TURNED:.*]] = stablehlo.transpose %[[MOVED]], dims = [1, 0]
  // CHECK-NEXT: return %[[MOVED]], %[[TURNED]]
  %0 = sdy.reshard %arg <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %1 = stablehlo.transpose %arg, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reshard %1 <@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// No reshard is reused through a reshape that changes the devices' data.
// CHECK-LABEL: func.func @split_otherwise
func.func @split_otherwise(%arg: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<64xf32>) {
  // CHECK: sdy.reshard {{.*}} <@mesh, [{}, {"x"}]>
  // CHECK: sdy.reshard {{.*}} <@mesh, [{"x"}]>
  %0 = sdy.reshard %arg <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %1 = stablehlo.reshape %arg : (tensor<8x8xf32>) -> tensor<64xf32>
  %2 = sdy.reshard %1 <@mesh, [{"x"}]> : tensor<64xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<64xf32>
}

// A later reshard, or a reshard in another block, is not reused.
// CHECK-LABEL: func.func @elsewhere
func.func @elsewhere(%arg: tensor<8xf32>, %index: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: stablehlo.case
  %0 = "stablehlo.case"(%index) ({
    // CHECK: sdy.reshard %arg0
    %2 = sdy.reshard %arg <@mesh, [{"x"}]> : tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }, {
    stablehlo.return %arg : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  // CHECK: sdy.reshard %arg0
  %1 = sdy.reshard %arg <@mesh, [{"x"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

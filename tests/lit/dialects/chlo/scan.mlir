// RUN: sdy-opt %s | filecheck %s

// Body arguments are named inputs and carries.
// CHECK-LABEL: func.func @cumulative_sum
func.func @cumulative_sum(%x: tensor<4x5xf32>, %init: tensor<5xf32>) {
  // CHECK: %{{.*}}:2 = chlo.scan(%arg0) inits (%arg1) dimension=0  {
  // CHECK-NEXT: ^bb0(%input: tensor<5xf32>, %carry: tensor<5xf32>):
  // CHECK: } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  %0:2 = chlo.scan(%x) inits (%init) dimension=0 {
  ^bb0(%slice: tensor<5xf32>, %sum: tensor<5xf32>):
    %1 = stablehlo.add %slice, %sum : tensor<5xf32>
    stablehlo.return %1, %1 : tensor<5xf32>, tensor<5xf32>
  } : (tensor<4x5xf32>, tensor<5xf32>) -> (tensor<4x5xf32>, tensor<5xf32>)
  return
}

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<?x5xf32>) {
  // CHECK: chlo.scan(%arg0, %arg0) inits () dimension=0  attributes {is_associative = true, is_reverse = false, scan_dim_size = 3 : i64} {
  // CHECK-NEXT: ^bb0(%input: tensor<5xf32>, %input_0: tensor<5xf32>):
  %0 = chlo.scan(%x, %x) inits () dimension=0 attributes {scan_dim_size = 3 : i64, is_reverse = false, is_associative = true} {
  ^bb0(%a: tensor<5xf32>, %b: tensor<5xf32>):
    stablehlo.return %b : tensor<5xf32>
  } : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<3x5xf32>
  return
}

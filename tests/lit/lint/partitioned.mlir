// A partitioned program of one device: types are local, so only its collectives are looked at.
// RUN: sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s

func.func @main(%a: tensor<4096x4096xf32>) -> (tensor<16384x4096xf32>, tensor<16384x4096xf32>) {
  %0 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<4096x4096xf32>) -> tensor<16384x4096xf32>
  // CHECK: partitioned.mlir:7:8: warning: all_gather in groups of 4 of f32[4096,4096] runs again on the same value: 192.0 MiB on the wire [repeated-collective]
  %1 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<4096x4096xf32>) -> tensor<16384x4096xf32>
  // CHECK-NOT: warning
  return %0, %1 : tensor<16384x4096xf32>, tensor<16384x4096xf32>
}
// CHECK: 1 finding of

// RUN: sdy-opt %s | filecheck %s

// Attributes of programs from JAX.
// CHECK: module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK: func.func @main(%arg0: tensor<4xf32> {mhlo.memory_kind = "device"}) -> (tensor<4xf32> {mhlo.layout_mode = "default"})
  func.func @main(%x: tensor<4xf32> {mhlo.memory_kind = "device"}) -> (tensor<4xf32> {mhlo.layout_mode = "default"}) {
    // CHECK: stablehlo.add %{{.*}}, %{{.*}} {mhlo.frontend_attributes = {_xla_send = "x"}}
    %0 = stablehlo.add %x, %x {mhlo.frontend_attributes = {_xla_send = "x"}} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

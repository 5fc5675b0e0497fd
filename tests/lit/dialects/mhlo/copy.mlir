// RUN: sdy-opt %s | filecheck %s

// CHECK: %0 = mhlo.copy %arg0 {mhlo.sharding = "{devices=[4]<=[4]}"} : tensor<8xf32>
// CHECK-NEXT: %1 = mhlo.copy %0 {cross_program_prefetch_index = 0 : i32} : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mhlo.copy %arg0 {mhlo.sharding = "{devices=[4]<=[4]}"} : tensor<8xf32>
  %1 = "mhlo.copy"(%0) <{cross_program_prefetch_index = 0 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

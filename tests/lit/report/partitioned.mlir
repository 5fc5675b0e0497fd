// A partitioned program is reported as it is: types are local, whatever the shardings of its functions say.
// RUN: sdy-opt %s -sdy-partition-pipeline --report | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline -o %t.mlir && sdy-opt %t.mlir --report | filecheck %s

// How many devices have the same shard, and how much work they repeat, is not known: no operation has a sharding.
// CHECK: communication: 0 B on the wire per device, 0 collectives
// CHECK: memory per device: peak 4.06 MiB
// CHECK-NEXT: an estimate
// CHECK-NEXT: at the peak: 99% arguments (4.03 MiB)
// CHECK-NEXT: arguments 4.03 MiB, results 32.0 KiB, constants 0 B
// CHECK-NOT: copies
// CHECK: 32.0 KiB  result (%0) {{.*}} f32[8,1024]
// CHECK: compute per device: 16.8 MFLOP in 1 product, useful share unknown: no shardings

sdy.mesh @mesh = <["x"=8]>

func.func @main(%a: tensor<64x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  %0 = stablehlo.dot %a, %w : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}

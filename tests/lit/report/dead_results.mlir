// A result of a function that no call uses is not computed, and takes no memory. Shardy clones calls on constants for
// each use, as JAX has them for masks: of each clone, one result is dead.
// RUN: sdy-opt %s -sdy-propagation-pipeline --report | filecheck %s
// CHECK:      memory per device: peak 6.50 GiB
// CHECK-NEXT:   an estimate
// CHECK-NEXT:   at the peak: 38% intermediate values (2.50 GiB), 31% arguments (2.00 GiB), 31% results (2.00 GiB)
// CHECK-NEXT: arguments 2.00 GiB, results 2.00 GiB, constants 4 B

// With the calls inlined, what they compute is fused.
// RUN: sdy-opt %s -inline -cse -sdy-propagation-pipeline --report | filecheck %s --check-prefix=INLINED
// RUN: sdy-opt %s --report | filecheck %s --check-prefix=INLINED
// INLINED:      memory per device: peak 4.00 GiB
// INLINED:        arguments 2.00 GiB, results 2.00 GiB, constants 4 B

sdy.mesh @mesh = <["data"=64, "model"=4]>

func.func @main(%s: tensor<256x32x4096x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}, {}, {}]>}) -> tensor<256x32x4096x4096xf32> {
  %q = stablehlo.iota dim = 2 : tensor<256x1x4096x4096xi32>
  %k = stablehlo.iota dim = 3 : tensor<256x1x4096x4096xi32>
  %m = stablehlo.compare GE, %q, %k : (tensor<256x1x4096x4096xi32>, tensor<256x1x4096x4096xi32>) -> tensor<256x1x4096x4096xi1>
  %c = stablehlo.constant dense<-1.0e9> : tensor<f32>
  %0:2 = func.call @where(%m, %c) : (tensor<256x1x4096x4096xi1>, tensor<f32>) -> (tensor<256x32x4096x4096xi1>, tensor<256x32x4096x4096xf32>)
  %1 = stablehlo.select %0#0, %s, %0#1 : tensor<256x32x4096x4096xi1>, tensor<256x32x4096x4096xf32>
  return %1 : tensor<256x32x4096x4096xf32>
}

func.func private @where(%a: tensor<256x1x4096x4096xi1>, %b: tensor<f32>) -> (tensor<256x32x4096x4096xi1>, tensor<256x32x4096x4096xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2, 3] : (tensor<256x1x4096x4096xi1>) -> tensor<256x32x4096x4096xi1>
  %1 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<256x32x4096x4096xf32>
  return %0, %1 : tensor<256x32x4096x4096xi1>, tensor<256x32x4096x4096xf32>
}

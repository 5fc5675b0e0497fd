// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s

// A rotation along a sharded dimension.

sdy.mesh @mesh = <["data"=2, "model"=2]>

// Each device gets the first element of the other one. The two slices that the rotation consists of are not
// computed: both ranges of the result are read from the operand.
// CHECK-LABEL: func.func @main(%arg0: tensor<4xf32>{{.*}}) -> (tensor<4xf32>{{.*}})
// CHECK-NEXT: %c = stablehlo.constant dense<7> : tensor<4xi64>
// CHECK-NEXT: %c_0 = stablehlo.constant dense<4> : tensor<i64>
// CHECK-NEXT: %c_1 = stablehlo.constant dense<2> : tensor<i64>
// CHECK-NEXT: %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %0 = stablehlo.slice %arg0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
// CHECK-NEXT: %1 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = {{[0-9]+}}, type = 1>, source_target_pairs = dense<{{\[\[}}0, 2], [1, 3], [2, 0], [3, 1]]> : tensor<4x2xi64>}> : (tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: %2 = stablehlo.slice %arg0 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-NEXT: %3 = stablehlo.concatenate %2, %1, dim = 0 : (tensor<3xf32>, tensor<1xf32>) -> tensor<4xf32>
// CHECK-NEXT: %4 = stablehlo.pad %1, %cst, low = [3], high = [0], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT: %5 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %6 = stablehlo.convert %5 : (tensor<ui32>) -> tensor<i64>
// CHECK-NEXT: %7 = stablehlo.divide %6, %c_1 : tensor<i64>
// CHECK-NEXT: %8 = stablehlo.multiply %7, %c_0 : tensor<i64>
// CHECK-NEXT: %9 = stablehlo.iota dim = 0 : tensor<4xi64>
// CHECK-NEXT: %10 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT: %11 = stablehlo.add %9, %10 : tensor<4xi64>
// CHECK-NEXT: %12 = stablehlo.compare LT, %11, %c : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT: %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<4xi1>) -> tensor<4xi1>
// CHECK-NEXT: %14 = stablehlo.select %13, %3, %4 : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT: return %14 : tensor<4xf32>
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  %0 = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %x [0:1] : (tensor<8xf32>) -> tensor<1xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}


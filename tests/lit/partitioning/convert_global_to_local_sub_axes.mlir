// RUN: sdy-opt %s -sdy-convert-global-to-local=enable-rgv3=false | filecheck %s

// The shard of a device along a sub-axis. "y" has coordinates 0 to 5: the index along the major sub-axis "y":(1)2 is 0
// for coordinates 0, 1 and 2; the index along the minor sub-axis "y":(2)3 is 0, 1, 2, 0, 1, 2. (The passes of jaxlib
// 0.10.2 exchange these indices when they slice; Shardy has corrected this since.)

sdy.mesh @mesh = <["y"=6]>

// CHECK-LABEL: func.func @major(%arg0: tensor<4xf32>) -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 0, 0, 2, 2, 2]> : tensor<6xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<6xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %arg0, %2, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT: return %3 : tensor<2xf32>
func.func @major(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(1)2}]>}) {
  %0 = sdy.all_slice [{"y":(1)2}] %a out_sharding=<@mesh, [{"y":(1)2}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @minor(%arg0: tensor<6xf32>) -> (tensor<2xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 2, 4, 0, 2, 4]> : tensor<6xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<6xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %arg0, %2, sizes = [2] : (tensor<6xf32>, tensor<i32>) -> tensor<2xf32>
// CHECK-NEXT: return %3 : tensor<2xf32>
func.func @minor(%a: tensor<6xf32>) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)3}]>}) {
  %0 = sdy.all_slice [{"y":(2)3}] %a out_sharding=<@mesh, [{"y":(2)3}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// The minor sub-axis is the major-most axis of this dimension, so its index has a stride of two shards.
// CHECK-LABEL: func.func @swapped(%arg0: tensor<6xf32>) -> (tensor<1xf32>{{.*}})
// CHECK-NEXT: %0 = stablehlo.partition_id : tensor<ui32>
// CHECK-NEXT: %c = stablehlo.constant dense<[0, 2, 4, 1, 3, 5]> : tensor<6xi32>
// CHECK-NEXT: %1 = stablehlo.dynamic_slice %c, %0, sizes = [1] : (tensor<6xi32>, tensor<ui32>) -> tensor<1xi32>
// CHECK-NEXT: %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
// CHECK-NEXT: %3 = stablehlo.dynamic_slice %arg0, %2, sizes = [1] : (tensor<6xf32>, tensor<i32>) -> tensor<1xf32>
// CHECK-NEXT: return %3 : tensor<1xf32>
func.func @swapped(%a: tensor<6xf32>) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(2)3, "y":(1)2}]>}) {
  %0 = sdy.all_slice [{"y":(2)3, "y":(1)2}] %a out_sharding=<@mesh, [{"y":(2)3, "y":(1)2}]> : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// RUN: sdy-opt %s -sdy-convert-global-to-local | filecheck %s
// RUN: sdy-opt %s -sdy-convert-global-to-local=update-in-place | filecheck %s --check-prefix=IN-PLACE
// RUN: sdy-opt %s -sdy-convert-global-to-local --sdy-version=jaxlib-0.11.2 | filecheck %s --check-prefix=IN-PLACE

sdy.mesh @mesh = <["x"=2]>

// The device that has the row updates its shard. The others select their old shard. In place, and before
// jaxlib 0.12.0.1, the others write the old row back, which does not copy the shard.
// CHECK-LABEL: func.func @update_row
// CHECK:         stablehlo.clamp {{.*}}, %arg2, {{.*}} : tensor<i32>
// CHECK:         %[[MASK:.*]] = stablehlo.and
// CHECK:         %[[UPDATED:.*]] = stablehlo.dynamic_update_slice %arg0, %arg1
// CHECK-NEXT:    %[[WHOLE_MASK:.*]] = stablehlo.broadcast_in_dim %[[MASK]], dims = [] : (tensor<i1>) -> tensor<4x4xi1>
// CHECK-NEXT:    %[[RESULT:.*]] = stablehlo.select %[[WHOLE_MASK]], %[[UPDATED]], %arg0 : tensor<4x4xi1>, tensor<4x4xf32>
// CHECK-NEXT:    return %[[RESULT]]
// IN-PLACE-LABEL: func.func @update_row
// IN-PLACE:         %[[OLD:.*]] = stablehlo.dynamic_slice %arg0
// IN-PLACE:         %[[UPDATE:.*]] = stablehlo.select {{.*}}, %arg1, %[[OLD]] : tensor<1x4xi1>, tensor<1x4xf32>
// IN-PLACE-NEXT:    %[[RESULT:.*]] = stablehlo.dynamic_update_slice %arg0, %[[UPDATE]]
// IN-PLACE-NEXT:    return %[[RESULT]]
func.func @update_row(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %row: tensor<1x4xf32>, %index: tensor<i32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %a, %row, %index, %c {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

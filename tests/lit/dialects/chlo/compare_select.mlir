// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @choices
func.func @choices(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<f32>) {
  // CHECK: chlo.broadcast_compare %{{.*}}, %{{.*}} {compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %0 = chlo.broadcast_compare %x, %y {
    comparison_direction = #chlo<comparison_direction LT>, compare_type = #chlo<comparison_type TOTALORDER>
  } : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  // CHECK: chlo.broadcast_select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = chlo.broadcast_select %p, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

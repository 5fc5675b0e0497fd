// RUN: sdy-opt %s -mlir-print-debuginfo | filecheck %s

// The operations of the compact form have the location of the reduction, which is by default after
// the operation name, not at it. Location aliases may be defined later.
// CHECK-LABEL: func.func @applies
func.func @applies(%a: tensor<4xf32>, %zero: tensor<f32>) -> tensor<f32> {
  // CHECK: applies stablehlo.add {{.*}} loc([[BEHIND:#loc[0-9]*]])
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: applies stablehlo.add {{.*}} loc([[LATER:#loc[0-9]*]])
  %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc(#later)
  return %0 : tensor<f32>
}
// CHECK-DAG: [[BEHIND]] = loc("{{.*}}":8:24)
// CHECK-DAG: [[LATER]] = loc("later")
#later = loc("later")

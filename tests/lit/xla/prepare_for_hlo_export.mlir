// RUN: sdy-opt %s --pass-pipeline='builtin.module(func.func(stablehlo-ext-prepare-for-hlo-export))' | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:    %0 = stablehlo.broadcast_in_dim %cst, dims = [] {mhlo.sharding = "{replicated}"} : (tensor<f32>) -> tensor<32xf32>
// CHECK-NEXT:    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<31xf32>
// CHECK-NEXT:    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 2] : (tensor<3x2xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT:    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %3 = stablehlo.reduce(%arg1 init: %cst_1) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT:     reducer(%arg2: tensor<f32>, %arg3: tensor<f32>)  {
// CHECK-NEXT:      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:      %4 = stablehlo.maximum %arg2, %cst_2 : tensor<f32>
func.func @main(%a: tensor<2x3xf32>, %b: tensor<8xf32>) -> (tensor<32xf32>, tensor<31xf32>, tensor<3x4x2xf32>, tensor<f32>) {
  %0 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<1.0> : tensor<32xf32>
  %1 = stablehlo.constant dense<2.0> : tensor<31xf32>
  %2 = stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<2x3xf32>) -> tensor<3x4x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%b init: %zero) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
   reducer(%x: tensor<f32>, %y: tensor<f32>) {
    %4 = stablehlo.maximum %x, %zero : tensor<f32>
    %5 = stablehlo.add %4, %y : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }
  return %0, %1, %2, %3 : tensor<32xf32>, tensor<31xf32>, tensor<3x4x2xf32>, tensor<f32>
}

// Each body has its own copy of a constant that both use.
// CHECK-LABEL: func.func @two_bodies
// CHECK:         ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT:      [[FIRST:%[a-z_0-9]+]] = stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:      stablehlo.multiply %arg3, [[FIRST]]
// CHECK:         ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
// CHECK-NEXT:      [[SECOND:%[a-z_0-9]+]] = stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT:      stablehlo.multiply %arg3, [[SECOND]]
func.func @two_bodies(%x: tensor<4x6xf32>, %s: tensor<2x2xf32>, %z: tensor<f32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{
    window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 3>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.multiply %a, %c : tensor<f32>
    %p = stablehlo.compare GE, %m, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.multiply %a, %c : tensor<f32>
    %u = stablehlo.add %t, %b : tensor<f32>
    stablehlo.return %u : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

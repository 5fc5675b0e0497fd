// RUN: sdy-opt %s | filecheck %s

// Integer constants are named %c, all others %cst.
// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.constant dense<1> : tensor<i32>
  // CHECK: %c_0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: %cst = stablehlo.constant dense<1.500000e+00> : tensor<2xf32>
  %2 = stablehlo.constant dense<1.5> : tensor<2xf32>
  // CHECK: %cst_1 = stablehlo.constant {a = 1 : i32} dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
  %3 = stablehlo.constant {a = 1 : i32} dense<(1.0, 2.0)> : tensor<complex<f32>>
  return
}

// The value of a quantized constant has the storage type, so both types are printed.
// CHECK-LABEL: func.func @quantized
func.func @quantized() {
  // CHECK: stablehlo.constant() <{value = dense<3> : tensor<2xi8>}> {a} : () -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>
  %0 = "stablehlo.constant"() <{value = dense<3> : tensor<2xi8>}> {a} : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  // CHECK: stablehlo.constant() <{value = dense<3> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>
  %1 = stablehlo.constant() <{value = dense<3> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>
  return
}

// CHECK-LABEL: func.func @counting
func.func @counting(%s: tensor<1xi32>) {
  // CHECK: stablehlo.iota dim = 1 : tensor<2x4xi32>
  %0 = stablehlo.iota dim = 1 : tensor<2x4xi32>
  // CHECK: stablehlo.dynamic_iota %{{.*}}, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens() {
  // CHECK: stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %{{.*}} : !stablehlo.token
  %1 = stablehlo.after_all %0, %0 : !stablehlo.token
  // CHECK: stablehlo.after_all  : !stablehlo.token
  %2 = stablehlo.after_all : !stablehlo.token
  return
}

// CHECK-LABEL: func.func @devices
func.func @devices() {
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %0 = stablehlo.replica_id : tensor<ui32>
  // CHECK: stablehlo.partition_id : tensor<ui32>
  %1 = stablehlo.partition_id : tensor<ui32>
  return
}

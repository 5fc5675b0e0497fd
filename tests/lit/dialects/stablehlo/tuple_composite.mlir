// RUN: sdy-opt %s | filecheck %s

// CHECK-LABEL: func.func @tuples
func.func @tuples(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<4xf32>, !stablehlo.token>
  %0 = stablehlo.tuple %x, %t : tuple<tensor<4xf32>, !stablehlo.token>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
  return
}

// A composite references its decomposition; version 0 is the default and is not printed.
// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<4xf32>) {
  // CHECK: stablehlo.composite "my.op" %{{.*}} {decomposition = @decomposition} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.composite "my.op" %x {decomposition = @decomposition, version = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.composite "my.op" %{{.*}} {composite_attributes = {n = 1 : i64}, decomposition = @decomposition, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.op" %x {composite_attributes = {n = 1 : i64}, decomposition = @decomposition, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

func.func private @decomposition(tensor<4xf32>) -> tensor<4xf32>

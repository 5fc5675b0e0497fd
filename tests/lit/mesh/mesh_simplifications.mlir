// RUN: sdy-opt %s -test-mesh-simplifications | filecheck %s

mesh.mesh @g(shape = 2x3)
mesh.mesh @some(shape = ?x6x?)

// The sum of two all-reduces is one all-reduce of the sum.
// CHECK-LABEL: func.func @sum
func.func @sum(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %0 = mesh.all_reduce %a on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  %1 = mesh.all_reduce %b on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  // CHECK-NEXT: %[[S:.*]] = arith.addf %arg0, %arg1 : tensor<5xf32>
  // CHECK-NEXT: %[[R:.*]] = mesh.all_reduce %[[S]] on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  %2 = arith.addf %0, %1 : tensor<5xf32>
  // CHECK-NEXT: return %[[R]]
  return %2 : tensor<5xf32>
}

// The same for a chain of maxima.
// CHECK-LABEL: func.func @maximum
func.func @maximum(%a: tensor<5xi32>, %b: tensor<5xi32>, %c: tensor<5xi32>) -> tensor<5xi32> {
  %0 = mesh.all_reduce %a on @g mesh_axes = [1] reduction = <max> : tensor<5xi32> -> tensor<5xi32>
  %1 = mesh.all_reduce %b on @g mesh_axes = [1] reduction = <max> : tensor<5xi32> -> tensor<5xi32>
  %2 = mesh.all_reduce %c on @g mesh_axes = [1] reduction = <max> : tensor<5xi32> -> tensor<5xi32>
  // CHECK-NEXT: %[[M:.*]] = arith.maxsi %arg0, %arg1
  // CHECK-NEXT: %[[N:.*]] = arith.maxsi %[[M]], %arg2
  // CHECK-NEXT: mesh.all_reduce %[[N]]
  // CHECK-NEXT: return
  %3 = arith.maxsi %0, %1 : tensor<5xi32>
  %4 = arith.maxsi %3, %2 : tensor<5xi32>
  return %4 : tensor<5xi32>
}

// Another axis order is another reduction.
// CHECK-LABEL: func.func @other_order
func.func @other_order(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK-COUNT-2: mesh.all_reduce
  // CHECK-NEXT: arith.addf
  %0 = mesh.all_reduce %a on @g mesh_axes = [0, 1] : tensor<5xf32> -> tensor<5xf32>
  %1 = mesh.all_reduce %b on @g mesh_axes = [1, 0] : tensor<5xf32> -> tensor<5xf32>
  %2 = arith.addf %0, %1 : tensor<5xf32>
  return %2 : tensor<5xf32>
}

// An all-reduce with another use is kept.
// CHECK-LABEL: func.func @second_use
func.func @second_use(%a: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK-NEXT: mesh.all_reduce
  // CHECK-NEXT: arith.addf
  %0 = mesh.all_reduce %a on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  %1 = arith.addf %0, %0 : tensor<5xf32>
  return %1 : tensor<5xf32>
}

// A sum does not commute with a product.
// CHECK-LABEL: func.func @other_kind
func.func @other_kind(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK-COUNT-2: mesh.all_reduce
  // CHECK-NEXT: arith.mulf
  %0 = mesh.all_reduce %a on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  %1 = mesh.all_reduce %b on @g mesh_axes = [1] : tensor<5xf32> -> tensor<5xf32>
  %2 = arith.mulf %0, %1 : tensor<5xf32>
  return %2 : tensor<5xf32>
}

// Static sizes are constants; one operation queries the dynamic sizes.
// CHECK-LABEL: func.func @sizes
func.func @sizes() -> (index, index, index) {
  // CHECK-NEXT: %[[SIX:.*]] = arith.constant 6 : index
  // CHECK-NEXT: %[[SIZES:.*]]:2 = mesh.mesh_shape @some axes = [0, 2] : index, index
  // CHECK-NEXT: return %[[SIZES]]#0, %[[SIX]], %[[SIZES]]#1
  %0:3 = mesh.mesh_shape @some : index, index, index
  return %0#0, %0#1, %0#2 : index, index, index
}

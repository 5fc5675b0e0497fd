// RUN: sdy-opt %s -canonicalize | filecheck %s

mesh.mesh @g(shape = 2x3)

// Collectives along no axes are removed, send included.
// CHECK-LABEL: func.func @alone
func.func @alone(%t: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %0 = mesh.all_reduce %t on @g : tensor<6x4xf32> -> tensor<6x4xf32>
  %1 = mesh.all_slice %0 on @g slice_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  %2 = mesh.send %t on @g destination = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: return %arg0, %arg0
  return %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>
}

// A collective that changes the element type is kept.
// CHECK-LABEL: func.func @type_change
func.func @type_change(%t: tensor<6x4xf32>) -> tensor<6x4xf64> {
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g : tensor<6x4xf32> -> tensor<6x4xf64>
  %0 = mesh.all_reduce %t on @g : tensor<6x4xf32> -> tensor<6x4xf64>
  return %0 : tensor<6x4xf64>
}

// Unused pure collectives are erased, those with side effects are not.
// CHECK-LABEL: func.func @unused
func.func @unused(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.send
  // CHECK-NEXT: mesh.recv
  // CHECK-NEXT: return
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] : tensor<6x4xf32> -> tensor<6x4xf32>
  %1 = mesh.send %t on @g mesh_axes = [0] destination = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = mesh.recv %t on @g mesh_axes = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %3 = mesh.process_linear_index on @g : index
  return
}

// A shift by zero is kept.
// CHECK-LABEL: func.func @shift_by_nothing
func.func @shift_by_nothing(%t: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: mesh.shift
  %0 = mesh.shift %t on @g mesh_axes = [1] shift_axis = 1 offset = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

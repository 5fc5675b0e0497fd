// RUN: sdy-opt %s -canonicalize | filecheck %s

mesh.mesh @g(shape = 2x3)

// Who is alone has nothing to exchange, not even where it says send.
// CHECK-LABEL: func.func @alone
func.func @alone(%t: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %0 = mesh.all_reduce %t on @g : tensor<6x4xf32> -> tensor<6x4xf32>
  %1 = mesh.all_slice %0 on @g slice_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  %2 = mesh.send %t on @g destination = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: return %arg0, %arg0
  return %1, %2 : tensor<6x4xf32>, tensor<6x4xf32>
}

// A change of type is something to do.
// CHECK-LABEL: func.func @type_change
func.func @type_change(%t: tensor<6x4xf32>) -> tensor<6x4xf64> {
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g : tensor<6x4xf32> -> tensor<6x4xf64>
  %0 = mesh.all_reduce %t on @g : tensor<6x4xf32> -> tensor<6x4xf64>
  return %0 : tensor<6x4xf64>
}

// What nobody uses goes, but for what others may wait for.
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

// A shift that leaves things where they are stays.
// CHECK-LABEL: func.func @shift_by_nothing
func.func @shift_by_nothing(%t: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // CHECK-NEXT: mesh.shift
  %0 = mesh.shift %t on @g mesh_axes = [1] shift_axis = 1 offset = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

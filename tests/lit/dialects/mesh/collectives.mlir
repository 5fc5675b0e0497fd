// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

mesh.mesh @g(shape = 2x3)
mesh.mesh @d(shape = 2x?)

// The order of the axes is the order of the devices in their group.
// CHECK-LABEL: func.func @all_gather
func.func @all_gather(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.all_gather %arg0 on @g mesh_axes = [1] gather_axis = 0 : tensor<6x4xf32> -> tensor<18x4xf32>
  %0 = mesh.all_gather %t on @g mesh_axes = [1] gather_axis = 0 : tensor<6x4xf32> -> tensor<18x4xf32>
  // CHECK-NEXT: mesh.all_gather %arg0 on @g mesh_axes = [1, 0] gather_axis = 1 {id = 3 : i64} : tensor<6x4xf32> -> tensor<6x24xf32>
  %1 = mesh.all_gather %t on @g mesh_axes = [1, 0] gather_axis = 1 {id = 3 : i64} : tensor<6x4xf32> -> tensor<6x24xf32>
  // Along an axis of dynamic size the result size is dynamic.
  // CHECK-NEXT: mesh.all_gather %arg0 on @d mesh_axes = [1] gather_axis = 0 : tensor<6x4xf32> -> tensor<?x4xf32>
  %2 = mesh.all_gather %t on @d mesh_axes = [1] gather_axis = 0 : tensor<6x4xf32> -> tensor<?x4xf32>
  // Without axes the groups are single devices, and no clause is printed.
  // CHECK-NEXT: mesh.all_gather %arg0 on @g gather_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  %3 = mesh.all_gather %t on @g mesh_axes = [] gather_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// The default reduction, the sum, is not printed. The element type may change.
// CHECK-LABEL: func.func @all_reduce
func.func @all_reduce(%t: tensor<6x4xf32>, %s: tensor<i8>) {
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g mesh_axes = [0] : tensor<6x4xf32> -> tensor<6x4xf32>
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] reduction = <sum> : tensor<6x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g mesh_axes = [1, 0] reduction = <max> : tensor<6x4xf32> -> tensor<6x4xf64>
  %1 = mesh.all_reduce %t on @g mesh_axes = [1, 0] reduction = <max> : tensor<6x4xf32> -> tensor<6x4xf64>
  // CHECK-NEXT: mesh.all_reduce %arg1 on @g mesh_axes = [1] reduction = <bitwise_xor> : tensor<i8> -> tensor<i32>
  %2 = mesh.all_reduce %s on @g mesh_axes = [1] reduction = <bitwise_xor> : tensor<i8> -> tensor<i32>
  // An attribute in the dictionary is printed as its clause.
  // CHECK-NEXT: mesh.all_reduce %arg0 on @g mesh_axes = [1] reduction = <min> : tensor<6x4xf32> -> tensor<6x4xf32>
  %3 = mesh.all_reduce %t on @g {mesh_axes = array<i16: 1>, reduction = #mesh.partial<min>} : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @all_slice
func.func @all_slice(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.all_slice %arg0 on @g mesh_axes = [1, 0] slice_axis = 0 : tensor<6x4xf32> -> tensor<1x4xf32>
  %0 = mesh.all_slice %t on @g mesh_axes = [1, 0] slice_axis = 0 : tensor<6x4xf32> -> tensor<1x4xf32>
  return
}

// Splitting and concatenating along the same dimension keeps its size.
// CHECK-LABEL: func.func @all_to_all
func.func @all_to_all(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.all_to_all %arg0 on @g mesh_axes = [0] split_axis = 0 concat_axis = 1 : tensor<6x4xf32> -> tensor<3x8xf32>
  %0 = mesh.all_to_all %t on @g mesh_axes = [0] split_axis = 0 concat_axis = 1 : tensor<6x4xf32> -> tensor<3x8xf32>
  // CHECK-NEXT: mesh.all_to_all %arg0 on @g mesh_axes = [1] split_axis = 0 concat_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  %1 = mesh.all_to_all %t on @g mesh_axes = [1] split_axis = 0 concat_axis = 0 : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @reduce_scatter
func.func @reduce_scatter(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.reduce_scatter %arg0 on @g mesh_axes = [0] reduction = <max> scatter_axis = 1 : tensor<6x4xf32> -> tensor<6x2xf64>
  %0 = mesh.reduce_scatter %t on @g mesh_axes = [0] reduction = <max> scatter_axis = 1 : tensor<6x4xf32> -> tensor<6x2xf64>
  return
}

// The root is an in-group index, static or dynamic. A functional type follows at the end.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%t: tensor<6x4xf32>, %i: index) {
  // CHECK-NEXT: mesh.broadcast %arg0 on @g mesh_axes = [1, 0] root = [2, %arg1] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  %0 = mesh.broadcast %t on @g mesh_axes = [1, 0] root = [2, %i] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.broadcast %arg0 on @g root = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = mesh.broadcast %t on @g root = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%t: tensor<6x4xf32>, %i: index) {
  // CHECK-NEXT: mesh.gather %arg0 on @g mesh_axes = [0, 1] gather_axis = 0 root = [%arg1, 0] : (tensor<6x4xf32>, index) -> tensor<36x4xf32>
  %0 = mesh.gather %t on @g mesh_axes = [0, 1] gather_axis = 0 root = [%i, 0] : (tensor<6x4xf32>, index) -> tensor<36x4xf32>
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.reduce %arg0 on @g mesh_axes = [1] reduction = <average> root = [2] : (tensor<6x4xf32>) -> tensor<6x4xf64>
  %0 = mesh.reduce %t on @g mesh_axes = [1] reduction = <average> root = [2] : (tensor<6x4xf32>) -> tensor<6x4xf64>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.scatter %arg0 on @g mesh_axes = [1] scatter_axis = 0 root = [1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  %0 = mesh.scatter %t on @g mesh_axes = [1] scatter_axis = 0 root = [1] : (tensor<6x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @send
func.func @send(%t: tensor<6x4xf32>, %i: index) {
  // CHECK-NEXT: mesh.send %arg0 on @g mesh_axes = [1, 0] destination = [%arg1, 1] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  %0 = mesh.send %t on @g mesh_axes = [1, 0] destination = [%i, 1] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  return
}

// A missing source means any device; an empty source is the device of a group along no axes.
// CHECK-LABEL: func.func @recv
func.func @recv(%t: tensor<6x4xf32>, %i: index) {
  // CHECK-NEXT: mesh.recv %arg0 on @g mesh_axes = [0, 1] source = [%arg1, 1] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  %0 = mesh.recv %t on @g mesh_axes = [0, 1] source = [%i, 1] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.recv %arg0 on @g mesh_axes = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = mesh.recv %t on @g mesh_axes = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.recv %arg0 on @g source = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = mesh.recv %t on @g source = [] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return
}

// CHECK-LABEL: func.func @shift
func.func @shift(%t: tensor<6x4xf32>) {
  // CHECK-NEXT: mesh.shift %arg0 on @g mesh_axes = [0, 1] shift_axis = 0 offset = -1 rotate : tensor<6x4xf32> -> tensor<6x4xf32>
  %0 = mesh.shift %t on @g mesh_axes = [0, 1] shift_axis = 0 offset = -1 rotate : tensor<6x4xf32> -> tensor<6x4xf32>
  // CHECK-NEXT: mesh.shift %arg0 on @g mesh_axes = [1] shift_axis = 1 offset = 40 : tensor<6x4xf32> -> tensor<?x4xf32>
  %1 = mesh.shift %t on @g mesh_axes = [1] shift_axis = 1 offset = 40 : tensor<6x4xf32> -> tensor<?x4xf32>
  return
}

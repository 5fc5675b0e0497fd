// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt - | filecheck %s

mesh.mesh @grid(shape = 2x3x5)

// The sizes of all axes, or of the listed ones. An empty list is not printed.
// CHECK-LABEL: func.func @mesh_shape
func.func @mesh_shape() {
  // CHECK-NEXT: mesh.mesh_shape @grid : index, index, index
  %0:3 = mesh.mesh_shape @grid : index, index, index
  // CHECK-NEXT: mesh.mesh_shape @grid : index, index, index
  %1:3 = mesh.mesh_shape @grid axes = [] : index, index, index
  // CHECK-NEXT: mesh.mesh_shape @grid axes = [2, 0] {tag} : index, index
  %2:2 = mesh.mesh_shape @grid axes = [2, 0] {tag} : index, index
  return
}

// The multi-index of the device along all axes, or along the listed ones.
// CHECK-LABEL: func.func @process_multi_index
func.func @process_multi_index() {
  // CHECK-NEXT: %{{.*}}:3 = mesh.process_multi_index on @grid : index, index, index
  %0:3 = mesh.process_multi_index on @grid : index, index, index
  // CHECK-NEXT: mesh.process_multi_index on @grid axes = [1] : index
  %1 = mesh.process_multi_index on @grid axes = [1] : index
  return
}

// The linear index of the device.
// CHECK-LABEL: func.func @process_linear_index
func.func @process_linear_index() {
  // CHECK-NEXT: mesh.process_linear_index on @grid {k = 1 : i64} : index
  %0 = mesh.process_linear_index on @grid {k = 1} : index
  return
}

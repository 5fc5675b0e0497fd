// RUN: sdy-opt %s -mlir-print-op-generic | filecheck %s

mesh.mesh @g(shape = 2x3)

// The generic form contains the defaults: no axes, and the sum.
// CHECK: "mesh.all_reduce"(%{{.*}}) <{mesh = @g, mesh_axes = array<i16>, reduction = #mesh.partial<sum>}>
// A missing source is not printed, because it differs from an empty source.
// CHECK-NEXT: "mesh.recv"(%{{.*}}) <{mesh = @g, mesh_axes = array<i16: 0>}>
// CHECK-NEXT: "mesh.broadcast"(%{{.*}}, %{{.*}}) <{mesh = @g, mesh_axes = array<i16: 0, 1>, root = array<i64: -9223372036854775808, 2>}>
// CHECK-NEXT: "mesh.shift"(%{{.*}}) <{mesh = @g, mesh_axes = array<i16: 0>, offset = 1 : i64, rotate, shift_axis = 0 : index}>
func.func @f(%t: tensor<6x4xf32>, %i: index) {
  %0 = mesh.all_reduce %t on @g : tensor<6x4xf32> -> tensor<6x4xf32>
  %1 = mesh.recv %t on @g mesh_axes = [0] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = mesh.broadcast %t on @g mesh_axes = [0, 1] root = [%i, 2] : (tensor<6x4xf32>, index) -> tensor<6x4xf32>
  %3 = mesh.shift %t on @g mesh_axes = [0] shift_axis = 0 offset = 1 rotate : tensor<6x4xf32> -> tensor<6x4xf32>
  return
}

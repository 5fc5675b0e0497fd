// RUN: sdy-opt %s -inline | filecheck %s
// RUN: sdy-opt %s -inline -mesh-version=21 | filecheck %s --check-prefix=LATER

mesh.mesh @g(shape = 2)

// In LLVM 19 what communicates stays where it is.
// CHECK: func.func private @callee
// LATER-NOT: func.func private @callee
func.func private @callee(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func @caller
// LATER: func.func @caller
func.func @caller(%t: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @callee
  // LATER-NEXT: mesh.all_reduce
  %0 = call @callee(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: sdy-opt %s -inline | filecheck %s
// RUN: sdy-opt %s -inline -mesh-version=21 | filecheck %s --check-prefix=LLVM21

mesh.mesh @g(shape = 2)

// In LLVM 19, functions with collectives are not inlined.
// CHECK: func.func private @callee
// LLVM21-NOT: func.func private @callee
func.func private @callee(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mesh.all_reduce %t on @g mesh_axes = [0] : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func @caller
// LLVM21: func.func @caller
func.func @caller(%t: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: call @callee
  // LLVM21-NEXT: mesh.all_reduce
  %0 = call @callee(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

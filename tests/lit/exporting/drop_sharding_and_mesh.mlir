// RUN: sdy-opt %s -sdy-drop-sharding-and-mesh | filecheck %s

// All meshes and shardings are removed; other attributes are kept.
// CHECK-NOT: mesh
// CHECK-NOT: sharding

sdy.mesh @mesh = <["x"=2]>

// CHECK: func.func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "out"})
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>, tf.aliasing_output = 0 : i32})
    -> (tensor<4xf32> {jax.result_info = "out", sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // CHECK-NEXT: stablehlo.negate %arg0 {other} : tensor<4xf32>
  %0 = stablehlo.negate %x {other, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK: func.func private @declared(tensor<4xf32>)
func.func private @declared(tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

// CHECK: module @inner
module @inner {
  sdy.mesh @other_mesh = <["y"=2]>
  // CHECK-NEXT: func.func @inlined(%arg0: tensor<4xf32>)
  func.func @inlined(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["z"=2]>, [{"z"}]>}) {
    return
  }
}

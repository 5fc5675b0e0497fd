// RUN: sdy-opt %s -sdy-inline-meshes | filecheck %s

// Only meshes of the outermost module are inlined.
// CHECK: module @inner
// CHECK-NEXT: sdy.mesh @own = <["y"=2]>
// CHECK-NEXT: func.func @f(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@own, [{"y"}]>})
sdy.mesh @mesh = <["x"=2]>
module @inner {
  sdy.mesh @own = <["y"=2]>
  func.func @f(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@own, [{"y"}]>}) {
    return
  }
}

// RUN: sdy-opt %s -sdy-partition-pipeline=keep-calls=true | filecheck %s
// RUN: sdy-opt %s -sdy-partition-pipeline | filecheck %s --check-prefix=INLINED

// A program needs no @main if only one function is neither private nor called: it starts there.
sdy.mesh @mesh = <["x"=2]>

// CHECK-LABEL: func.func @train_step(%arg0: tensor<4x4xf32>{{.*}}) -> (tensor<4x4xf32>{{.*}})
// CHECK-NEXT: %0 = call @f(%arg0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: return %0
// INLINED:      func.func @train_step(%arg0: tensor<4x4xf32>
// INLINED-NEXT: %0 = stablehlo.sine %arg0 : tensor<4x4xf32>
// INLINED-NOT:  func.func
func.func @train_step(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = func.call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func private @f(%arg0: tensor<4x4xf32>
// CHECK-NEXT: %0 = stablehlo.sine %arg0 : tensor<4x4xf32>
func.func @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.sine %a : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

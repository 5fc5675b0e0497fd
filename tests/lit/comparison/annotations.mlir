// RUN: split-file %s %t
// The other program runs the same passes. What changed in the input comes first, then its effects without it.
// RUN: sdy-opt %t/new.mlir -sdy-propagation-pipeline --compare-with=%t/old.mlir | filecheck %s

// CHECK:      before  {{.*}}old.mlir
// CHECK-NEXT: after   {{.*}}new.mlir
// CHECK-NEXT: mesh    <["x"=2, "y"=2]>
// CHECK-EMPTY:
// CHECK-NEXT: 1 annotation changed in the input
// CHECK-NEXT:   change  count  where  what      value
// CHECK-NEXT:        0      1  w      argument  %arg1
// CHECK-NEXT:         f32[8,16]: P(None, 'x') → P(None, 'y')
// CHECK-EMPTY:
// CHECK-NEXT: shardings: 4 of 5 values changed
// CHECK-NEXT:   change  count  where       what         value
// CHECK-NEXT:    +64 B      1              result       result 0
// CHECK-NEXT:         f32[4,16]: P('y', 'x') → P(None, 'y')
// CHECK-NEXT:    +64 B      1  new.mlir:6  dot_general  %0
// CHECK-NEXT:         f32[4,16]: P('y', 'x') → P(None, 'y')
// CHECK-NEXT:    +64 B      1  new.mlir:7  tanh         %1
// CHECK-NEXT:         f32[4,16]: P('y', 'x') → P(None, 'y')
// CHECK-EMPTY:
// CHECK-NEXT: communication: 0 B on the wire per device, 0 collectives
// CHECK-EMPTY:
// CHECK-NEXT: memory per device: 448 B → 576 B (+128 B) at the peak
// CHECK-NEXT:   change  after  count  where       kind
// CHECK-NEXT:    +64 B  128 B      1  new.mlir:7  f32[4,16]
// CHECK-NEXT:    +64 B  128 B      1  new.mlir:6  f32[4,16]
// CHECK-EMPTY:
// CHECK-NEXT: compute per device: 256 FLOP
// CHECK-NOT:  {{.}}

//--- old.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @layer(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("a"),
                 %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>} loc("w"))
    -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @layer(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>} loc("a"),
                 %w: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>} loc("w"))
    -> tensor<4x16xf32> {
  %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = stablehlo.tanh %0 : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

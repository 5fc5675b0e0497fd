// RUN: sdy-opt %s --explain='#0' --explain='#4' | filecheck %s

// An answer about a collective goes back to the annotations of both sides, also where the partitioner exchanges what
// an operation needs. What helps is tried.
// CHECK:      #0 collective_permute along {"x"} of %0: a device sends 4.00 KiB  collective_sides.mlir:42
// CHECK-NEXT: ├─ slice needs elements of other shards
// CHECK-NEXT: ├─ help: 2 weights, or one interleaved, for the split at collective_sides.mlir:43
// CHECK:      ├─ "x" shards dimension 1 of %0
// CHECK-NEXT: │  ├─ from %weight (dimension 1), forward along stablehlo.dot_general  collective_sides.mlir:40
// CHECK-NEXT: │  └─ annotated: the input %weight  collective_sides.mlir:37
// CHECK:      └─ see --explain='@main %0' for the sharding of what it moves

// The concatenation needs whole operands, so its operands and its result are resharded.
// CHECK:      #4 all_to_all along {"x"} of %2: a device sends 3.00 KiB  collective_sides.mlir:43
// CHECK-NEXT: ├─ resharded: P('y', 'x') → P(('y', 'x'))
// CHECK-NEXT: │  └─ in sdy: [{"y"}, {"x"}] → [{"y", "x"}, {}]
// The figures are those of the program, with what they depend on;
// how much XLA may send is not known.
// CHECK-NEXT: ├─ help: shard result 1 of @main as P(('y', 'x'))
// CHECK-NEXT: │  ├─ tried: -8.00 KiB sent; XLA may send more; this line sends 0 B in place of 8.00 KiB
// CHECK-NEXT: │  └─ in sdy: [{"y", "x"}, {}] on result 1 of @main
// CHECK-NEXT: ├─ stablehlo.concatenate needs all of dimension 1 of operand 0 (%2)  collective_sides.mlir:44
// CHECK-NEXT: │  └─ chosen: axes by the rules for this operation; reshard operand 0 (%2), operand 1 (%tail), the
// CHECK-NEXT: │       result (%3): 12.0 KiB
// CHECK-NEXT: ├─ "x" shards dimension 1 of %2
// CHECK-NEXT: │  ├─ from %0 (dimension 1), forward along stablehlo.slice  collective_sides.mlir:43
// CHECK-NEXT: │  ├─ from %weight (dimension 1), forward along stablehlo.dot_general  collective_sides.mlir:40
// CHECK-NEXT: │  └─ annotated: the input %weight  collective_sides.mlir:37
// CHECK-NEXT: ├─ "x" shards dimension 1 of %tail
// CHECK-NEXT: │  └─ annotated: the input %tail  collective_sides.mlir:38
// CHECK-NEXT: └─ see --explain='@main %2' for the sharding of what it moves

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(
    %tokens: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
    %weight: tensor<32x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %tail: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<64x128xf32>, tensor<64x256xf32>) {
  %0 = stablehlo.dot_general %tokens, %weight, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x256xf32>) -> tensor<64x256xf32>
  %1 = stablehlo.slice %0 [0:64, 128:256] : (tensor<64x256xf32>) -> tensor<64x128xf32>
  %2 = stablehlo.slice %0 [0:64, 0:128] : (tensor<64x256xf32>) -> tensor<64x128xf32>
  %3 = stablehlo.concatenate %2, %tail, dim = 1 : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x256xf32>
  return %1, %3 : tensor<64x128xf32>, tensor<64x256xf32>
}

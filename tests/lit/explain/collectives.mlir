// RUN: sdy-opt %s -sdy-propagation-pipeline=enable-insert-explicit-collectives=true --explain='#0' --explain='#1' --explain='#2' | filecheck %s

// The rows of %lhs and the columns of %rhs are both sharded along "x", which can shard only one dimension of the
// product. The answer names the operation, the alternative that was chosen, and the others with their costs.
// CHECK: #0 all_gather along {"x"} of %lhs: a device sends 384 B  collectives.mlir:65
// CHECK-NEXT: ├─ resharded: P('x', 'y') → P(None, 'y')
// CHECK-NEXT: │  └─ in sdy: [{"x"}, {"y"}] → [{}, {"y"}]
// Without "x" on %lhs, the line would send less, but whoever calls the function has to gather it.
// The figures are those of the program, as in a check, and what the line sends then.
// CHECK-NEXT: ├─ help: write P('y', 'x') in the with_sharding_constraint on %0 (collectives.mlir:68), and %2
// CHECK-NEXT: │  │  (collectives.mlir:70), result 0 of @main likewise
// CHECK-NEXT: │  ├─ tried: -352 B sent, -256 B memory; this line sends 448 B in place of 512 B
// CHECK-NEXT: │  └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]>; 2 more
// CHECK-NEXT: ├─ stablehlo.dot: operand 0 (%lhs) does not fit "x" on dimension 1 of operand 1 and dimension 1 of
// CHECK-NEXT: │  │  the result  collectives.mlir:68
// CHECK-NEXT: │  ├─ chosen: "x" on dimension 1 of operand 1 and dimension 1 of the result, which shards 640
// CHECK-NEXT: │  │    elements; reshard operand 0 (%lhs), all-reduce along "y": 512 B
// CHECK-NEXT: │  └─ instead: "x" on dimension 0 of operand 0 and dimension 0 of the result, which shards 256
// CHECK-NEXT: │       elements; reshard operand 1 (%rhs), the result (%0), all-reduce along "y": 992 B
// CHECK-NEXT: ├─ "x" shards dimension 0 of %lhs
// CHECK-NEXT: │  └─ annotated: the input %lhs  collectives.mlir:65
// CHECK-NEXT: ├─ "x" shards dimension 1 of %rhs
// CHECK-NEXT: │  └─ annotated: the input %rhs  collectives.mlir:66
// CHECK-NEXT: └─ see --explain='@main %lhs' for the sharding of what it moves

// The contracting dimension is sharded, so each device has a partial sum. If all that takes the sum is
// sharded along the axis, too, half of it is sent elsewhere. The change is that of the whole line, as it is in
// a check.
// CHECK: #1 all_reduce along {"y"} of %0: a device sends 128 B  collectives.mlir:68
// CHECK-NEXT: ├─ dot reduces over dimension 1 of an operand, which is sharded along "y"
// CHECK-NEXT: ├─ help: write P('y', 'x') in the with_sharding_constraint on %0 (collectives.mlir:68), and %2
// CHECK-NEXT: │  │  (collectives.mlir:70), result 0 of @main likewise
// CHECK-NEXT: │  ├─ tried: -352 B sent, -256 B memory; this line sends 448 B in place of 512 B
// CHECK-NEXT: │  └─ in sdy: sdy.sharding_constraint %0 <@mesh, [{"y"}, {"x"}]>; 2 more
// CHECK-NEXT: ├─ "y" shards dimension 1 of %lhs
// CHECK-NEXT: │  └─ annotated: the input %lhs  collectives.mlir:65
// CHECK-NEXT: ├─ "y" shards dimension 0 of %rhs
// CHECK-NEXT: │  └─ annotated: the input %rhs  collectives.mlir:66
// CHECK-NEXT: └─ see --explain='@main %0' for the sharding of what it moves

// An elementwise operation whose operand and result are sharded along different axes runs on the shards of one.
// CHECK: #2 all_slice along {"y"} of %2: a device sends 0 B  collectives.mlir:70
// CHECK-NEXT: ├─ resharded: P(None, 'x') → P('y')
// CHECK-NEXT: │  └─ in sdy: [{}, {"x"}] → [{"y"}, {}]
// CHECK-NEXT: ├─ stablehlo.negate: the result (%2) does not fit "x" on dimension 1 of operand 0 and dimension 1 of
// CHECK-NEXT: │  │  the result  collectives.mlir:70
// CHECK-NEXT: │  ├─ chosen: "x" on dimension 1 of operand 0 and dimension 1 of the result, which shards 128
// CHECK-NEXT: │  │    elements; reshard the result (%2): 192 B
// CHECK-NEXT: │  └─ instead: "y" on dimension 0 of operand 0 and dimension 0 of the result, which shards 128
// CHECK-NEXT: │       elements; reshard operand 0 (%1), the result (%2): 192 B
// CHECK-NEXT: ├─ "y" shards dimension 0 of %2
// CHECK-NEXT: │  └─ with_sharding_constraint on %2, which its input got before propagation  collectives.mlir:71
// CHECK-NEXT: ├─ "y" does not shard dimension 0 of %1
// CHECK-NEXT: │  └─ stablehlo.negate: dimension 0 of %1 is closed in with_sharding_constraint on %0
// CHECK-NEXT: │       (collectives.mlir:69)  collectives.mlir:70
// CHECK-NEXT: ├─ "x" shards dimension 1 of %1
// CHECK-NEXT: │  └─ annotated: with_sharding_constraint on %0  collectives.mlir:69
// CHECK-NEXT: ├─ "x" does not shard dimension 1 of %2
// CHECK-NEXT: │  └─ stablehlo.negate: dimension 1 of %2 is closed in with_sharding_constraint on %2
// CHECK-NEXT: │       (collectives.mlir:71)  collectives.mlir:70
// CHECK-NEXT: └─ see --explain='@main %2' for the sharding of what it moves

sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%lhs: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %rhs: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>})
    -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<8x16xf32>) {
  %0 = stablehlo.dot %lhs, %rhs : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<8x16xf32>
  %2 = stablehlo.negate %1 : tensor<8x16xf32>
  %3 = sdy.sharding_constraint %2 <@mesh, [{"y"}, {}]> : tensor<8x16xf32>
  return %2, %3 : tensor<8x16xf32>, tensor<8x16xf32>
}

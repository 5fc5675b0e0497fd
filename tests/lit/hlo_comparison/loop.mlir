// RUN: sdy-opt %s --compare-hlo=%S/Inputs/loop.txt --compare-hlo-output=%t.txt -o /dev/null && filecheck %s --input-file=%t.txt

// A comparison as a whole: a value that XLA sends twice, an all-reduce of which only slices are used, at offsets that the
// text leaves out, a loop that runs an unknown number of times, and groups that are along no axis of the mesh.

// CHECK:       report: 1 collective, 192.0 KiB on the wire per device
// CHECK-NEXT:  XLA: 6 collectives in 5 instructions, 6.38 MiB on the wire per device
// CHECK-NEXT:  on TPU and GPU, as far as this HLO shows: 6.19 MiB
// CHECK-EMPTY:
// CHECK-NEXT:  0 of 1 collectives are the same in XLA's program
// CHECK-NEXT:  operands of combined collectives count each; bytes of all runs of loops
// CHECK-NEXT:  2 of XLA in loops of unknown trip count, as if they ran once
// CHECK-NEXT:  report XLA on TPU and GPU kind and axes
// CHECK-NEXT:  0 B 6.00 MiB 6.00 MiB all_reduce {"x"}
// CHECK-NEXT:  192.0 KiB 384.0 KiB 192.0 KiB all_gather {"x"}
// CHECK-NEXT:  0 B 128 B 128 B all_to_all groups of 2
// CHECK-NEXT:  report XLA bytes bytes in XLA reason
// CHECK-NEXT:  1 2 192.0 KiB 384.0 KiB sent again
// CHECK-NEXT:  XLA sends the same value more than once: it has equal collectives that are not merged
// CHECK-NEXT:  0 4 0 B 6.00 MiB only in XLA
// CHECK-NEXT:  nothing in the report corresponds
// CHECK-EMPTY:
// CHECK-NEXT:  what TPU and GPU would change, in this HLO
// CHECK-NEXT:  undecided: 1 all-reduce, 3.00 MiB: each use is a slice as large as a shard, at offsets that are
// CHECK-NEXT:  unknown
// CHECK-NEXT:  the text leaves out large constants, which have the offsets: write compiled.as_text() in JAX, or
// CHECK-NEXT:  dump the HLO with XLA_FLAGS=--xla_dump_large_constants
// CHECK-NEXT:  less collectives change
// CHECK-NEXT:  192.0 KiB 1 equal collectives of one value: one
// CHECK-EMPTY:
// CHECK-NEXT:  5 differences
// CHECK-NEXT:  bytes bytes in XLA report XLA
// CHECK-NEXT:  3.00 MiB all_reduce {"x"} × ?
// CHECK-NEXT:  model.py:30: only in XLA: the sum of an argument (%sums#0)
// CHECK-NEXT:  3.00 MiB all_reduce {"x"}
// CHECK-NEXT:  only in XLA: the sum of products, of which each device has a part: %dot (%whole)
// CHECK-NEXT:  192.0 KiB 384.0 KiB #0 all_gather {"x"} 2 all_gather {"x"}
// CHECK-NEXT:  model.py:20, w: sent again: %ag.1 and %ag.2 are of %b, w
// CHECK-NEXT:  384 B all_reduce {"x"} × ?
// CHECK-NEXT:  model.py:30: only in XLA: the sum of an argument (%sums#1)
// CHECK-NEXT:  128 B all_to_all groups of 2
// CHECK-NEXT:  jit(step)/odd: only in XLA: %odd makes shards of one dimension those of another
// CHECK-EMPTY:
// CHECK-NEXT:  all 6 collectives of XLA's program
// CHECK-NEXT:  bytes bytes per run kind and axes line
// CHECK-NEXT:  192.0 KiB 256.0 KiB all_gather {"x"} model.py:20
// CHECK-NEXT:  %ag.1; jit(step)/dot_general; w
// CHECK-NEXT:  192.0 KiB 256.0 KiB all_gather {"x"} model.py:20
// CHECK-NEXT:  %ag.2; jit(step)/dot_general; w
// CHECK-NEXT:  3.00 MiB 2.00 MiB all_reduce {"x"} × ? model.py:30
// CHECK-NEXT:  %sums, operand 0 of 2; jit(step)/while/body/add; in jit(step)/while × n
// CHECK-NEXT:  384 B 256 B all_reduce {"x"} × ? model.py:30
// CHECK-NEXT:  %sums, operand 1 of 2; jit(step)/while/body/add; in jit(step)/while × n
// CHECK-NEXT:  3.00 MiB 2.00 MiB all_reduce {"x"}
// CHECK-NEXT:  %whole
// CHECK-NEXT:  128 B 256 B all_to_all groups of 2
// CHECK-NEXT:  %odd; jit(step)/odd

#up = loc("jit(step)/dot_general"("block"("model.py":20:5)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  return %0 : tensor<4096x512xf32>
}

// RUN: sdy-opt %s --compare-hlo=%S/Inputs/shifted.txt | filecheck %s

// A comment of three lines was added after the program was printed: all lines of the HLO are later.

// CHECK:      2 of 2 collectives are the same in XLA's program
// CHECK:      model.py: 3 lines later in the HLO than in the program, compared without that
// CHECK:      192.0 KiB 1 model.py:20 all_gather {"x"}
// CHECK-NEXT: 192.0 KiB 1 model.py:24 all_gather {"x"}

#up = loc("jit(step)/dot_general"("block"("model.py":20:5)))
#down = loc("jit(step)/dot_general"("block"("model.py":24:5)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg2: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x128xf32>) -> tensor<4096x128xf32> loc(#down)
  return %1 : tensor<4096x128xf32>
}

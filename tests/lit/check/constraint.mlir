// A change of the constraints that replicate activations: then only the weights are gathered. Places that the same
// change helps refer to it.
// RUN: split-file %s %t
// RUN: sdy-opt %t/program.mlir --check --report=%t/report.md | filecheck %s
// RUN: filecheck %s --check-prefix=MARKDOWN < %t/report.md
// RUN: sdy-opt %t/program.mlir --explain=model.py:4 | filecheck %s --check-prefix=EXPLAIN

// MARKDOWN: | bytes | share | where | what | why | change |
// MARKDOWN: | 864.0 KiB | 44% | model.py:5 | {{.*}} | write P('data') in the with\_sharding\_constraint at model.py:4 and 10 (now P()): -1.41 MiB sent, -2.38 MiB memory, -67% FLOPs{{.*}} |

// One of two lines comes before one that shards the input, too, and saves as much.
// CHECK:      1. write P('data') in the with_sharding_constraint at model.py:4 and 10 (now P()): -1.41 MiB sent,
// CHECK-NEXT: -2.38 MiB memory, -67% FLOPs; 1 result is sharded otherwise, too
// CHECK-NEXT: why: model.py:5: 864.0 KiB (44%) sent, 2 all_gather along data: one of them: x is resharded from
// CHECK-NEXT: P('data') to P() for dot_general and 2 more
// CHECK-NEXT: 1 saves at other lines, too: 672.0 KiB of 1.00 MiB at model.py:7
// Another way is named, if it pays; what changes a part of the same places is left to --advise.
// CHECK-NEXT: or: {{.*}}
// CHECK-NEXT: -256.0 KiB memory
// CHECK-NEXT: --advise lists 1 more change; the rest is sent by

// An explanation of the line that states it has the change, too.
// EXPLAIN:      model.py:4 states a sharding, and sends nothing itself
// EXPLAIN-NEXT: help: write P('data') in the with_sharding_constraint at model.py:4 and 10
// EXPLAIN-NEXT: tried: -1.41 MiB sent, -2.38 MiB memory, -67% FLOPs

//--- program.mlir
#shard = loc("shard"("model.py":1:4))
#first = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":4:4))))
#out = loc("jit(step)/dot_general"("step"("model.py":7:4)))
#third = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":10:4))))
#up = loc("jit(step)/dot_general"("step"("model.py":5:4)))
#add = loc("jit(step)/add"("step"("model.py":6:4)))
#last = loc("jit(step)/add"("step"("model.py":9:4)))
#down = loc("jit(step)/dot_general"("step"("model.py":8:4)))

sdy.mesh @mesh = <["data"=4, "tp"=2]>
func.func @main(
    %x: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %up: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"tp"}]>} loc("params['up']"),
    %down: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"tp"}]>} loc("params['down']"),
    %out: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"tp"}, {"data"}]>} loc("params['out']"))
    -> tensor<1024x256xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{}, {}]> : tensor<1024x256xf32> loc(#first)
  %1 = stablehlo.dot_general %0, %up, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32> loc(#up)
  %2 = stablehlo.dot_general %0, %down, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32> loc(#down)
  %3 = stablehlo.multiply %1, %2 : tensor<1024x256xf32> loc(#last)
  %4 = stablehlo.dot_general %3, %out, contracting_dims = [1] x [0] : (tensor<1024x256xf32>, tensor<256x256xf32>) -> tensor<1024x256xf32> loc(#out)
  %5 = stablehlo.add %0, %4 : tensor<1024x256xf32> loc(#add)
  %6 = sdy.sharding_constraint %5 <@mesh, [{}, {}]> : tensor<1024x256xf32> loc(#third)
  return %6 : tensor<1024x256xf32>
}

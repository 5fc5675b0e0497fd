// A change of constraints of JAX is reported at the line that writes them, in JAX's words: a dimension with axes cannot be
// open in a PartitionSpec, and a statement constrains the gradient, too.
// RUN: sdy-opt %s --lint=closed-dimension-gather --lint-config=- 2>&1 | filecheck %s

// CHECK: model.py:5:5: warning: this constraint to P('data') closes dimension 1, which forces a gather
// CHECK: help: write P('data', P.UNCONSTRAINED) in the with_sharding_constraint at model.py:5{{$}}
// CHECK-NEXT: tried: sends 0 B in place of 768.0 KiB, peak memory
// CHECK-NOT: in sdy
#shard = loc("shard"("model.py":2:4))
#here = loc("jit(step)/sharding_constraint"(callsite(#shard at "step"("model.py":5:4))))
#next = loc("jit(step)/tanh"("step"("model.py":6:4)))

sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @step(%x: tensor<512x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<512x1024xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<512x1024xf32> loc(#here)
  %1 = stablehlo.tanh %0 : tensor<512x1024xf32> loc(#next)
  return %1 : tensor<512x1024xf32>
}

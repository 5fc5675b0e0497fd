// A finding is at the place of a check, with its change, in JAX's words, and its figures.
// RUN: sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s
// RUN: env COLUMNS=70 sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s --check-prefix=NARROW
// RUN: sdy-opt %s --check | filecheck %s --check-prefix=CHECKED

// A finding is folded where its lines are counted.
// NARROW:      {{^}}model.py:6:5: warning: 768.0 KiB (100%) sent, all_gather along model:{{$}}
// NARROW-NEXT: {{^}}  P('data', 'model') → P('data') for tanh [cheaper-sharding]{{$}}

// CHECKED:      1. model.py:6  768.0 KiB (100%)  all_gather along model
// CHECKED-NEXT: P('data', 'model') → P('data') for tanh
// CHECKED-NEXT: tried: P('data', 'model') for the constraint at line 5 and 1 result: -768.0 KiB sent
// CHECK: model.py:6:5: warning: 768.0 KiB (100%) sent, all_gather along model: P('data', 'model') → P('data') for tanh
// CHECK: help: write P('data', 'model') in the with_sharding_constraint at model.py:5{{$}}
// CHECK-NEXT: tried: -768.0 KiB sent, -1.75 MiB memory
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

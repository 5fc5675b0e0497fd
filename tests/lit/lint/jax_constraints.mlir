// A finding is at the line to edit, in JAX's words, with figures; its reason is at the place of a check.
// RUN: sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s
// RUN: env COLUMNS=70 sdy-opt %s --lint --lint-config=- 2>&1 | filecheck %s --check-prefix=NARROW
// RUN: sdy-opt %s --check | filecheck %s --check-prefix=CHECKED

// A finding is folded where its lines are counted.
// NARROW:      {{^}}model.py:5:5: warning: write P('data', 'model') in the{{$}}
// NARROW-NEXT: {{^}}  with_sharding_constraint at model.py:5 (now P('data')): -768.0 KiB{{$}}
// CHECKED:      1. write P('data', 'model') in the with_sharding_constraint at model.py:5 (now P('data')):
// CHECKED-NEXT: -768.0 KiB sent, -1.75 MiB memory; 1 result is sharded otherwise, too
// CHECKED-NEXT: why: model.py:6: 768.0 KiB (100%) sent, all_gather along model: resharded from P('data', 'model')
// CHECKED-NEXT: to P('data') for tanh
// CHECK: model.py:5:5: warning: write P('data', 'model') in the with_sharding_constraint at model.py:5 (now P('data')): -768.0 KiB sent, -1.75 MiB memory; 1 result is sharded otherwise, too [cheaper-sharding]
// CHECK: model.py:6:5: note: why: model.py:6: 768.0 KiB (100%) sent, all_gather along model: resharded from P('data', 'model') to P('data') for tanh
// CHECK-NOT: help:
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

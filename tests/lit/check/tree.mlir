// One statement constrains the values of a tree: it is said which leaves get a spec, by their names in the argument
// whose leaves have the shapes.
// RUN: sdy-opt %s --check --topology=tpu-v5e | filecheck %s
// RUN: sed -e "s/loc(.p\['.*'].)/loc(unknown)/" -e "s/result\['.*']/result/" %s | sdy-opt --check --topology=tpu-v5e | filecheck %s --check-prefix=TYPES

// CHECK: 1. write P('data', 'model') in the with_sharding_constraint at model.py:4 for ['up'] (others stay)
// CHECK: 2. write P(('model', 'data')) in the with_sharding_constraint at model.py:4 for ['down'] (others
// CHECK-NEXT: stay) (now P())

// Without such an argument, by their types.
// TYPES: 1. write P('data', 'model') in the with_sharding_constraint at model.py:4 for f32[2048,8192]

#step = loc("step"("model.py":9:4))
#up_at = loc("jit(step)/dot_general"(callsite("loss"("model.py":2:4) at #step)))
#down_at = loc("jit(step)/dot_general"(callsite("loss"("model.py":3:4) at #step)))
#tree = loc("jit(step)/sharding_constraint"(callsite("step"("model.py":4:4) at "run"("model.py":20:4))))
#add = loc("jit(step)/add"(callsite("step"("model.py":5:4) at "run"("model.py":20:4))))

sdy.mesh @mesh = <["data"=4, "model"=4]>
func.func @main(
    %down: tensor<8192x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>} loc("p['down']"),
    %up: tensor<2048x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("p['up']"),
    %x: tensor<256x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"),
    %y: tensor<256x8192xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>} loc("y"))
    -> (tensor<8192x2048xf32> {jax.result_info = "result['down']", sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
        tensor<2048x8192xf32> {jax.result_info = "result['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {
  %0 = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0]
    : (tensor<256x8192xf32>, tensor<256x2048xf32>) -> tensor<8192x2048xf32> loc(#down_at)
  %1 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0]
    : (tensor<256x2048xf32>, tensor<256x8192xf32>) -> tensor<2048x8192xf32> loc(#up_at)
  %2 = sdy.sharding_constraint %0 <@mesh, [{}, {}]> : tensor<8192x2048xf32> loc(#tree)
  %3 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<2048x8192xf32> loc(#tree)
  %4 = stablehlo.add %down, %2 : tensor<8192x2048xf32> loc(#add)
  %5 = stablehlo.add %up, %3 : tensor<2048x8192xf32> loc(#add)
  return %4, %5 : tensor<8192x2048xf32>, tensor<2048x8192xf32>
}

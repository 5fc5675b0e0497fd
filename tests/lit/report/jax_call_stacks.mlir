// RUN: sdy-opt %s --report --report-rows=0 | filecheck %s
// RUN: sdy-opt %s --report --report-rows=0 --group-by=line | filecheck %s --check-prefix=LINE
// RUN: sdy-opt %s --report --report-rows=0 --group-by=scope | filecheck %s --check-prefix=SCOPE
// RUN: sdy-opt %s --report --report-rows=0 --group-by=weight | filecheck %s --check-prefix=WEIGHT
// RUN: sdy-opt %s --report --report-rows=0 --group-by=function | filecheck %s --check-prefix=FUNCTION

// A helper that more lines call than it has itself: the lines that call it tell the products apart, and each
// gather is where its weight is used. Recomputed and backward parts are told apart from the forward pass.

// CHECK:      bytes share count where kind
// CHECK:      model.py:20 all_gather {"x"}
// CHECK-NEXT:   dot_general needs this sharding of params['up']:
// CHECK:      model.py:21 all_gather {"x"}
// CHECK-NEXT:   in a gradient, dot_general needs this sharding of params['down']:
// CHECK:      model.py:22 all_gather {"x"}
// CHECK-NEXT:   recomputed, dot_general needs this sharding of params['down']:
// CHECK:      copies  value
// CHECK:      1 of 4 params['down'] f32

// LINE:     model.py:10 all_gather {"x"}

// SCOPE-DAG: mlp/up all_gather {"x"}
// SCOPE-DAG: mlp/down all_gather {"x"}

// WEIGHT-DAG: params['up'] all_gather {"x"}
// WEIGHT-DAG: params['down'] all_gather {"x"}

// FUNCTION: block in model.py all_gather {"x"}

#linear = loc("linear"("model.py":10:5))
#up = loc("jit(step)/jvp(mlp)/up/dot_general"(callsite(#linear at "block"("model.py":20:5))))
#down = loc("jit(step)/transpose(jvp(mlp))/down/dot_general"(callsite(#linear at "block"("model.py":21:5))))
#again = loc("jit(step)/transpose(jvp())/checkpoint/rematted_computation/mlp/down/dot_general"(callsite(#linear at "block"("model.py":22:5))))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch"),
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['up']"),
    %arg2: tensor<512x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("params['down']"))
    -> (tensor<4096x128xf32> {jax.result_info = "result[0]", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  %1 = stablehlo.dot_general %0, %arg2, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x128xf32>) -> tensor<4096x128xf32> loc(#down)
  %2 = stablehlo.negate %0 : tensor<4096x512xf32> loc(#up)
  %b = stablehlo.optimization_barrier %arg2 : tensor<512x128xf32> loc(#again)
  %3 = stablehlo.dot_general %2, %b, contracting_dims = [1] x [0] : (tensor<4096x512xf32>, tensor<512x128xf32>) -> tensor<4096x128xf32> loc(#again)
  return %1, %3 : tensor<4096x128xf32>, tensor<4096x128xf32>
}

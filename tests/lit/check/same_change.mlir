// RUN: sdy-opt %s --check | filecheck %s

// One change may be the best one of several places. It is printed once.

// CHECK:      1. shard the input params['w'] as P(None, 'x'), and result[0]['w'] likewise (now P()): -
// CHECK:      why: model.py:7:
// CHECK:      1 saves at other lines, too: {{.*}} of 1.50 MiB at model.py:6

#first = loc("jit(step)/jvp()/dot_general"("layer"("model.py":6:5)))
#second = loc("jit(step)/jvp()/dot_general"("layer"("model.py":7:5)))
#of_first = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":6:5)))
#of_second = loc("jit(step)/transpose(jvp())/dot_general"("layer"("model.py":7:5)))
#sum = loc("jit(step)/transpose(jvp())/add_any"("layer"("model.py":6:5)))
#update = loc("jit(step)/mul"("step"("model.py":12:5)))
sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %i: tensor<4096x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch['i']"),
    %j: tensor<4096x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("batch['j']"),
    %n: tensor<4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>} loc("batch['n']"),
    %w: tensor<1024x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>, jax.buffer_donor = true} loc("params['w']"))
    -> (tensor<1024x256xf32> {jax.result_info = "result[0]['w']"}) {
  %u = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4096xf32>) -> tensor<4096x256xf32> loc(#of_first)
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.gather"(%w, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}> : (tensor<1024x256xf32>, tensor<4096x1xi32>) -> tensor<4096x256xf32> loc(#first)
  %z = "stablehlo.gather"(%w, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 256>}> : (tensor<1024x256xf32>, tensor<4096x1xi32>) -> tensor<4096x256xf32> loc(#second)
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1024x256xf32> loc(#of_first)
  %g = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024x256xf32>, tensor<4096x1xi32>, tensor<4096x256xf32>) -> tensor<1024x256xf32> loc(#of_first)
  %h = "stablehlo.scatter"(%zeros, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1024x256xf32>, tensor<4096x1xi32>, tensor<4096x256xf32>) -> tensor<1024x256xf32> loc(#of_second)
  %sum = stablehlo.add %g, %h : tensor<1024x256xf32> loc(#sum)
  %rate = stablehlo.constant dense<0.1> : tensor<f32>
  %rates = stablehlo.broadcast_in_dim %rate, dims = [] : (tensor<f32>) -> tensor<1024x256xf32> loc(#update)
  %step = stablehlo.multiply %rates, %sum : tensor<1024x256xf32> loc(#update)
  %new_w = stablehlo.subtract %w, %step : tensor<1024x256xf32> loc(#update)
  return %new_w : tensor<1024x256xf32>
}

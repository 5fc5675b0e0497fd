// A scan slices weights of one shape by one function, which ties them to each other. The moments of each get the sharding
// of their own parameter, and the parameters keep theirs.
// RUN: sdy-opt %s --advise | filecheck %s
// CHECK:      shard the state of the optimizer as its parameters: write P(None, 'tp', 'fsdp') for mu['down']
// CHECK-NEXT: (now P(None, 'tp')) and P(None, 'fsdp', 'tp') for
// CHECK: on the wire 2.28 MiB → 1.53 MiB

module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["fsdp"=4, "tp"=2]> {stablehlo.mesh = {axes = [{name = "fsdp", size = 4 : i64}, {name = "tp", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {"fsdp"}]>, tf.aliasing_output = 0 : i32} loc("p['down']"), %arg1: tensor<4x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"tp"}]>, tf.aliasing_output = 1 : i32} loc("p['up']"), %arg2: tensor<4x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {}]>, tf.aliasing_output = 2 : i32} loc("mu['down']"), %arg3: tensor<4x256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"tp"}]>, tf.aliasing_output = 3 : i32} loc("mu['up']"), %arg4: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"fsdp"}, {}]>} loc("x")) -> (tensor<4x256x256xf32> {jax.result_info = "result[0]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {"fsdp"}]>}, tensor<4x256x256xf32> {jax.result_info = "result[0]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"fsdp"}, {"tp"}]>}, tensor<4x256x256xf32> {jax.result_info = "result[1]['down']", sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {}]>}, tensor<4x256x256xf32> {jax.result_info = "result[1]['up']", sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"tp"}]>}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:7 = stablehlo.while(%iterArg = %arg0, %iterArg_6 = %arg1, %iterArg_7 = %c, %iterArg_8 = %arg4, %iterArg_9 = %0, %iterArg_10 = %1, %iterArg_11 = %2) : tensor<4x256x256xf32>, tensor<4x256x256xf32>, tensor<i32>, tensor<64x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>
    cond {
      %c_12 = stablehlo.constant dense<4> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_7, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_7) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %13 = func.call @dynamic_index_in_dim(%iterArg_6, %iterArg_7) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %14 = stablehlo.dot_general %iterArg_8, %13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
      %15 = stablehlo.tanh %14 : tensor<64x256xf32>
      %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %16 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
      %17 = stablehlo.add %16, %15 : tensor<64x256xf32>
      %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %18 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
      %19 = stablehlo.subtract %18, %15 : tensor<64x256xf32>
      %20 = stablehlo.multiply %17, %19 : tensor<64x256xf32>
      %21 = stablehlo.dot_general %15, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
      %22 = func.call @dynamic_update_index_in_dim(%iterArg_9, %iterArg_8, %iterArg_7) : (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>
      %23 = func.call @dynamic_update_index_in_dim(%iterArg_10, %20, %iterArg_7) : (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>
      %24 = func.call @dynamic_update_index_in_dim(%iterArg_11, %15, %iterArg_7) : (tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<i32>) -> tensor<4x64x256xf32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %25 = stablehlo.add %iterArg_7, %c_14 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_6, %25, %21, %22, %23, %24 : tensor<4x256x256xf32>, tensor<4x256x256xf32>, tensor<i32>, tensor<64x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>
    }
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x256x256xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %7:9 = stablehlo.while(%iterArg = %arg1, %iterArg_6 = %3#4, %iterArg_7 = %3#5, %iterArg_8 = %arg0, %iterArg_9 = %3#6, %iterArg_10 = %c_5, %iterArg_11 = %4, %iterArg_12 = %5, %iterArg_13 = %6) : tensor<4x256x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>, tensor<4x256x256xf32>, tensor<4x64x256xf32>, tensor<i32>, tensor<64x256xf32>, tensor<4x256x256xf32>, tensor<4x256x256xf32>
    cond {
      %c_14 = stablehlo.constant dense<4> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_10, %c_14, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %c_14 = stablehlo.constant dense<4> : tensor<i32>
      %12 = stablehlo.subtract %c_14, %iterArg_10 : tensor<i32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %13 = stablehlo.subtract %12, %c_15 : tensor<i32>
      %14 = func.call @dynamic_index_in_dim(%iterArg, %13) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %15 = func.call @dynamic_index_in_dim_0(%iterArg_6, %13) : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %16 = func.call @dynamic_index_in_dim_0(%iterArg_7, %13) : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %17 = func.call @dynamic_index_in_dim(%iterArg_8, %13) : (tensor<4x256x256xf32>, tensor<i32>) -> tensor<256x256xf32>
      %18 = func.call @dynamic_index_in_dim_0(%iterArg_9, %13) : (tensor<4x64x256xf32>, tensor<i32>) -> tensor<64x256xf32>
      %19 = stablehlo.dot_general %iterArg_11, %18, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
      %20 = stablehlo.transpose %19, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %21 = stablehlo.dot_general %iterArg_11, %17, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
      %22 = stablehlo.multiply %21, %16 : tensor<64x256xf32>
      %23 = stablehlo.dot_general %22, %15, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<256x256xf32>
      %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
      %25 = stablehlo.dot_general %22, %14, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x256xf32>, tensor<256x256xf32>) -> tensor<64x256xf32>
      %26 = func.call @dynamic_update_index_in_dim_1(%iterArg_12, %20, %13) : (tensor<4x256x256xf32>, tensor<256x256xf32>, tensor<i32>) -> tensor<4x256x256xf32>
      %27 = func.call @dynamic_update_index_in_dim_1(%iterArg_13, %24, %13) : (tensor<4x256x256xf32>, tensor<256x256xf32>, tensor<i32>) -> tensor<4x256x256xf32>
      %c_16 = stablehlo.constant dense<1> : tensor<i32>
      %28 = stablehlo.add %iterArg_10, %c_16 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %28, %25, %26, %27 : tensor<4x256x256xf32>, tensor<4x64x256xf32>, tensor<4x64x256xf32>, tensor<4x256x256xf32>, tensor<4x64x256xf32>, tensor<i32>, tensor<64x256xf32>, tensor<4x256x256xf32>, tensor<4x256x256xf32>
    }
    %8 = stablehlo.add %arg2, %7#7 : tensor<4x256x256xf32>
    %9 = stablehlo.add %arg3, %7#8 : tensor<4x256x256xf32>
    %10 = stablehlo.subtract %arg0, %8 : tensor<4x256x256xf32>
    %11 = stablehlo.subtract %arg1, %9 : tensor<4x256x256xf32>
    return %10, %11, %8, %9 : tensor<4x256x256xf32>, tensor<4x256x256xf32>, tensor<4x256x256xf32>, tensor<4x256x256xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4x256x256xf32>, %arg1: tensor<i32>) -> tensor<256x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 256, 256] : (tensor<4x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x256x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x256x256xf32>) -> tensor<256x256xf32>
    return %1 : tensor<256x256xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4x64x256xf32>, %arg1: tensor<64x256xf32>, %arg2: tensor<i32>) -> tensor<4x64x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x64x256xf32>, tensor<1x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x64x256xf32>
    return %1 : tensor<4x64x256xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<4x64x256xf32>, %arg1: tensor<i32>) -> tensor<64x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 256] : (tensor<4x64x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x256xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x256xf32>) -> tensor<64x256xf32>
    return %1 : tensor<64x256xf32>
  }
  func.func private @dynamic_update_index_in_dim_1(%arg0: tensor<4x256x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<i32>) -> tensor<4x256x256xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<256x256xf32>) -> tensor<1x256x256xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<4x256x256xf32>, tensor<1x256x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x256x256xf32>
    return %1 : tensor<4x256x256xf32>
  }
}

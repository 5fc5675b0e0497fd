module @jit_train_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]> {stablehlo.mesh = {axes = [{name = "data", size = 4 : i64}, {name = "model", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8192x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg1: tensor<1024x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg2: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg3: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg4: tensor<8x32x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg5: tensor<256x3x8x32xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>}, %arg6: tensor<256x1024xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg7: tensor<1024x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg8: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg9: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg10: tensor<8x32x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg11: tensor<256x3x8x32xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>}, %arg12: tensor<256x1024xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg13: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg14: tensor<128x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg15: tensor<8192x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg16: tensor<1024x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg17: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg18: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg19: tensor<8x32x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg20: tensor<256x3x8x32xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>}, %arg21: tensor<256x1024xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg22: tensor<1024x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}, %arg23: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg24: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg25: tensor<8x32x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}, %arg26: tensor<256x3x8x32xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"model"}, {}]>}, %arg27: tensor<256x1024xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %arg28: tensor<256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %arg29: tensor<128x256xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %arg30: tensor<32x128xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg31: tensor<32x128xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<8192x256xf32> {jax.result_info = "result[0]['embedding']"}, tensor<1024x256xf32> {jax.result_info = "result[0]['layers'][0]['down']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['norm_attention']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][0]['norm_hidden']"}, tensor<8x32x256xf32> {jax.result_info = "result[0]['layers'][0]['project']"}, tensor<256x3x8x32xf32> {jax.result_info = "result[0]['layers'][0]['query_key_value']"}, tensor<256x1024xf32> {jax.result_info = "result[0]['layers'][0]['up']"}, tensor<1024x256xf32> {jax.result_info = "result[0]['layers'][1]['down']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['norm_attention']"}, tensor<256xf32> {jax.result_info = "result[0]['layers'][1]['norm_hidden']"}, tensor<8x32x256xf32> {jax.result_info = "result[0]['layers'][1]['project']"}, tensor<256x3x8x32xf32> {jax.result_info = "result[0]['layers'][1]['query_key_value']"}, tensor<256x1024xf32> {jax.result_info = "result[0]['layers'][1]['up']"}, tensor<256xf32> {jax.result_info = "result[0]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[0]['position']"}, tensor<8192x256xf32> {jax.result_info = "result[1]['embedding']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][0]['down']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm_attention']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm_hidden']"}, tensor<8x32x256xf32> {jax.result_info = "result[1]['layers'][0]['project']"}, tensor<256x3x8x32xf32> {jax.result_info = "result[1]['layers'][0]['query_key_value']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][0]['up']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][1]['down']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm_attention']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm_hidden']"}, tensor<8x32x256xf32> {jax.result_info = "result[1]['layers'][1]['project']"}, tensor<256x3x8x32xf32> {jax.result_info = "result[1]['layers'][1]['query_key_value']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][1]['up']"}, tensor<256xf32> {jax.result_info = "result[1]['norm']"}, tensor<128x256xf32> {jax.result_info = "result[1]['position']"}, tensor<f32> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x128xi32>
    %1 = stablehlo.compare LT, %arg30, %0, SIGNED : (tensor<32x128xi32>, tensor<32x128xi32>) -> tensor<32x128xi1>
    %c_0 = stablehlo.constant dense<8192> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x128xi32>
    %3 = stablehlo.add %arg30, %2 : tensor<32x128xi32>
    %4 = stablehlo.select %1, %3, %arg30 : tensor<32x128xi1>, tensor<32x128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<32x128xi32>) -> tensor<32x128x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<8192x256xf32>, tensor<32x128x1xi32>) -> tensor<32x128x256xf32>
    %7 = stablehlo.broadcast_in_dim %arg14, dims = [1, 2] : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x128x256xf32>) -> tensor<32x128x256xf32>
    %9 = stablehlo.add %6, %8 : tensor<32x128x256xf32>
    %10 = sdy.sharding_constraint %9 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %11 = stablehlo.multiply %10, %10 : tensor<32x128x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %cst_1 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %15 = stablehlo.divide %13, %14 : tensor<32x128x1xf32>
    %cst_2 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %17 = stablehlo.add %15, %16 : tensor<32x128x1xf32>
    %18 = stablehlo.rsqrt %17 : tensor<32x128x1xf32>
    %19 = stablehlo.divide %18, %17 : tensor<32x128x1xf32>
    %cst_3 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<32x128x1xf32>
    %22 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %23 = stablehlo.multiply %10, %22 : tensor<32x128x256xf32>
    %24 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %26 = stablehlo.multiply %23, %25 : tensor<32x128x256xf32>
    %27 = stablehlo.dot_general %arg5, %26, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x3x8x32xf32>, tensor<32x128x256xf32>) -> tensor<3x8x32x32x128xf32>
    %28 = stablehlo.transpose %27, dims = [0, 3, 4, 1, 2] : (tensor<3x8x32x32x128xf32>) -> tensor<3x32x128x8x32xf32>
    %29 = stablehlo.slice %28 [0:1, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %30 = stablehlo.reshape %29 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %31 = stablehlo.slice %28 [1:2, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %32 = stablehlo.reshape %31 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %33 = stablehlo.slice %28 [2:3, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %34 = stablehlo.reshape %33 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %35 = stablehlo.dot_general %30, %32, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<32x8x128x128xf32>
    %c_5 = stablehlo.constant dense<true> : tensor<i1>
    %38 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %39 = call @tril(%38) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %40:2 = call @_where(%39, %37, %cst_6) : (tensor<128x128xi1>, tensor<32x8x128x128xf32>, tensor<f32>) -> (tensor<32x8x128x128xf32>, tensor<32x8x128x128xi1>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x8x128xf32>
    %43 = stablehlo.maximum %42, %41 : tensor<32x8x128xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %46 = stablehlo.subtract %40#0, %45 : tensor<32x8x128x128xf32>
    %47 = stablehlo.exponential %46 : tensor<32x8x128x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_9) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %51 = stablehlo.divide %47, %50 : tensor<32x8x128x128xf32>
    %52 = stablehlo.multiply %49, %49 : tensor<32x8x128x1xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x8x128x1xf32>
    %54 = stablehlo.divide %53, %52 : tensor<32x8x128x1xf32>
    %55 = stablehlo.dot_general %34, %51, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<32x8x128x128xf32>) -> tensor<32x8x32x128xf32>
    %56 = stablehlo.transpose %55, dims = [0, 3, 1, 2] : (tensor<32x8x32x128xf32>) -> tensor<32x128x8x32xf32>
    %57 = sdy.sharding_constraint %56 <@mesh, [{"data"}, {?}, {"model"}, {?}]> : tensor<32x128x8x32xf32>
    %58 = stablehlo.dot_general %57, %arg4, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<8x32x256xf32>) -> tensor<32x128x256xf32>
    %59 = stablehlo.add %10, %58 : tensor<32x128x256xf32>
    %60 = stablehlo.multiply %59, %59 : tensor<32x128x256xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %61 = stablehlo.reduce(%60 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %cst_12 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %63 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %64 = stablehlo.divide %62, %63 : tensor<32x128x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %66 = stablehlo.add %64, %65 : tensor<32x128x1xf32>
    %67 = stablehlo.rsqrt %66 : tensor<32x128x1xf32>
    %68 = stablehlo.divide %67, %66 : tensor<32x128x1xf32>
    %cst_14 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %69 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %70 = stablehlo.multiply %69, %68 : tensor<32x128x1xf32>
    %71 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %72 = stablehlo.multiply %59, %71 : tensor<32x128x256xf32>
    %73 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %75 = stablehlo.multiply %72, %74 : tensor<32x128x256xf32>
    %76 = stablehlo.dot_general %75, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<256x1024xf32>) -> tensor<32x128x1024xf32>
    %77 = call @relu(%76) : (tensor<32x128x1024xf32>) -> tensor<32x128x1024xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %78 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x128x1024xf32>
    %79 = stablehlo.compare GT, %76, %78, FLOAT : (tensor<32x128x1024xf32>, tensor<32x128x1024xf32>) -> tensor<32x128x1024xi1>
    %80 = sdy.sharding_constraint %77 <@mesh, [{"data"}, {}, {"model"}]> : tensor<32x128x1024xf32>
    %81 = stablehlo.dot_general %80, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<1024x256xf32>) -> tensor<32x128x256xf32>
    %82 = stablehlo.add %59, %81 : tensor<32x128x256xf32>
    %83 = sdy.sharding_constraint %82 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %84 = stablehlo.multiply %83, %83 : tensor<32x128x256xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_16) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %cst_17 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %88 = stablehlo.divide %86, %87 : tensor<32x128x1xf32>
    %cst_18 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %90 = stablehlo.add %88, %89 : tensor<32x128x1xf32>
    %91 = stablehlo.rsqrt %90 : tensor<32x128x1xf32>
    %92 = stablehlo.divide %91, %90 : tensor<32x128x1xf32>
    %cst_19 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %94 = stablehlo.multiply %93, %92 : tensor<32x128x1xf32>
    %95 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %96 = stablehlo.multiply %83, %95 : tensor<32x128x256xf32>
    %97 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %98 = stablehlo.broadcast_in_dim %97, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %99 = stablehlo.multiply %96, %98 : tensor<32x128x256xf32>
    %100 = stablehlo.dot_general %arg11, %99, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x3x8x32xf32>, tensor<32x128x256xf32>) -> tensor<3x8x32x32x128xf32>
    %101 = stablehlo.transpose %100, dims = [0, 3, 4, 1, 2] : (tensor<3x8x32x32x128xf32>) -> tensor<3x32x128x8x32xf32>
    %102 = stablehlo.slice %101 [0:1, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %103 = stablehlo.reshape %102 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %104 = stablehlo.slice %101 [1:2, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %105 = stablehlo.reshape %104 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %106 = stablehlo.slice %101 [2:3, 0:32, 0:128, 0:8, 0:32] : (tensor<3x32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %107 = stablehlo.reshape %106 : (tensor<1x32x128x8x32xf32>) -> tensor<32x128x8x32xf32>
    %108 = stablehlo.dot_general %103, %105, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x128xf32>
    %cst_20 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %110 = stablehlo.multiply %108, %109 : tensor<32x8x128x128xf32>
    %c_21 = stablehlo.constant dense<true> : tensor<i1>
    %111 = stablehlo.broadcast_in_dim %c_21, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %112 = call @tril(%111) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_22 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %113:2 = call @_where(%112, %110, %cst_22) : (tensor<128x128xi1>, tensor<32x8x128x128xf32>, tensor<f32>) -> (tensor<32x8x128x128xf32>, tensor<32x8x128x128xi1>)
    %cst_23 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %114 = stablehlo.reduce(%113#0 init: %cst_23) applies stablehlo.maximum across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %cst_24 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32x8x128xf32>
    %116 = stablehlo.maximum %115, %114 : tensor<32x8x128xf32>
    %117 = stablehlo.broadcast_in_dim %116, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %118 = stablehlo.broadcast_in_dim %117, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %119 = stablehlo.subtract %113#0, %118 : tensor<32x8x128x128xf32>
    %120 = stablehlo.exponential %119 : tensor<32x8x128x128xf32>
    %cst_25 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %121 = stablehlo.reduce(%120 init: %cst_25) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %122 = stablehlo.broadcast_in_dim %121, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %124 = stablehlo.divide %120, %123 : tensor<32x8x128x128xf32>
    %125 = stablehlo.multiply %122, %122 : tensor<32x8x128x1xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32x8x128x1xf32>
    %127 = stablehlo.divide %126, %125 : tensor<32x8x128x1xf32>
    %128 = stablehlo.dot_general %107, %124, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<32x8x128x128xf32>) -> tensor<32x8x32x128xf32>
    %129 = stablehlo.transpose %128, dims = [0, 3, 1, 2] : (tensor<32x8x32x128xf32>) -> tensor<32x128x8x32xf32>
    %130 = sdy.sharding_constraint %129 <@mesh, [{"data"}, {?}, {"model"}, {?}]> : tensor<32x128x8x32xf32>
    %131 = stablehlo.dot_general %130, %arg10, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8x32xf32>, tensor<8x32x256xf32>) -> tensor<32x128x256xf32>
    %132 = stablehlo.add %83, %131 : tensor<32x128x256xf32>
    %133 = stablehlo.multiply %132, %132 : tensor<32x128x256xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %134 = stablehlo.reduce(%133 init: %cst_27) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %135 = stablehlo.broadcast_in_dim %134, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %cst_28 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %136 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %137 = stablehlo.divide %135, %136 : tensor<32x128x1xf32>
    %cst_29 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %138 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %139 = stablehlo.add %137, %138 : tensor<32x128x1xf32>
    %140 = stablehlo.rsqrt %139 : tensor<32x128x1xf32>
    %141 = stablehlo.divide %140, %139 : tensor<32x128x1xf32>
    %cst_30 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %143 = stablehlo.multiply %142, %141 : tensor<32x128x1xf32>
    %144 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %145 = stablehlo.multiply %132, %144 : tensor<32x128x256xf32>
    %146 = stablehlo.broadcast_in_dim %arg9, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %147 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %148 = stablehlo.multiply %145, %147 : tensor<32x128x256xf32>
    %149 = stablehlo.dot_general %148, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<256x1024xf32>) -> tensor<32x128x1024xf32>
    %150 = call @relu(%149) : (tensor<32x128x1024xf32>) -> tensor<32x128x1024xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x128x1024xf32>
    %152 = stablehlo.compare GT, %149, %151, FLOAT : (tensor<32x128x1024xf32>, tensor<32x128x1024xf32>) -> tensor<32x128x1024xi1>
    %153 = sdy.sharding_constraint %150 <@mesh, [{"data"}, {}, {"model"}]> : tensor<32x128x1024xf32>
    %154 = stablehlo.dot_general %153, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<1024x256xf32>) -> tensor<32x128x256xf32>
    %155 = stablehlo.add %132, %154 : tensor<32x128x256xf32>
    %156 = sdy.sharding_constraint %155 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %157 = stablehlo.multiply %156, %156 : tensor<32x128x256xf32>
    %cst_32 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %158 = stablehlo.reduce(%157 init: %cst_32) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %159 = stablehlo.broadcast_in_dim %158, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %cst_33 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %161 = stablehlo.divide %159, %160 : tensor<32x128x1xf32>
    %cst_34 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %163 = stablehlo.add %161, %162 : tensor<32x128x1xf32>
    %164 = stablehlo.rsqrt %163 : tensor<32x128x1xf32>
    %165 = stablehlo.divide %164, %163 : tensor<32x128x1xf32>
    %cst_35 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %167 = stablehlo.multiply %166, %165 : tensor<32x128x1xf32>
    %168 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %169 = stablehlo.multiply %156, %168 : tensor<32x128x256xf32>
    %170 = stablehlo.broadcast_in_dim %arg13, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %171 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %172 = stablehlo.multiply %169, %171 : tensor<32x128x256xf32>
    %173 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8192x256xf32>) -> tensor<256x8192xf32>
    %174 = stablehlo.dot_general %172, %173, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<256x8192xf32>) -> tensor<32x128x8192xf32>
    %175:3 = call @log_softmax(%174) : (tensor<32x128x8192xf32>) -> (tensor<32x128x8192xf32>, tensor<32x128x8192xf32>, tensor<32x128x1xf32>)
    %176 = call @_one_hot(%arg31) : (tensor<32x128xi32>) -> tensor<32x128x8192xf32>
    %177 = stablehlo.multiply %175#0, %176 : tensor<32x128x8192xf32>
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %178 = stablehlo.reduce(%177 init: %cst_36) applies stablehlo.add across dimensions = [2] : (tensor<32x128x8192xf32>, tensor<f32>) -> tensor<32x128xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %179 = stablehlo.reduce(%178 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<f32>
    %cst_38 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %180 = stablehlo.divide %179, %cst_38 : tensor<f32>
    %181 = stablehlo.negate %180 : tensor<f32>
    %cst_39 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %182 = stablehlo.negate %cst_39 : tensor<f32>
    %cst_40 = stablehlo.constant dense<4.096000e+03> : tensor<f32>
    %183 = stablehlo.divide %182, %cst_40 : tensor<f32>
    %184 = stablehlo.broadcast_in_dim %183, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %185 = stablehlo.broadcast_in_dim %184, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x8192xf32>
    %186 = stablehlo.multiply %185, %176 : tensor<32x128x8192xf32>
    %187 = call @log_softmax_0(%175#1, %175#2, %186) : (tensor<32x128x8192xf32>, tensor<32x128x1xf32>, tensor<32x128x8192xf32>) -> tensor<32x128x8192xf32>
    %188 = stablehlo.dot_general %187, %172, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8192xf32>, tensor<32x128x256xf32>) -> tensor<8192x256xf32>
    %189 = stablehlo.transpose %188, dims = [1, 0] : (tensor<8192x256xf32>) -> tensor<256x8192xf32>
    %190 = stablehlo.dot_general %187, %173, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x8192xf32>, tensor<256x8192xf32>) -> tensor<32x128x256xf32>
    %191 = stablehlo.transpose %189, dims = [1, 0] : (tensor<256x8192xf32>) -> tensor<8192x256xf32>
    %192 = stablehlo.multiply %169, %190 : tensor<32x128x256xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %193 = stablehlo.reduce(%192 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %194 = stablehlo.reshape %193 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %195 = stablehlo.broadcast_in_dim %170, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %196 = stablehlo.multiply %190, %195 : tensor<32x128x256xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.reduce(%194 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %198 = stablehlo.multiply %156, %196 : tensor<32x128x256xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.reduce(%198 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %200 = stablehlo.reshape %199 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %201 = stablehlo.broadcast_in_dim %164, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %202 = stablehlo.multiply %196, %201 : tensor<32x128x256xf32>
    %203 = stablehlo.multiply %200, %167 : tensor<32x128x1xf32>
    %cst_44 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %204 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %205 = stablehlo.divide %203, %204 : tensor<32x128x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %206 = stablehlo.reduce(%205 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %207 = stablehlo.broadcast_in_dim %206, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x256xf32>
    %208 = stablehlo.multiply %156, %207 : tensor<32x128x256xf32>
    %209 = stablehlo.add %202, %208 : tensor<32x128x256xf32>
    %210 = stablehlo.multiply %207, %156 : tensor<32x128x256xf32>
    %211 = stablehlo.add %209, %210 : tensor<32x128x256xf32>
    %212 = sdy.sharding_constraint %211 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %213 = stablehlo.dot_general %212, %153, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<32x128x1024xf32>) -> tensor<256x1024xf32>
    %214 = stablehlo.transpose %213, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %215 = stablehlo.dot_general %212, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<1024x256xf32>) -> tensor<32x128x1024xf32>
    %216 = sdy.sharding_constraint %215 <@mesh, [{"data"}, {}, {"model"}]> : tensor<32x128x1024xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<32x128x1024xf32>
    %218 = stablehlo.select %152, %216, %217 : tensor<32x128x1024xi1>, tensor<32x128x1024xf32>
    %219 = stablehlo.dot_general %218, %148, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<32x128x256xf32>) -> tensor<1024x256xf32>
    %220 = stablehlo.transpose %219, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %221 = stablehlo.dot_general %218, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<256x1024xf32>) -> tensor<32x128x256xf32>
    %222 = stablehlo.multiply %145, %221 : tensor<32x128x256xf32>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %223 = stablehlo.reduce(%222 init: %cst_47) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %224 = stablehlo.reshape %223 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %225 = stablehlo.broadcast_in_dim %146, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %226 = stablehlo.multiply %221, %225 : tensor<32x128x256xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %227 = stablehlo.reduce(%224 init: %cst_48) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %228 = stablehlo.multiply %132, %226 : tensor<32x128x256xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %229 = stablehlo.reduce(%228 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %230 = stablehlo.reshape %229 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %231 = stablehlo.broadcast_in_dim %140, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %232 = stablehlo.multiply %226, %231 : tensor<32x128x256xf32>
    %233 = stablehlo.add %212, %232 : tensor<32x128x256xf32>
    %234 = stablehlo.multiply %230, %143 : tensor<32x128x1xf32>
    %cst_50 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %236 = stablehlo.divide %234, %235 : tensor<32x128x1xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %237 = stablehlo.reduce(%236 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %238 = stablehlo.broadcast_in_dim %237, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x256xf32>
    %239 = stablehlo.multiply %132, %238 : tensor<32x128x256xf32>
    %240 = stablehlo.add %233, %239 : tensor<32x128x256xf32>
    %241 = stablehlo.multiply %238, %132 : tensor<32x128x256xf32>
    %242 = stablehlo.add %240, %241 : tensor<32x128x256xf32>
    %243 = stablehlo.dot_general %242, %130, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<32x128x8x32xf32>) -> tensor<256x8x32xf32>
    %244 = stablehlo.transpose %243, dims = [1, 2, 0] : (tensor<256x8x32xf32>) -> tensor<8x32x256xf32>
    %245 = stablehlo.dot_general %242, %arg10, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<8x32x256xf32>) -> tensor<32x128x8x32xf32>
    %246 = sdy.sharding_constraint %245 <@mesh, [{"data"}, {?}, {"model"}, {?}]> : tensor<32x128x8x32xf32>
    %247 = stablehlo.transpose %246, dims = [0, 2, 3, 1] : (tensor<32x128x8x32xf32>) -> tensor<32x8x32x128xf32>
    %248 = stablehlo.dot_general %247, %107, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x8x32x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x128xf32>
    %249 = stablehlo.dot_general %247, %124, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x8x32x128xf32>, tensor<32x8x128x128xf32>) -> tensor<32x8x32x128xf32>
    %250 = stablehlo.transpose %249, dims = [0, 3, 1, 2] : (tensor<32x8x32x128xf32>) -> tensor<32x128x8x32xf32>
    %251 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %252 = stablehlo.multiply %248, %251 : tensor<32x8x128x128xf32>
    %253 = stablehlo.multiply %252, %120 : tensor<32x8x128x128xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %254 = stablehlo.reduce(%253 init: %cst_52) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %255 = stablehlo.reshape %254 : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %256 = stablehlo.negate %255 : tensor<32x8x128x1xf32>
    %257 = stablehlo.broadcast_in_dim %122, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %258 = stablehlo.divide %248, %257 : tensor<32x8x128x128xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%256 init: %cst_53) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x1xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x128xf32>
    %261 = stablehlo.add %258, %260 : tensor<32x8x128x128xf32>
    %262 = stablehlo.multiply %261, %120 : tensor<32x8x128x128xf32>
    %263 = call @_where_1(%113#1, %262) : (tensor<32x8x128x128xi1>, tensor<32x8x128x128xf32>) -> tensor<32x8x128x128xf32>
    %cst_54 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %264 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %265 = stablehlo.multiply %263, %264 : tensor<32x8x128x128xf32>
    %266 = stablehlo.dot_general %265, %103, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x32xf32>
    %267 = stablehlo.transpose %266, dims = [0, 2, 1, 3] : (tensor<32x8x128x32xf32>) -> tensor<32x128x8x32xf32>
    %268 = stablehlo.dot_general %265, %105, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x32xf32>
    %269 = stablehlo.transpose %268, dims = [0, 2, 1, 3] : (tensor<32x8x128x32xf32>) -> tensor<32x128x8x32xf32>
    %270 = stablehlo.broadcast_in_dim %250, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.pad %270, %cst_55, low = [2, 0, 0, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %272 = stablehlo.broadcast_in_dim %267, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %273 = stablehlo.pad %272, %cst_56, low = [1, 0, 0, 0, 0], high = [1, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %274 = stablehlo.add %271, %273 : tensor<3x32x128x8x32xf32>
    %275 = stablehlo.broadcast_in_dim %269, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %276 = stablehlo.pad %275, %cst_57, low = [0, 0, 0, 0, 0], high = [2, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %277 = stablehlo.add %274, %276 : tensor<3x32x128x8x32xf32>
    %278 = stablehlo.transpose %277, dims = [0, 3, 4, 1, 2] : (tensor<3x32x128x8x32xf32>) -> tensor<3x8x32x32x128xf32>
    %279 = stablehlo.dot_general %278, %arg11, contracting_dims = [0, 1, 2] x [1, 2, 3], precision = [DEFAULT, DEFAULT] : (tensor<3x8x32x32x128xf32>, tensor<256x3x8x32xf32>) -> tensor<32x128x256xf32>
    %280 = stablehlo.dot_general %278, %99, contracting_dims = [3, 4] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<3x8x32x32x128xf32>, tensor<32x128x256xf32>) -> tensor<3x8x32x256xf32>
    %281 = stablehlo.transpose %280, dims = [3, 0, 1, 2] : (tensor<3x8x32x256xf32>) -> tensor<256x3x8x32xf32>
    %282 = stablehlo.multiply %96, %279 : tensor<32x128x256xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %283 = stablehlo.reduce(%282 init: %cst_58) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %284 = stablehlo.reshape %283 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %285 = stablehlo.broadcast_in_dim %97, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %286 = stablehlo.multiply %279, %285 : tensor<32x128x256xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %287 = stablehlo.reduce(%284 init: %cst_59) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %288 = stablehlo.multiply %83, %286 : tensor<32x128x256xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %289 = stablehlo.reduce(%288 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %290 = stablehlo.reshape %289 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %291 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %292 = stablehlo.multiply %286, %291 : tensor<32x128x256xf32>
    %293 = stablehlo.add %242, %292 : tensor<32x128x256xf32>
    %294 = stablehlo.multiply %290, %94 : tensor<32x128x1xf32>
    %cst_61 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %296 = stablehlo.divide %294, %295 : tensor<32x128x1xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %297 = stablehlo.reduce(%296 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %298 = stablehlo.broadcast_in_dim %297, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x256xf32>
    %299 = stablehlo.multiply %83, %298 : tensor<32x128x256xf32>
    %300 = stablehlo.add %293, %299 : tensor<32x128x256xf32>
    %301 = stablehlo.multiply %298, %83 : tensor<32x128x256xf32>
    %302 = stablehlo.add %300, %301 : tensor<32x128x256xf32>
    %303 = sdy.sharding_constraint %302 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %304 = stablehlo.dot_general %303, %80, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<32x128x1024xf32>) -> tensor<256x1024xf32>
    %305 = stablehlo.transpose %304, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %306 = stablehlo.dot_general %303, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<1024x256xf32>) -> tensor<32x128x1024xf32>
    %307 = sdy.sharding_constraint %306 <@mesh, [{"data"}, {}, {"model"}]> : tensor<32x128x1024xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<32x128x1024xf32>
    %309 = stablehlo.select %79, %307, %308 : tensor<32x128x1024xi1>, tensor<32x128x1024xf32>
    %310 = stablehlo.dot_general %309, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<32x128x256xf32>) -> tensor<1024x256xf32>
    %311 = stablehlo.transpose %310, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %312 = stablehlo.dot_general %309, %arg6, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x1024xf32>, tensor<256x1024xf32>) -> tensor<32x128x256xf32>
    %313 = stablehlo.multiply %72, %312 : tensor<32x128x256xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.reduce(%313 init: %cst_64) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %315 = stablehlo.reshape %314 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %316 = stablehlo.broadcast_in_dim %73, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %317 = stablehlo.multiply %312, %316 : tensor<32x128x256xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %318 = stablehlo.reduce(%315 init: %cst_65) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %319 = stablehlo.multiply %59, %317 : tensor<32x128x256xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %320 = stablehlo.reduce(%319 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %321 = stablehlo.reshape %320 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %322 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %323 = stablehlo.multiply %317, %322 : tensor<32x128x256xf32>
    %324 = stablehlo.add %303, %323 : tensor<32x128x256xf32>
    %325 = stablehlo.multiply %321, %70 : tensor<32x128x1xf32>
    %cst_67 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %326 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %327 = stablehlo.divide %325, %326 : tensor<32x128x1xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %328 = stablehlo.reduce(%327 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %329 = stablehlo.broadcast_in_dim %328, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x256xf32>
    %330 = stablehlo.multiply %59, %329 : tensor<32x128x256xf32>
    %331 = stablehlo.add %324, %330 : tensor<32x128x256xf32>
    %332 = stablehlo.multiply %329, %59 : tensor<32x128x256xf32>
    %333 = stablehlo.add %331, %332 : tensor<32x128x256xf32>
    %334 = stablehlo.dot_general %333, %57, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<32x128x8x32xf32>) -> tensor<256x8x32xf32>
    %335 = stablehlo.transpose %334, dims = [1, 2, 0] : (tensor<256x8x32xf32>) -> tensor<8x32x256xf32>
    %336 = stablehlo.dot_general %333, %arg4, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x128x256xf32>, tensor<8x32x256xf32>) -> tensor<32x128x8x32xf32>
    %337 = sdy.sharding_constraint %336 <@mesh, [{"data"}, {?}, {"model"}, {?}]> : tensor<32x128x8x32xf32>
    %338 = stablehlo.transpose %337, dims = [0, 2, 3, 1] : (tensor<32x128x8x32xf32>) -> tensor<32x8x32x128xf32>
    %339 = stablehlo.dot_general %338, %34, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<32x8x32x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x128xf32>
    %340 = stablehlo.dot_general %338, %51, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<32x8x32x128xf32>, tensor<32x8x128x128xf32>) -> tensor<32x8x32x128xf32>
    %341 = stablehlo.transpose %340, dims = [0, 3, 1, 2] : (tensor<32x8x32x128xf32>) -> tensor<32x128x8x32xf32>
    %342 = stablehlo.broadcast_in_dim %54, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %343 = stablehlo.multiply %339, %342 : tensor<32x8x128x128xf32>
    %344 = stablehlo.multiply %343, %47 : tensor<32x8x128x128xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %345 = stablehlo.reduce(%344 init: %cst_69) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x128xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %346 = stablehlo.reshape %345 : (tensor<32x8x128xf32>) -> tensor<32x8x128x1xf32>
    %347 = stablehlo.negate %346 : tensor<32x8x128x1xf32>
    %348 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<32x8x128x1xf32>) -> tensor<32x8x128x128xf32>
    %349 = stablehlo.divide %339, %348 : tensor<32x8x128x128xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %350 = stablehlo.reduce(%347 init: %cst_70) applies stablehlo.add across dimensions = [3] : (tensor<32x8x128x1xf32>, tensor<f32>) -> tensor<32x8x128xf32>
    %351 = stablehlo.broadcast_in_dim %350, dims = [0, 1, 2] : (tensor<32x8x128xf32>) -> tensor<32x8x128x128xf32>
    %352 = stablehlo.add %349, %351 : tensor<32x8x128x128xf32>
    %353 = stablehlo.multiply %352, %47 : tensor<32x8x128x128xf32>
    %354 = call @_where_1(%40#1, %353) : (tensor<32x8x128x128xi1>, tensor<32x8x128x128xf32>) -> tensor<32x8x128x128xf32>
    %cst_71 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %356 = stablehlo.multiply %354, %355 : tensor<32x8x128x128xf32>
    %357 = stablehlo.dot_general %356, %30, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x32xf32>
    %358 = stablehlo.transpose %357, dims = [0, 2, 1, 3] : (tensor<32x8x128x32xf32>) -> tensor<32x128x8x32xf32>
    %359 = stablehlo.dot_general %356, %32, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x8x128x128xf32>, tensor<32x128x8x32xf32>) -> tensor<32x8x128x32xf32>
    %360 = stablehlo.transpose %359, dims = [0, 2, 1, 3] : (tensor<32x8x128x32xf32>) -> tensor<32x128x8x32xf32>
    %361 = stablehlo.broadcast_in_dim %341, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %362 = stablehlo.pad %361, %cst_72, low = [2, 0, 0, 0, 0], high = [0, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %363 = stablehlo.broadcast_in_dim %358, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %364 = stablehlo.pad %363, %cst_73, low = [1, 0, 0, 0, 0], high = [1, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %365 = stablehlo.add %362, %364 : tensor<3x32x128x8x32xf32>
    %366 = stablehlo.broadcast_in_dim %360, dims = [1, 2, 3, 4] : (tensor<32x128x8x32xf32>) -> tensor<1x32x128x8x32xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %367 = stablehlo.pad %366, %cst_74, low = [0, 0, 0, 0, 0], high = [2, 0, 0, 0, 0], interior = [0, 0, 0, 0, 0] : (tensor<1x32x128x8x32xf32>, tensor<f32>) -> tensor<3x32x128x8x32xf32>
    %368 = stablehlo.add %365, %367 : tensor<3x32x128x8x32xf32>
    %369 = stablehlo.transpose %368, dims = [0, 3, 4, 1, 2] : (tensor<3x32x128x8x32xf32>) -> tensor<3x8x32x32x128xf32>
    %370 = stablehlo.dot_general %369, %arg5, contracting_dims = [0, 1, 2] x [1, 2, 3], precision = [DEFAULT, DEFAULT] : (tensor<3x8x32x32x128xf32>, tensor<256x3x8x32xf32>) -> tensor<32x128x256xf32>
    %371 = stablehlo.dot_general %369, %26, contracting_dims = [3, 4] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<3x8x32x32x128xf32>, tensor<32x128x256xf32>) -> tensor<3x8x32x256xf32>
    %372 = stablehlo.transpose %371, dims = [3, 0, 1, 2] : (tensor<3x8x32x256xf32>) -> tensor<256x3x8x32xf32>
    %373 = stablehlo.multiply %23, %370 : tensor<32x128x256xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %374 = stablehlo.reduce(%373 init: %cst_75) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %375 = stablehlo.reshape %374 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %376 = stablehlo.broadcast_in_dim %24, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<32x128x256xf32>
    %377 = stablehlo.multiply %370, %376 : tensor<32x128x256xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %378 = stablehlo.reduce(%375 init: %cst_76) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %379 = stablehlo.multiply %10, %377 : tensor<32x128x256xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %380 = stablehlo.reduce(%379 init: %cst_77) applies stablehlo.add across dimensions = [2] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<32x128xf32>
    %381 = stablehlo.reshape %380 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %382 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x256xf32>
    %383 = stablehlo.multiply %377, %382 : tensor<32x128x256xf32>
    %384 = stablehlo.add %333, %383 : tensor<32x128x256xf32>
    %385 = stablehlo.multiply %381, %21 : tensor<32x128x1xf32>
    %cst_78 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %386 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<32x128x1xf32>
    %387 = stablehlo.divide %385, %386 : tensor<32x128x1xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %388 = stablehlo.reduce(%387 init: %cst_79) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %389 = stablehlo.broadcast_in_dim %388, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x256xf32>
    %390 = stablehlo.multiply %10, %389 : tensor<32x128x256xf32>
    %391 = stablehlo.add %384, %390 : tensor<32x128x256xf32>
    %392 = stablehlo.multiply %389, %10 : tensor<32x128x256xf32>
    %393 = stablehlo.add %391, %392 : tensor<32x128x256xf32>
    %394 = sdy.sharding_constraint %393 <@mesh, [{"data"}, {?}, {?}]> : tensor<32x128x256xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %395 = stablehlo.reduce(%394 init: %cst_80) applies stablehlo.add across dimensions = [0] : (tensor<32x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %396 = stablehlo.reshape %395 : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %397 = stablehlo.reduce(%396 init: %cst_81) applies stablehlo.add across dimensions = [0] : (tensor<1x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %398 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8192x256xf32>
    %399 = "stablehlo.scatter"(%398, %5, %394) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %491 = stablehlo.add %arg32, %arg33 : tensor<f32>
      stablehlo.return %491 : tensor<f32>
    }) : (tensor<8192x256xf32>, tensor<32x128x1xi32>, tensor<32x128x256xf32>) -> tensor<8192x256xf32>
    %400 = stablehlo.add %191, %399 : tensor<8192x256xf32>
    %cst_83 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8192x256xf32>
    %402 = stablehlo.multiply %401, %arg15 : tensor<8192x256xf32>
    %403 = stablehlo.add %402, %400 : tensor<8192x256xf32>
    %cst_84 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %404 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %405 = stablehlo.multiply %404, %arg16 : tensor<1024x256xf32>
    %406 = stablehlo.add %405, %305 : tensor<1024x256xf32>
    %cst_85 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %408 = stablehlo.multiply %407, %arg17 : tensor<256xf32>
    %409 = stablehlo.add %408, %378 : tensor<256xf32>
    %cst_86 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %410 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %411 = stablehlo.multiply %410, %arg18 : tensor<256xf32>
    %412 = stablehlo.add %411, %318 : tensor<256xf32>
    %cst_87 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %413 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %414 = stablehlo.multiply %413, %arg19 : tensor<8x32x256xf32>
    %415 = stablehlo.add %414, %335 : tensor<8x32x256xf32>
    %cst_88 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<256x3x8x32xf32>
    %417 = stablehlo.multiply %416, %arg20 : tensor<256x3x8x32xf32>
    %418 = stablehlo.add %417, %372 : tensor<256x3x8x32xf32>
    %cst_89 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %419 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %420 = stablehlo.multiply %419, %arg21 : tensor<256x1024xf32>
    %421 = stablehlo.add %420, %311 : tensor<256x1024xf32>
    %cst_90 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %423 = stablehlo.multiply %422, %arg22 : tensor<1024x256xf32>
    %424 = stablehlo.add %423, %214 : tensor<1024x256xf32>
    %cst_91 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %425 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %426 = stablehlo.multiply %425, %arg23 : tensor<256xf32>
    %427 = stablehlo.add %426, %287 : tensor<256xf32>
    %cst_92 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %428 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %429 = stablehlo.multiply %428, %arg24 : tensor<256xf32>
    %430 = stablehlo.add %429, %227 : tensor<256xf32>
    %cst_93 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %431 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %432 = stablehlo.multiply %431, %arg25 : tensor<8x32x256xf32>
    %433 = stablehlo.add %432, %244 : tensor<8x32x256xf32>
    %cst_94 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<256x3x8x32xf32>
    %435 = stablehlo.multiply %434, %arg26 : tensor<256x3x8x32xf32>
    %436 = stablehlo.add %435, %281 : tensor<256x3x8x32xf32>
    %cst_95 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %437 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %438 = stablehlo.multiply %437, %arg27 : tensor<256x1024xf32>
    %439 = stablehlo.add %438, %220 : tensor<256x1024xf32>
    %cst_96 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %440 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %441 = stablehlo.multiply %440, %arg28 : tensor<256xf32>
    %442 = stablehlo.add %441, %197 : tensor<256xf32>
    %cst_97 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %443 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %444 = stablehlo.multiply %443, %arg29 : tensor<128x256xf32>
    %445 = stablehlo.add %444, %397 : tensor<128x256xf32>
    %cst_98 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %446 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<8192x256xf32>
    %447 = stablehlo.multiply %446, %403 : tensor<8192x256xf32>
    %448 = stablehlo.subtract %arg0, %447 : tensor<8192x256xf32>
    %cst_99 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %449 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %450 = stablehlo.multiply %449, %406 : tensor<1024x256xf32>
    %451 = stablehlo.subtract %arg1, %450 : tensor<1024x256xf32>
    %cst_100 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %453 = stablehlo.multiply %452, %409 : tensor<256xf32>
    %454 = stablehlo.subtract %arg2, %453 : tensor<256xf32>
    %cst_101 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %455 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %456 = stablehlo.multiply %455, %412 : tensor<256xf32>
    %457 = stablehlo.subtract %arg3, %456 : tensor<256xf32>
    %cst_102 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %458 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %459 = stablehlo.multiply %458, %415 : tensor<8x32x256xf32>
    %460 = stablehlo.subtract %arg4, %459 : tensor<8x32x256xf32>
    %cst_103 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %461 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<256x3x8x32xf32>
    %462 = stablehlo.multiply %461, %418 : tensor<256x3x8x32xf32>
    %463 = stablehlo.subtract %arg5, %462 : tensor<256x3x8x32xf32>
    %cst_104 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %465 = stablehlo.multiply %464, %421 : tensor<256x1024xf32>
    %466 = stablehlo.subtract %arg6, %465 : tensor<256x1024xf32>
    %cst_105 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %467 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %468 = stablehlo.multiply %467, %424 : tensor<1024x256xf32>
    %469 = stablehlo.subtract %arg7, %468 : tensor<1024x256xf32>
    %cst_106 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %470 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %471 = stablehlo.multiply %470, %427 : tensor<256xf32>
    %472 = stablehlo.subtract %arg8, %471 : tensor<256xf32>
    %cst_107 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %473 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %474 = stablehlo.multiply %473, %430 : tensor<256xf32>
    %475 = stablehlo.subtract %arg9, %474 : tensor<256xf32>
    %cst_108 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %476 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<8x32x256xf32>
    %477 = stablehlo.multiply %476, %433 : tensor<8x32x256xf32>
    %478 = stablehlo.subtract %arg10, %477 : tensor<8x32x256xf32>
    %cst_109 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %479 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<256x3x8x32xf32>
    %480 = stablehlo.multiply %479, %436 : tensor<256x3x8x32xf32>
    %481 = stablehlo.subtract %arg11, %480 : tensor<256x3x8x32xf32>
    %cst_110 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %482 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %483 = stablehlo.multiply %482, %439 : tensor<256x1024xf32>
    %484 = stablehlo.subtract %arg12, %483 : tensor<256x1024xf32>
    %cst_111 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %485 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %486 = stablehlo.multiply %485, %442 : tensor<256xf32>
    %487 = stablehlo.subtract %arg13, %486 : tensor<256xf32>
    %cst_112 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %488 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %489 = stablehlo.multiply %488, %445 : tensor<128x256xf32>
    %490 = stablehlo.subtract %arg14, %489 : tensor<128x256xf32>
    return %448, %451, %454, %457, %460, %463, %466, %469, %472, %475, %478, %481, %484, %487, %490, %403, %406, %409, %412, %415, %418, %421, %424, %427, %430, %433, %436, %439, %442, %445, %181 : tensor<8192x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<8x32x256xf32>, tensor<256x3x8x32xf32>, tensor<256x1024xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<8x32x256xf32>, tensor<256x3x8x32xf32>, tensor<256x1024xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<8192x256xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<8x32x256xf32>, tensor<256x3x8x32xf32>, tensor<256x1024xf32>, tensor<1024x256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<8x32x256xf32>, tensor<256x3x8x32xf32>, tensor<256x1024xf32>, tensor<256xf32>, tensor<128x256xf32>, tensor<f32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where(%arg0: tensor<128x128xi1>, %arg1: tensor<32x8x128x128xf32>, %arg2: tensor<f32>) -> (tensor<32x8x128x128xf32>, tensor<32x8x128x128xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<32x8x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<32x8x128x128xi1>, tensor<32x8x128x128xf32>
    return %3, %1 : tensor<32x8x128x128xf32>, tensor<32x8x128x128xi1>
  }
  func.func private @relu(%arg0: tensor<32x128x1024xf32>) -> tensor<32x128x1024xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128x1024xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x128x1024xf32>
    return %1 : tensor<32x128x1024xf32>
  }
  func.func private @log_softmax(%arg0: tensor<32x128x8192xf32>) -> (tensor<32x128x8192xf32>, tensor<32x128x8192xf32>, tensor<32x128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<32x128x8192xf32>, tensor<f32>) -> tensor<32x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<32x128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x8192xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<32x128x8192xf32>
    %6 = stablehlo.exponential %5 : tensor<32x128x8192xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<32x128x8192xf32>, tensor<f32>) -> tensor<32x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %9 = stablehlo.log %8 : tensor<32x128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<32x128x1xf32>) -> tensor<32x128x8192xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<32x128x8192xf32>
    return %11, %6, %8 : tensor<32x128x8192xf32>, tensor<32x128x8192xf32>, tensor<32x128x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<32x128xi32>) -> tensor<32x128x8192xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<32x128xi32>) -> tensor<32x128x1xi32>
    %1 = stablehlo.iota dim = 2 : tensor<1x1x8192xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<32x128x1xi32>) -> tensor<32x128x8192xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x1x8192xi32>) -> tensor<32x128x8192xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<32x128x8192xi32>, tensor<32x128x8192xi32>) -> tensor<32x128x8192xi1>
    %5 = stablehlo.convert %4 : (tensor<32x128x8192xi1>) -> tensor<32x128x8192xf32>
    return %5 : tensor<32x128x8192xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<32x128x8192xf32>, %arg1: tensor<32x128x1xf32>, %arg2: tensor<32x128x8192xf32>) -> tensor<32x128x8192xf32> {
    %0 = stablehlo.negate %arg2 : tensor<32x128x8192xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<32x128x8192xf32>, tensor<f32>) -> tensor<32x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<32x128xf32>) -> tensor<32x128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<32x128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<32x128x1xf32>, tensor<f32>) -> tensor<32x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<32x128xf32>) -> tensor<32x128x8192xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<32x128x8192xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<32x128x8192xf32>
    return %7 : tensor<32x128x8192xf32>
  }
  func.func private @_where_1(%arg0: tensor<32x8x128x128xi1>, %arg1: tensor<32x8x128x128xf32>) -> tensor<32x8x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x8x128x128xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<32x8x128x128xi1>, tensor<32x8x128x128xf32>
    return %1 : tensor<32x8x128x128xf32>
  }
}

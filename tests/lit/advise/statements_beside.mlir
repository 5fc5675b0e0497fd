// A step of a decoder with explicit axes, whose cache is sharded along time. The rows that it writes to the cache and the
// mask of them, which JAX broadcasts to the shape of the cache, are resharded to be like it: they change with the cache.
// The mask has no dimension for the axis then, so that it is not sharded.
// RUN: sdy-opt %s --check | filecheck %s
// RUN: sdy-opt %s --advise -o %t.mlir
// RUN: filecheck %s --check-prefix=OUT --input-file=%t.mlir

// CHECK:      1. shard the input cache as P('data', None, 'tp'); P('data', 'tp') for the reshard at model.py:7;
// CHECK-NEXT: P() for the reshard at model.py:8 (now P('data', 'tp'), and P('data') for line 7, and
// CHECK-NEXT: P(None, 'tp') for line 8): -1.51 MiB sent
// OUT:      %arg2: tensor<32x1024x8x16xf32> {{.*}}[{"data"}, {}, {"tp"}, {}]
// OUT:      sdy.sharding_constraint {{.*}} <@mesh, [{"data"}, {"tp"}, {}]> : tensor<32x8x16xf32>
// OUT:      sdy.sharding_constraint {{.*}} <@mesh, [{"data"}, {"tp"}, {}]> : tensor<32x8x16xf32>
// OUT:      sdy.sharding_constraint {{.*}} <@mesh, [{}, {}, {}, {}]> : tensor<1x1024x1x1xi1>
// OUT-NEXT: sdy.sharding_constraint {{.*}} <@mesh, [{}, {}, {}, {}]> : tensor<1x1024x1x1xi1>
#product = loc("jit(f)/bd,dhk->bhk/dot_general"("f"("model.py":6:8)))
#rows = loc("jit(f)/reshard"("f"("model.py":7:8)))
#steps = loc("jit(f)/iota"("f"("model.py":8:22)))
#equal = loc("jit(f)/eq"("f"("model.py":8:22)))
#mask = loc("jit(f)/broadcast_in_dim"("f"("model.py":8:21)))
#at = loc("jit(f)/reshard"("f"("model.py":8:9)))
#row = loc("jit(f)/broadcast_in_dim"("f"("model.py":9:24)))
#where = loc("jit(f)/jit(_where)"("f"("model.py":9:10)))
#broadcast = loc("broadcast_in_dim")
#select = loc("select_n")
#read = loc("jit(f)/reshard"("f"("model.py":10:11)))
#sum = loc("jit(f)/reduce_sum"("f"("model.py":11:16)))
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "tp"=4]> {stablehlo.mesh = {axes = [{name = "data", size = 2 : i64}, {name = "tp", size = 4 : i64}]}}
  func.func public @main(%arg0: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("x"), %arg1: tensor<64x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"tp"}, {}]>} loc("w"), %arg2: tensor<32x1024x8x16xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"tp"}, {}, {}]>} loc("cache"), %arg3: tensor<i32> loc("pos")) -> (tensor<32x1024x8x16xf32> {jax.result_info = "result[0]"}, tensor<32x8x16xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x8x16xf32>) -> tensor<32x8x16xf32> loc(#product)
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"tp"}, {}]> : tensor<32x8x16xf32> loc(#product)
    %2 = sdy.sharding_constraint %1 <@mesh, [{"data"}, {}, {}]> : tensor<32x8x16xf32> loc(#rows)
    %3 = stablehlo.iota dim = 0 : tensor<1024xi32> loc(#steps)
    %4 = sdy.sharding_constraint %3 <@mesh, [{}]> : tensor<1024xi32> loc(#steps)
    %5 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<i32>) -> tensor<1024xi32> loc(#equal)
    %6 = sdy.sharding_constraint %5 <@mesh, [{}]> : tensor<1024xi32> loc(#equal)
    %7 = stablehlo.compare EQ, %4, %6, SIGNED : (tensor<1024xi32>, tensor<1024xi32>) -> tensor<1024xi1> loc(#equal)
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<1024xi1>) -> tensor<1x1024x1x1xi1> loc(#mask)
    %9 = sdy.sharding_constraint %8 <@mesh, [{}, {}, {}, {}]> : tensor<1x1024x1x1xi1> loc(#mask)
    %10 = sdy.sharding_constraint %9 <@mesh, [{}, {"tp"}, {}, {}]> : tensor<1x1024x1x1xi1> loc(#at)
    %11 = stablehlo.broadcast_in_dim %2, dims = [0, 2, 3] : (tensor<32x8x16xf32>) -> tensor<32x1x8x16xf32> loc(#row)
    %12 = sdy.sharding_constraint %11 <@mesh, [{"data"}, {}, {}, {}]> : tensor<32x1x8x16xf32> loc(#row)
    %13 = call @_where(%10, %12, %arg2) : (tensor<1x1024x1x1xi1>, tensor<32x1x8x16xf32>, tensor<32x1024x8x16xf32>) -> tensor<32x1024x8x16xf32> loc(#where)
    %14 = sdy.sharding_constraint %13 <@mesh, [{"data"}, {"tp"}, {}, {}]> : tensor<32x1024x8x16xf32> loc(#where)
    %15 = sdy.sharding_constraint %14 <@mesh, [{"data"}, {}, {"tp"}, {}]> : tensor<32x1024x8x16xf32> loc(#read)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#sum)
    %16 = stablehlo.reduce(%15 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x1024x8x16xf32>, tensor<f32>) -> tensor<32x8x16xf32> loc(#sum)
    %17 = sdy.sharding_constraint %16 <@mesh, [{"data"}, {"tp"}, {}]> : tensor<32x8x16xf32> loc(#sum)
    return %14, %17 : tensor<32x1024x8x16xf32>, tensor<32x8x16xf32>
  }
  func.func private @_where(%arg0: tensor<1x1024x1x1xi1> , %arg1: tensor<32x1x8x16xf32> , %arg2: tensor<32x1024x8x16xf32> ) -> tensor<32x1024x8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x1024x1x1xi1>) -> tensor<32x1024x8x16xi1> loc(#broadcast)
    %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {"tp"}, {}, {}]> : tensor<32x1024x8x16xi1> loc(#broadcast)
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1, 2, 3] : (tensor<32x1x8x16xf32>) -> tensor<32x1024x8x16xf32> loc(#broadcast)
    %3 = sdy.sharding_constraint %2 <@mesh, [{"data"}, {"tp"}, {}, {}]> : tensor<32x1024x8x16xf32> loc(#broadcast)
    %4 = stablehlo.select %1, %3, %arg2 : tensor<32x1024x8x16xi1>, tensor<32x1024x8x16xf32> loc(#select)
    %5 = sdy.sharding_constraint %4 <@mesh, [{"data"}, {"tp"}, {}, {}]> : tensor<32x1024x8x16xf32> loc(#select)
    return %5 : tensor<32x1024x8x16xf32>
  } loc(#where)
}

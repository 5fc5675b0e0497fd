// RUN: split-file %s %t
// RUN: sdy-opt %t/swapped.mlir --advise --report-rows=4 | filecheck %s --check-prefix=SWAPPED
// RUN: sdy-opt %t/lost.mlir --advise --report-rows=0 | filecheck %s --check-prefix=LOST

// A constraint with its axes in the wrong dimensions reshards what it constrains.
//
// SWAPPED:      1. write P('data', 'model') in the with_sharding_constraint at model.py:42
// SWAPPED-NEXT:   now P('model', 'data')
// SWAPPED-NEXT:   on the wire 60.0 KiB → 0 B (−100.0%)
// SWAPPED:        conflict-free: no activation is resharded
// SWAPPED-NOT:  in the with_sharding_constraint at model.py:42

//--- swapped.mlir
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(
    %a: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %b: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> tensor<64x128xf32> {
  %0 = stablehlo.add %a, %b : tensor<64x128xf32> loc("add"("model.py":41:0))
  %1 = sdy.sharding_constraint %0 <@mesh, [{"model"}, {"data"}]> : tensor<64x128xf32>
    loc("sharding_constraint"("model.py":42:0))
  %2 = stablehlo.multiply %1, %a : tensor<64x128xf32> loc("mul"("model.py":43:0))
  return %2 : tensor<64x128xf32>
}

// Without a constraint, the activations get the sharding of the embedding instead of that of the tokens. A
// constraint after the lookup is one of the changes that help.
//
// LOST:      {{[0-9]+}}. jax.lax.with_sharding_constraint(the gather at model.py:7, P('data'))
// LOST-NEXT:   now without an annotation

//--- lost.mlir
sdy.mesh @mesh = <["data"=4]>
func.func @main(
    %embedding: tensor<512x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>} loc("embedding"),
    %weight: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("weight"),
    %other: tensor<256x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>} loc("other"),
    %tokens: tensor<64x512x1xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {}]>} loc("tokens"))
    -> tensor<64x512x256xf32> {
  %0 = "stablehlo.gather"(%embedding, %tokens) <{
    dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 256>}>
    : (tensor<512x256xf32>, tensor<64x512x1xi32>) -> tensor<64x512x256xf32> loc("gather"("model.py":7:0))
  %1 = stablehlo.dot_general %0, %weight, contracting_dims = [2] x [0]
    : (tensor<64x512x256xf32>, tensor<256x256xf32>) -> tensor<64x512x256xf32> loc("dot"("model.py":8:0))
  %2 = stablehlo.tanh %1 : tensor<64x512x256xf32> loc("tanh"("model.py":8:0))
  %3 = stablehlo.dot_general %2, %other, contracting_dims = [2] x [0]
    : (tensor<64x512x256xf32>, tensor<256x256xf32>) -> tensor<64x512x256xf32> loc("dot"("model.py":9:0))
  return %3 : tensor<64x512x256xf32>
}

// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings | filecheck %s

sdy.mesh @mesh = <["x"=8]>

// The entry point may be a declaration.
// CHECK: func.func private @declared(tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>}) -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})
func.func private @declared(tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)4, ?}]>})
    -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>})

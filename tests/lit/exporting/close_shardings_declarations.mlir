// RUN: sdy-opt %s -sdy-close-shardings | filecheck %s

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Arguments and results of a declaration.
// CHECK: func.func private @declared(tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>})
func.func private @declared(tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}]>})

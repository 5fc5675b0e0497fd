// RUN: sdy-opt %s --lint=uneven-sharding --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4, "y"=2]>

// Each shard has 3 rows: 12 in all, 2 of which are padding.
// expected-warning@+1 {{dimension 0 of argument 0 of @input has size 10, which "x" does not divide: 4 shards of size 3 have 2 of padding}}
func.func @input(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<10x8xf32> {
  return %a : tensor<10x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// 5 rows on 4 devices are shards of 2 rows, so the last shard has padding only.
// expected-warning@+1 {{dimension 0 of result 0 of @output has size 5, which "x" does not divide: 4 shards of size 2 have 3 of padding; 1 shard has nothing else}}
func.func @output(%a: tensor<5x8xf32>) -> (tensor<5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<5x8xf32>
}

// -----

sdy.mesh @mesh = <["x"=4, "y"=2]>

// The size must be a multiple of the product of all axes of the dimension.
func.func @constraint(%a: tensor<12x8xf32>) -> tensor<12x8xf32> {
  // expected-warning@+1 {{dimension 0 of the constrained value has size 12, which "x", "y" does not divide: 8 shards of size 2 have 4 of padding; 2 shards have nothing else}}
  %0 = sdy.sharding_constraint %a <@mesh, [{"x", "y"}, {}]> : tensor<12x8xf32>
  return %0 : tensor<12x8xf32>
}

// RUN: sdy-opt %s --lint=uneven-sharding --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4, "y"=2]>

// 8 is a multiple of 4, and of 4 * 2.
func.func @divisible(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) -> tensor<8x8xf32> {
  return %a : tensor<8x8xf32>
}

// Only the entry point of the program has inputs that a caller shards.
func.func private @callee(%a: tensor<10x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<10x8xf32> {
  return %a : tensor<10x8xf32>
}

// An empty dimension has no rows to divide, and a dynamic size is unknown.
func.func @empty(%a: tensor<0x?xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<0x?xf32> {
  return %a : tensor<0x?xf32>
}

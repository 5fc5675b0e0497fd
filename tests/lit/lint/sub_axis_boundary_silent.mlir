// RUN: sdy-opt %s --lint=sub-axis-boundary --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// Inside of the program, sub-axes are shardings like any other.
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)2}, {"x":(2)2}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// RUN: sdy-opt %s --lint=replicating-custom-call --lint-config=- --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=4]>

// With a sharding rule, the rows stay where they are.
func.func @with_rule(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<512x512xf32> {
  %0 = stablehlo.custom_call @my_kernel(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=512, j=512}, custom>} : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

sdy.mesh @mesh = <["x"=4]>

// The operand is on every device already.
func.func @replicated(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<512x512xf32> {
  %0 = stablehlo.custom_call @my_kernel(%a) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

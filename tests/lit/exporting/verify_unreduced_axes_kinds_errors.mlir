// Operations may introduce partial results of any one kind, but matrix multiplications only sums.
// RUN: sdy-opt %s -sdy-verify-unreduced-axes -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

func.func @maximum(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @local_maximum(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @several_kinds(%a: tensor<8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op results introduce unreduced axes with conflicting reduction ops}}
  %0:2 = stablehlo.custom_call @bounds(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>, <@mesh, [{}], unreduced=min{"x"}>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @dot(%a: tensor<8x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op cannot introduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = stablehlo.dot %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced=max{"x"}>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}

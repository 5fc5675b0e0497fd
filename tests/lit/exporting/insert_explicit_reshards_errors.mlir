// RUN: sdy-opt %s -split-input-file -verify-diagnostics -sdy-insert-explicit-reshards

// An operation without results cannot leave the reduction of its operand to its users.
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @no_result(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-error @+1 {{Some operands have unreduced axes but the operation has no results.}}
  stablehlo.custom_call @foo(%a) : (tensor<8xf32>) -> ()
  return
}

// -----

// All results of an operation must have the same unreduced axes.
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @mismatch(%a: tensor<8xf32>) {
  // expected-error @+1 {{Unreduced axes mismatch between results for multi-result op.}}
  %0:2 = stablehlo.custom_call @foo(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>, <@mesh, [{}]>]>} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

// An unreduced value cannot be used on a mesh with another device order.
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @shuffled = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>

func.func @other_mesh(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-error @+1 {{source and user shardings have different meshes for unreduced axes.}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@shuffled, [{}]>]>} : tensor<8xf32>
  return
}

// -----

// Neither can a value become unreduced on a mesh with another device order.
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @shuffled = <["x"=2, "y"=2], device_ids=[3, 1, 2, 0]>

func.func @to_other_mesh(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error @+1 {{Input and output shardings have different meshes. The result has non-empty unreduced axes.}}
  %0 = sdy.reshard %a <@shuffled, [{}], unreduced={"x"}> : tensor<8xf32>
  return
}

// -----

// A reshard cannot remove one unreduced axis and add another.
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @both_ways(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
  // expected-error @+1 {{Both input and output have unreduced axes that does not appear in the other.}}
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return
}

// -----

// The result is unreduced along "x" only, and the operands differ in the reduction factor.
sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @which_sum(%lhs: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>}, %rhs: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  // expected-error @+1 {{the result has unreduced axes while the operand has incompatible sharding along reduction factors.}}
  %0 = stablehlo.dot %lhs, %rhs {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return
}

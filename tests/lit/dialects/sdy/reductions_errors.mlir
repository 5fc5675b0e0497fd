// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// The kinds of reductions of operands, results and collectives must be the same.

sdy.mesh @mesh = <["x"=2]>

// Partial maxima must not be summed.
func.func @sum_of_maxima(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op cannot reduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @minimum_of_maxima(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.reduce_scatter' op cannot reduce 'max' unreduced axes. Expected 'min'.}}
  %0 = sdy.reduce_scatter min [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// A collective introduces no partial maxima.
func.func @new_maxima(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op cannot add new unreduced axis 'y'.}}
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}], unreduced=max{"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A reshard cannot make sums of maxima.
func.func @change(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.reshard' op cannot change the reduction operator of kept unreduced axes from max to sum.}}
  %0 = sdy.reshard %a <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The check looks through propagation barriers.
func.func @barrier(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<8xf32>
  // expected-error @+1 {{'sdy.reshard' op cannot change the reduction operator of kept unreduced axes from max to min.}}
  %1 = sdy.reshard %0 <@mesh, [{}], unreduced=min{"x"}> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_kind(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{invalid reduction_op attribute specification: "product"}}
  %0 = sdy.all_reduce "product" {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// expected-error @+2 {{expected '{'}}
// expected-error @+1 {{failed to parse Sdy_TensorSharding parameter 'unreduced_axes'}}
func.func @unknown_word(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=product{"x"}>}) {
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Changes that keep the kind are valid: an axis less, another axis of a sum, other dimensions.
func.func @valid(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.reshard %a <@mesh, [{?}], unreduced=max{"x"}> : tensor<8xf32>
  %1 = sdy.reshard %0 <@mesh, [{"x"}]> : tensor<8xf32>
  %2 = sdy.reshard %1 <@mesh, [{}], unreduced={"x"}> : tensor<8xf32>
  return %2 : tensor<8xf32>
}

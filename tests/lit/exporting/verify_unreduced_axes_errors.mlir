// RUN: sdy-opt %s -sdy-verify-unreduced-axes -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>

// Partial results would be used as if they were the sum.
func.func @dropped(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.negate' op dropped unreduced axis 'x' without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Each function is checked, up to its first error.
func.func @dropped_by_missing_sharding(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.negate' op dropped unreduced axis 'y'}}
  %0 = stablehlo.negate %a : tensor<8xf32>
  %1 = stablehlo.abs %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The partial results of a sum are no partial maxima.
func.func @wrong_kind(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.reduce' op cannot introduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A product has no kind of its own, so its result cannot be unreduced.
func.func @product(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %i: tensor<f32>) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.reduce' op cannot add new unreduced axis 'x'.}}
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.multiply across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @dot_of_maxima(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  // expected-error @+1 {{'stablehlo.dot' op cannot introduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = stablehlo.dot %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced=max{"x"}>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @changed_kind(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.negate' op cannot change the reduction operator of kept unreduced axes from max to min.}}
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=min{"x"}>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Before partitioning, what an all-reduce without a sharding combines is unknown.
func.func @unknown_operand(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op operand must be sharded.}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An all-reduce introduces no partial results.
func.func @introduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.all_reduce' op cannot add new unreduced axis 'y'.}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}], unreduced={"y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The body of a collective on shards has a kind too.
func.func @shards(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'stablehlo.all_reduce' op cannot reduce 'max' unreduced axes. Expected 'sum'.}}
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%b: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %b, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @call_argument(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op has unreduced axes mismatch for 'x, y' at call argument 0.}}
  %0 = call @callee(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @call_result(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'func.call' op has unreduced axes mismatch for 'y' at call result 0.}}
  %0 = call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func private @callee(tensor<8xf32>) -> tensor<8xf32>

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @returned(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  // expected-error @+1 {{'func.return' op has unreduced axes mismatch for 'x' at return value 0 without a blessed operation (e.g., sdy.reshard). This is an invalid transition from unreduced to reduced.}}
  return %a : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @returned_from_body(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"y"}>}) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{}], unreduced={"y"}>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<8xf32>) {
    // expected-error @+1 {{'sdy.return' op has unreduced axes mismatch for 'y' at return value 0 without a blessed operation}}
    sdy.return %b : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Axes may become unreduced for maxima and minima too, but keep the kind of those that were.
// RUN: sdy-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @sharded_to_unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharded_to_unreduced [{"x"}] %a out_sharding=<@mesh, [{}], unreduced=max{"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @replicated_to_unreduced(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"y"}>}) -> tensor<8xf32> {
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}], unreduced=min{"x", "y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @constraint(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %a <@mesh, [{}], unreduced=max{"x"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-NOT: 'sdy.sharded_to_unreduced' op
func.func @other_kind(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], unreduced=max{"y"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.sharded_to_unreduced' op cannot change reduction_op of existing unreduced axes}}
  %0 = sdy.sharded_to_unreduced [{"x"}] %a out_sharding=<@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>

func.func @other_kind(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"y"}>}) -> tensor<8xf32> {
  // expected-error @+1 {{'sdy.replicated_to_unreduced' op cannot change reduction_op of existing unreduced axes}}
  %0 = sdy.replicated_to_unreduced {"x"} %a out_sharding=<@mesh, [{}], unreduced=min{"x", "y"}> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: sdy-opt %s -xla-sdy-stablehlo-import-pipeline -split-input-file -verify-diagnostics

// expected-error@+1 {{invalid sharding {devices=[3]<=[8]}: [8] has 8 devices, but the tiles have 3}}
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[3]<=[8]}"}) {
  return
}

// -----

// expected-error@+1 {{sharding {devices=[2,1]<=[2]} is of a tensor of rank 2, not 1}}
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) {
  return
}

// -----

// expected-error@+1 {{has 4 devices, {devices=[2]<=[2]} has 2}}
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, %b: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) {
  return
}

// -----

// expected-error@+1 {{the shardings have no common mesh: their axes have 3 and 2 devices, neither of which divides the other}}
module {
  func.func @main(%a: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}, %b: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
    return
  }
}

// -----

// expected-error@+1 {{sharding {devices=[4]0,2,3,1} lists devices in an order that no mesh of iota has}}
func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[4]0,2,3,1}"}) {
  return
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected CustomCallOp with a sharding attribute}}
  %0 = stablehlo.custom_call @Sharding(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{unspecified_dims has dimension 1, the tensor has rank 1}}
  %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[1]", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<8xf32>) {
  // expected-error@+1 {{expected CustomCallOp with a sharding group id.}}
  stablehlo.custom_call @xla.sdy.ShardingGroup(%a) {has_side_effect = true} : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected PropagationBarrier CustomCall Op with a propagation direction.}}
  %0 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @xla.sdy.manual_computation_body(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected at least one operand of @xla.sdy.manual_computation_body to be produced by a xla.sdy.GlobalToLocalShape CustomCallOp}}
  %0 = call @xla.sdy.manual_computation_body(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{@xla.sdy.LocalToGlobalShape is not at a call of a manual computation's body}}
  %0 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error@+2 {{invalid frontend attribute `xla.sdy.sharding`:}}
// expected-note@+1 {{#sdy.sharding<@mesh, [{x}]>}}
func.func @main(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{x}]>"}}) {
  return
}

// -----

// expected-error@+1 {{frontend attribute `xla.sdy.sharding` is no tensor sharding: 7 : i64}}
func.func @main(%a: tensor<8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "7 : i64"}}) {
  return
}

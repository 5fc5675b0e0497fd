// RUN: sdy-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>

func.func @shardings_of_operands(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op operand shardings don't match number of values: 2 shardings vs 1 values}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] out_shardings=[] manual_axes={} (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @unknown_mesh(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op result - unknown mesh: @mesh}}
  %0 = sdy.manual_computation(%arg) in_shardings=[<mesh<["x"=2]>, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={} (%in: tensor<8xf32>) {
    sdy.return %in : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @number_of_arguments(%arg: tensor<8xf32>) {
  // expected-error @+1 {{number of op operands and region operands must match. Op has 1 op operands and 0 region operands}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} () {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @local_shape(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op operand shape, corresponding sharding, and region operand shape at index 0 must match. Expected local shape 'tensor<4xf32>', actual local shape 'tensor<8xf32>'}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @local_shape_of_result(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op result shape, corresponding sharding, and region result shape at index 0 must match. Expected local shape 'tensor<4xf32>', actual local shape 'tensor<8xf32>'}}
  %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%in: tensor<8xf32>) {
    sdy.return %in : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=4]>

func.func @uneven(%arg: tensor<6xf32>) {
  // expected-error @+1 {{op operand dimension size 6 is not divisible by the manual axes size 4}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[] manual_axes={"x"} (%in: tensor<2xf32>) {
    sdy.return
  } : (tensor<6xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>

func.func @manual_after_free(%arg: tensor<8x8xf32>) {
  // expected-error @+1 {{op operand sharding at index 0 must have all manual axes come before free axes in its dimension sharding at index 1. Saw manual axis "z" after free axis "y"}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}, {"x", "y", "z"}]>] out_shardings=[] manual_axes={"x", "z"} (%in: tensor<8x2xf32>) {
    sdy.return
  } : (tensor<8x8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>
sdy.mesh @other = <["x"=4]>

func.func @two_meshes(%arg: tensor<8xf32>) {
  // expected-error @+1 {{all in and out shardings must be bound to the same mesh or an empty mesh.}}
  %0 = sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[<@other, [{}]>] manual_axes={"x"} (%in: tensor<8xf32>) {
    sdy.return %in : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @unknown_axis(%arg: tensor<8xf32>) {
  // expected-error @+1 {{unknown manual axis: "y"}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x", "y"} (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// Sharding along a manual axis inside the body.
func.func @bound_axis(%arg: tensor<8xf32>) {
  // expected-note @+1 {{parent bounding this axis as manual}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%in: tensor<8xf32>) {
    // expected-error @+1 {{'sdy.sharding_constraint' op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    %0 = sdy.sharding_constraint %in <@mesh, [{"x"}]> : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// A manual axis that is bound again.
func.func @bound_twice(%arg: tensor<8xf32>) {
  // expected-note @+1 {{parent bounding this axis as manual}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%in: tensor<8xf32>) {
    // expected-error @+1 {{op operates on axis "x" which is already bound by a parent sdy.manual_computation op}}
    sdy.manual_computation(%in) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={"x"} (%inner: tensor<8xf32>) {
      sdy.return
    } : (tensor<8xf32>) -> ()
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @value_from_outside(%arg: tensor<8xf32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
    // expected-error @+1 {{'stablehlo.negate' op using value defined outside the region}}
    %0 = stablehlo.negate %arg : tensor<8xf32>
    sdy.return
  } : () -> ()
  return
}

// -----

func.func @no_body() {
  // expected-error @+1 {{region #0 ('body') failed to verify constraint: region with 1 blocks}}
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  } : () -> ()
  return
}

// -----

func.func @order_of_attributes() {
  // expected-error @+1 {{custom op 'sdy.manual_computation' expected 'in_shardings'}}
  sdy.manual_computation() out_shardings=[] in_shardings=[] manual_axes={} () {
    sdy.return
  } : () -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The name of a manual axis is a string.
func.func @manual_axis_without_quotes(%arg: tensor<8xf32>) {
  // expected-error @+2 {{expected attribute value}}
  // expected-error @+1 {{custom op 'sdy.manual_computation' failed to parse Sdy_ManualAxes parameter 'value' which is to be a `::llvm::ArrayRef<StringAttr>`}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={x} (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @manual_axis_of_another_kind(%arg: tensor<8xf32>) {
  // expected-error @+2 {{custom op 'sdy.manual_computation' invalid kind of attribute specified}}
  // expected-error @+1 {{custom op 'sdy.manual_computation' failed to parse Sdy_ManualAxes parameter 'value' which is to be a `::llvm::ArrayRef<StringAttr>`}}
  sdy.manual_computation(%arg) in_shardings=[<@mesh, [{}]>] out_shardings=[] manual_axes={1} (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

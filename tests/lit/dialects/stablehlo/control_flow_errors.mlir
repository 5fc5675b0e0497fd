// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// The arguments of the condition must be compatible with the operands.
func.func @condition_arguments(%a: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{expect operands to be compatible with condition block arguments but got 'tensor<4xf32>' vs 'tensor<5xf32>'}}
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<5xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<4xf32>):
    stablehlo.return %x : tensor<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The values that the body returns must be compatible with the operands.
func.func @body_returns(%a: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error @+1 {{expect operands to be compatible with body block return types but got 'tensor<4xf32>' vs 'tensor<i1>'}}
  %0 = stablehlo.while(%x = %a) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %p : tensor<i1>
  }
  return
}

// -----

func.func @condition_returns(%a: tensor<4xf32>) {
  // expected-error @+1 {{expect condition block return a zero-ranked tensor of i1 but got 'tensor<4xf32>'}}
  %0 = stablehlo.while(%x = %a) : tensor<4xf32> cond {
    stablehlo.return %x : tensor<4xf32>
  } do {
    stablehlo.return %x : tensor<4xf32>
  }
  return
}

// -----

func.func @empty_block(%a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.while' op expects a non-empty block}}
  %0 = stablehlo.while(%x = %a) : tensor<4xf32> cond {} do {}
  return
}

// -----

func.func @no_region() {
  // expected-error @+1 {{'stablehlo.while' op region #0 ('cond') failed to verify constraint: region with 1 blocks}}
  stablehlo.while() cond {} do {}
  return
}

// -----

// Regions must end in stablehlo.return.
func.func @terminator(%p: tensor<i1>, %a: tensor<4xf32>) {
  // expected-error @+2 {{'stablehlo.if' op expects regions to end with 'stablehlo.return', found 'sdy.return'}}
  // expected-note @+1 {{in custom textual format, the absence of terminator implies 'stablehlo.return'}}
  %0 = "stablehlo.if"(%p) ({
    sdy.return %a : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

func.func @two_blocks(%n: tensor<i32>, %a: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.case' op expects region #0 to have 0 or 1 blocks}}
  %0 = "stablehlo.case"(%n) ({
    stablehlo.return %a : tensor<4xf32>
  ^bb1:
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_branch(%n: tensor<i32>) {
  // expected-error @+2 {{expect at least one branch}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%n) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @unlike_branches(%n: tensor<i32>, %a: tensor<4xf32>) {
  // expected-error @+2 {{branch 0 and branch 1 have mismatched return types: 'tensor<4xf32>' vs 'tensor<i32>'}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%n) ({
    stablehlo.return %a : tensor<4xf32>
  }, {
    stablehlo.return %n : tensor<i32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @inferred(%n: tensor<i32>, %a: tensor<4xf32>) {
  // expected-error @+2 {{'stablehlo.case' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %0 = "stablehlo.case"(%n) ({
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @barrier(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op requires the same type for operand and result at index 0}}
  %0:2 = "stablehlo.optimization_barrier"(%a, %b) : (tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func @missing_word(%a: tensor<4xf32>) {
  // expected-error @+1 {{custom op 'stablehlo.while' expected 'cond'}}
  %0 = stablehlo.while(%x = %a) : tensor<4xf32> do {}
  return
}

// -----

func.func @map_arity(%a: tensor<4xf32>) {
  // expected-error @+2 {{expects number of operands to match the arity of map computation, but got: 1 and 2}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

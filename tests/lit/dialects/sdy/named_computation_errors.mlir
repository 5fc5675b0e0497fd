// RUN: sdy-opt %s -split-input-file -verify-diagnostics

func.func @number_of_arguments(%arg: tensor<8xf32>) {
  // expected-error @+1 {{number of block arguments must match the number of operands: 0 != 1}}
  sdy.named_computation<"inner">(%arg) () {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @type_of_argument(%arg: tensor<8xf32>) {
  // expected-error @+1 {{expected the type of the 0'th block argument to match the type of the corresponding operand: 'tensor<4xf32>' vs 'tensor<8xf32>'}}
  sdy.named_computation<"inner">(%arg) (%in: tensor<4xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @type_of_result(%arg: tensor<8xf32>) {
  // expected-error @+2 {{op inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<4xf32>'}}
  // expected-error @+1 {{op failed to infer returned types}}
  %0 = sdy.named_computation<"inner">(%arg) (%in: tensor<8xf32>) {
    sdy.return %in : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown_mesh(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op in_shardings - unknown mesh: @mesh}}
  sdy.named_computation<"inner">(%arg) in_shardings=[<@mesh, [{}]>] (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

func.func @number_of_shardings(%arg: tensor<8xf32>) {
  // expected-error @+1 {{op out_shardings shardings don't match number of values: 2 shardings vs 0 values}}
  sdy.named_computation<"inner">(%arg) out_shardings=[<@mesh, [{}]>, <@mesh, [{}]>] (%in: tensor<8xf32>) {
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @terminator() {
  // expected-error @+2 {{op expects regions to end with 'sdy.return', found 'stablehlo.return'}}
  // expected-note @+1 {{in custom textual format, the absence of terminator implies 'sdy.return'}}
  sdy.named_computation<"inner">() () {
    stablehlo.return
  } : () -> ()
  return
}

// -----

func.func @two_blocks() {
  // expected-error @+1 {{op expects region #0 to have 0 or 1 blocks}}
  "sdy.named_computation"() <{name = "inner"}> ({
    sdy.return
  ^bb1:
    sdy.return
  }) : () -> ()
  return
}

// -----

func.func @return_comes_last(%arg: tensor<8xf32>) {
  // expected-error @+1 {{'sdy.return' op must be the last operation in the parent block}}
  sdy.return %arg : tensor<8xf32>
  return
}

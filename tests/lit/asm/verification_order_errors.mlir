// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// Isolated operations are verified after everything else in the enclosing operation. An
// error in one of them does not hide errors in the next.
sdy.mesh @mesh = <["x"=2]>
func.func @isolated_next_to_each_other(%a: tensor<8xf32>) {
  sdy.named_computation<"first">(%a) (%b: tensor<8xf32>) {
    // expected-error @+1 {{'stablehlo.negate' op result - unknown axis name: "y"}}
    %0 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  sdy.named_computation<"second">(%a) (%b: tensor<8xf32>) {
    // expected-error @+1 {{'stablehlo.negate' op result - unknown axis name: "z"}}
    %0 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  return
}

// -----

// The isolated operation inside the case is verified with the case, the one directly in the function after the
// case. So the error inside the case ends verification, and the other one is not reported.
sdy.mesh @mesh = <["x"=2]>
func.func @isolated_further_inside(%a: tensor<8xf32>, %number: tensor<i32>) {
  sdy.named_computation<"first">(%a) (%b: tensor<8xf32>) {
    %0 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
    sdy.return
  } : (tensor<8xf32>) -> ()
  "stablehlo.case"(%number) ({
    sdy.named_computation<"inside">(%a) (%b: tensor<8xf32>) {
      // expected-error @+1 {{'stablehlo.negate' op result - unknown axis name: "z"}}
      %0 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : tensor<8xf32>
      sdy.return
    } : (tensor<8xf32>) -> ()
    stablehlo.return
  }) : (tensor<i32>) -> ()
  return
}

// -----

// Dominance is checked in the function's own region, then in nested ones, from the last operation to the first.
func.func @use_before_definition(%a: tensor<i32>) {
  "stablehlo.case"(%a) ({
    %0 = stablehlo.negate %late : tensor<i32>
    stablehlo.return
  }) : (tensor<i32>) -> ()
  "stablehlo.case"(%a) ({
    // expected-error @+1 {{operand #0 does not dominate this use}}
    %0 = stablehlo.negate %late : tensor<i32>
    stablehlo.return
  }) : (tensor<i32>) -> ()
  // expected-note @+1 {{operand defined here (op in a parent region)}}
  %late = stablehlo.negate %a : tensor<i32>
  return
}

// -----

// Errors of a block come before those of its operations.
sdy.mesh @mesh = <["x"=2]>
func.func @branch_inside(%a: tensor<8xf32>) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  // expected-error @+1 {{operation with block successors must terminate its parent block}}
  cf.br ^end
  %1 = stablehlo.negate %a : tensor<8xf32>
^end:
  return
}

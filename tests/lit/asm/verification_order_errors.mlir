// RUN: sdy-opt %s -split-input-file -verify-diagnostics

// Isolated operations are verified when all else in the operation around them has been. Among themselves an
// error in one does not hide those in the next.
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

// Those inside the case are verified with the case, and the first one, which stands directly in the function,
// would be after it: an error in the case comes first, and is the last.
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

// Uses are checked right in the function, then in what it holds, from the last operation to the first.
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

// What is wrong with a block is said before what is wrong with the operations in it.
sdy.mesh @mesh = <["x"=2]>
func.func @branch_inside(%a: tensor<8xf32>) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  // expected-error @+1 {{operation with block successors must terminate its parent block}}
  cf.br ^end
  %1 = stablehlo.negate %a : tensor<8xf32>
^end:
  return
}

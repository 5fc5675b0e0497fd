// A value that the source does not have: the help lists similar names.
// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='@main %%12' 2>&1 | filecheck %s --check-prefix=NAME
// NAME:      --explain:1:7: error: no value of this name in @main
// NAME-NEXT: @main %12
// NAME-NEXT:       ^~~
// NAME-NEXT: help: write the name that the value has in the source; the nearest are %0; 'output %12' is the value with this name after the passes

// A name that several functions have.
// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='%%0' 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: --explain:1:1: error: 2 functions have a value of this name
// BOTH: help: choose from '@main %0', '@other %0'

// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='@mian %%0' 2>&1 | filecheck %s --check-prefix=FUNCTION
// FUNCTION: --explain:1:1: error: no function of this name
// FUNCTION: help: did you mean '@main'?

// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='@main result 1' 2>&1 | filecheck %s --check-prefix=RESULT
// RESULT: --explain:1:7: error: the function has 1 result

// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='x' 2>&1 | filecheck %s --check-prefix=SYNTAX
// SYNTAX: --explain:1:1: error: expected the name of a value
// SYNTAX: help: such as "params['w']", '%0', '@main %arg0', '@main result 0', 'output %0' after the passes, 'train.py:12' or '#3' for a collective of the report

// Of several programs, one has what a question is about.
// RUN: sdy-opt %s --split-input-file -sdy-propagation-pipeline --explain='@third %%arg0' | filecheck %s --check-prefix=THIRD
// THIRD: %arg0: f32[8] is not sharded  {{.*}}errors.mlir:67
// RUN: not sdy-opt %s --split-input-file -sdy-propagation-pipeline --explain='@fourth %%0' 2>&1 | filecheck %s --check-prefix=FOURTH
// FOURTH: --explain:1:1: error: no function of this name

// The same for names of the output.
// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='@main output %%7' 2>&1 | filecheck %s --check-prefix=OUTPUT
// OUTPUT:      --explain:1:14: error: no value of this name in the program after the passes
// OUTPUT-NEXT: @main output %7
// OUTPUT-NEXT:              ^~
// OUTPUT-NEXT: help: choose from %arg0, %0

// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='output %%0' 2>&1 | filecheck %s --check-prefix=OUTPUTS
// OUTPUTS: --explain:1:8: error: 2 functions have a value of this name
// OUTPUTS: help: choose from '@main output %0', '@other output %0'

// A line of the Python program, or of the input, has to compute something.
// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='train.py:4' 2>&1 | filecheck %s --check-prefix=LINE
// LINE: --explain:1:1: error: no value is computed on this line
// LINE: help: the nearest lines are 3

// RUN: not sdy-opt %s -sdy-propagation-pipeline --explain='trian.py:3' 2>&1 | filecheck %s --check-prefix=FILE
// FILE: --explain:1:1: error: no operation is from this file
// FILE: help: did you mean 'train.py'?

// Without a propagation pass there is nothing to explain.
// RUN: not sdy-opt %s -cse --explain='@main %%0' 2>&1 | filecheck %s --check-prefix=NO-PASS
// NO-PASS: error: there is nothing to explain: no pass has propagated shardings
// NO-PASS: help: add -sdy-propagation-pipeline

func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32> loc("/home/me/train.py":3:4)
  return %0 : tensor<8xf32>
}

func.func @other(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @third(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  return %arg0 : tensor<8xf32>
}

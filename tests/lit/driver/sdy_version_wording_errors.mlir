// Errors whose wording has changed, and one of the past.
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate 2>&1 | filecheck %s
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --sdy-version=jaxlib-0.11.2 2>&1 | filecheck %s --check-prefix=SEPTEMBER
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --sdy-version=jaxlib-0.10.2 2>&1 | filecheck %s --check-prefix=JUNE

// Since jaxlib 0.12.0.1, maximal shardings are called single-device shardings, and there is advice about tuples.
// CHECK:     error: 'func.func' op arg 0 - a single-device sharding can only have a sharding with rank 0 and no replicated or unreduced axes.
// SEPTEMBER: error: 'func.func' op arg 0 - a maximal sharding can only have a sharding with rank 0 and no replicated or unreduced axes.
func.func @single_device(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[1]>, [{}]>}) {
  return
}

// -----

// CHECK:     error: Shardy propagation doesn't support tuples: 'tuple<tensor<8xf32>>'. Please flatten or canonicalize tuples before running Shardy propagation.
// SEPTEMBER: error: Shardy propagation doesn't support tuples: 'tuple<tensor<8xf32>>'{{$}}
func.func @tuple(%a: tensor<8xf32>) {
  %0 = stablehlo.tuple %a : tuple<tensor<8xf32>>
  return
}

// -----

// Since jaxlib 0.11.2, the numbers of operands or results of a call are in the error.
func.func private @g(i32) -> i32

// CHECK:     error: 'func.call' op incorrect number of operands for callee: expected 1, but got 2
// SEPTEMBER: error: 'func.call' op incorrect number of operands for callee: expected 1, but got 2
// JUNE:      error: 'func.call' op incorrect number of operands for callee{{$}}
func.func @too_many_operands(%a: i32) {
  %0 = call @g(%a, %a) : (i32, i32) -> i32
  return
}

// -----

func.func private @g(i32) -> i32

// CHECK:     error: 'func.call' op incorrect number of results for callee: expected 1, but got 0
// SEPTEMBER: error: 'func.call' op incorrect number of results for callee: expected 1, but got 0
// JUNE:      error: 'func.call' op incorrect number of results for callee{{$}}
func.func @no_result(%a: i32) {
  call @g(%a) : (i32) -> ()
  return
}

// -----

sdy.mesh @mesh = <["x"=2]>

// The equal sign may be missing since jaxlib 0.11.2.
// CHECK: func.func private @no_equal_sign(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>})
// JUNE:  error: expected '='
// JUNE:  error: failed to parse Sdy_TensorSharding parameter 'unreduced_axes'
func.func private @no_equal_sign(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced {"x"}>})

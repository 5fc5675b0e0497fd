// RUN: sdy-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

func.func @par_operands(%a: index) {
  // expected-error @+1 {{custom op 'scf.parallel' expected 1 operands}}
  scf.parallel (%i) = (%a) to (%a, %a) step (%a) {
  }
  return
}

// -----

func.func @par_operands2(%a: index) {
  // expected-error @+1 {{custom op 'scf.parallel' number of operands and types do not match: got 1 operands and 2 types}}
  scf.parallel (%i) = (%a) to (%a) step (%a) init (%a) -> (index, index) {
  }
  return
}

// -----

func.func @par_operands3(%a: index) {
  // expected-error @+1 {{custom op 'scf.parallel' number of operands and types do not match: got 0 operands and 1 types}}
  scf.parallel (%i) = (%a) to (%a) step (%a) -> index {
  }
  return
}

// -----

func.func @par_argument(%a: index) {
  // expected-error @+1 {{'scf.parallel' op expects arguments for the induction variable to be of index type}}
  "scf.parallel"(%a, %a, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: f32):
    scf.reduce
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @par_arguments(%a: index) {
  // expected-error @+1 {{'scf.parallel' op expects the same number of induction variables: 2 as bound and step values: 1}}
  "scf.parallel"(%a, %a, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index, %j: index):
    scf.reduce
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @par_none() {
  // expected-error @+1 {{'scf.parallel' op needs at least one tuple element for lowerBound, upperBound and step}}
  scf.parallel () = () to () step () {
  }
  return
}

// -----

func.func @par_step(%a: index) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'scf.parallel' op constant step operand must be positive}}
  scf.parallel (%i) = (%a) to (%a) step (%c0) {
  }
  return
}

// -----

func.func @par_step2(%a: index) {
  %c0 = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op constant step operand must be positive}}
  scf.parallel (%i, %j) = (%a, %a) to (%a, %a) step (%c1, %c0) {
  }
  return
}

// -----

func.func @par_few(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 0 to be the same as number of reductions: 1}}
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: f32):
      scf.reduce.return %m : f32
    }
  }
  return
}

// -----

func.func @par_many(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
  }
  return
}

// -----

func.func @par_type(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    // expected-error @+1 {{'scf.reduce' op expects type of 0-th reduction operand: 'index' to be the same as the 0-th result type: 'f32'}}
    scf.reduce(%a : index) {
    ^bb0(%l: index, %m: index):
      scf.reduce.return %m : index
    }
  }
  return
}

// -----

func.func @par_inits(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 0 to be the same as number of initial values: 1}}
  "scf.parallel"(%a, %a, %a, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index, f32) -> ()
  return
}

// -----

func.func @par_sizes(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op needs at least one tuple element for lowerBound, upperBound and step}}
  "scf.parallel"(%a, %a, %a) <{operandSegmentSizes = array<i32: 1, 2, 0, 0>}> ({
  ^bb0(%i: index):
    scf.reduce
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @reduce_top(%z: f32) {
  // expected-error @+1 {{'scf.reduce' op expects parent op 'scf.parallel'}}
  scf.reduce(%z : f32) {
  ^bb0(%l: f32, %m: f32):
    scf.reduce.return %m : f32
  }
}

// -----

func.func @reduce_empty(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    // expected-error @+1 {{empty block: expect at least a terminator}}
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: f32):
    }
  }
  return
}

// -----

func.func @reduce_args(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    // expected-error @+1 {{'scf.reduce' op expected two block arguments with type 'f32' in the 0-th reduction region}}
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: i32):
      scf.reduce.return %l : f32
    }
  }
  return
}

// -----

func.func @reduce_args3(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    // expected-error @+1 {{'scf.reduce' op expected two block arguments with type 'f32' in the 0-th reduction region}}
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: f32, %n: f32):
      scf.reduce.return %l : f32
    }
  }
  return
}

// -----

func.func @reduce_terminator(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    // expected-error @+1 {{'scf.reduce' op reduction bodies must be terminated with an 'scf.reduce.return' op}}
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: f32):
      "x.end"() : () -> ()
    }
  }
  return
}

// -----

func.func @reduce_regions(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op expects number of results: 1 to be the same as number of reductions: 0}}
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    scf.reduce(%z : f32)
  }
  return
}

// -----

func.func @return_type(%a: index, %z: f32) {
  %r = scf.parallel (%i) = (%a) to (%a) step (%a) init (%z) -> f32 {
    scf.reduce(%z : f32) {
    ^bb0(%l: f32, %m: f32):
      // expected-error @+1 {{'scf.reduce.return' op must have type 'f32' (the type of the reduction inputs)}}
      scf.reduce.return %a : index
    }
  }
  return
}

// -----

func.func @return_parent(%z: f32) {
  "x.region"() ({
    // expected-error @+1 {{'scf.reduce.return' op expects parent op 'scf.reduce'}}
    scf.reduce.return %z : f32
  }) : () -> ()
  return
}

// -----

func.func @par_yield(%a: index, %z: f32) {
  // expected-error @+1 {{'scf.parallel' op expects body to terminate with 'scf.reduce'}}
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    // expected-note @+1 {{terminator here}}
    scf.yield
  }
  return
}

// -----

func.func @par_generic_end(%a: index) {
  // expected-error @+1 {{'scf.parallel' op expects body to terminate with 'scf.reduce'}}
  "scf.parallel"(%a, %a, %a) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    // expected-note @+1 {{terminator here}}
    %0 = arith.constant 1 : i32
  }) : (index, index, index) -> ()
  return
}

// -----

func.func @forall_results(%n: index, %out: tensor<100xf32>) {
  // expected-error @+1 {{custom op 'scf.forall' number of operands and types do not match: got 1 operands and 2 types}}
  %0:2 = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<100xf32>, tensor<100xf32>) {
  }
  return
}

// -----

func.func @forall_destination(%n: index, %in: tensor<100xf32>, %out: tensor<100xf32>) {
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<100xf32>) {
    %1 = tensor.extract_slice %in[%i][1][1] : tensor<100xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      // expected-error @+1 {{'tensor.parallel_insert_slice' op may only insert into an output block argument}}
      tensor.parallel_insert_slice %1 into %out[%i][1][1] : tensor<1xf32> into tensor<100xf32>
    }
  }
  return
}

// -----

func.func @forall_op(%n: index, %in: tensor<100xf32>, %out: tensor<100xf32>) {
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<100xf32>) {
    // expected-error @+1 {{'scf.forall.in_parallel' op expected only ParallelCombiningOpInterface ops}}
    scf.forall.in_parallel {
      // expected-note @+1 {{unexpected op here}}
      %1 = arith.constant 1 : i32
    }
  }
  return
}

// -----

func.func @forall_end2(%n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
    scf.yield
  }
  return
}

// -----

func.func @forall_generic(%n: index) {
  // expected-error @+1 {{'scf.forall' op expects 0-th block argument to be an index}}
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: -9223372036854775808>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: i32):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @forall_generic2(%n: index) {
  // expected-error @+1 {{'scf.forall' op region expects 1 arguments}}
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: -9223372036854775808>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: index, %j: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @forall_generic3(%n: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op produces 0 results, but has only 1 outputs}}
  "scf.forall"(%n, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: -9223372036854775808>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: index, %j: tensor<4xf32>):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index, tensor<4xf32>) -> ()
  return
}

// -----

func.func @forall_generic4(%n: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op type mismatch between 0-th output and corresponding block argument}}
  %0 = "scf.forall"(%n, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: -9223372036854775808>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: index, %j: tensor<5xf32>):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index, tensor<4xf32>) -> (tensor<4xf32>)
  return
}

// -----

func.func @forall_generic5(%n: index, %t: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op expected type of operand #1 ('tensor<4xf32>') to match type of corresponding result ('tensor<5xf32>')}}
  %0 = "scf.forall"(%n, %t) <{operandSegmentSizes = array<i32: 0, 1, 0, 1>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: -9223372036854775808>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: index, %j: tensor<4xf32>):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index, tensor<4xf32>) -> (tensor<5xf32>)
  return
}

// -----

func.func @forall_generic6(%n: index) {
  // expected-error @+1 {{expected 0 dynamic upper bound values}}
  "scf.forall"(%n) <{operandSegmentSizes = array<i32: 0, 1, 0, 0>, staticLowerBound = array<i64: 0>, staticUpperBound = array<i64: 5>, staticStep = array<i64: 1>}> ({
  ^bb0(%i: index):
    "scf.forall.in_parallel"() ({
    ^bb0:
    }) : () -> ()
  }) : (index) -> ()
  return
}

// -----

func.func @forall_counts(%n: index) {
  // expected-error @+1 {{expected 2 upper bound values, got 1}}
  scf.forall (%i, %j) in (%n) {
  }
  return
}

// -----

func.func @forall_counts2(%n: index) {
  // expected-error @+1 {{'scf.forall' op region expects 1 arguments}}
  scf.forall (%i, %j) = (0) to (%n, %n) step (1, 1) {
  }
  return
}

// -----

func.func @in_parallel(%n: index) {
  // expected-error @+1 {{'scf.forall.in_parallel' op expects parent op 'scf.forall'}}
  scf.forall.in_parallel {
  }
}

// -----

func.func @b(%x: f32) {
  // expected-error @+1 {{'scf.reduce' op expects parent op 'scf.parallel'}}
  "scf.reduce"(%x) : (f32) -> ()
  return
}

// -----

func.func @d(%x: i1) {
  // expected-error @+1 {{'scf.forall.in_parallel' op expects parent op 'scf.forall'}}
  scf.forall.in_parallel {}
  return
}

// -----

func.func @no_reduction(%i: index) {
  scf.parallel (%j) = (%i) to (%i) step (%i) {
    // expected-error @+1 {{'scf.reduce' op expects number of reduction regions: 0 to be the same as number of reduction operands: 1}}
    scf.reduce(%j : index)
  }
  return
}

// Operations of scf with regions.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @exec() -> i64 {
  %0 = scf.execute_region -> i64 {
    %c = arith.constant 1 : i64
    scf.yield %c : i64
  }
  %1:2 = scf.execute_region -> (i64, f32) no_inline {
    %c = arith.constant 1 : i64
    %d = arith.constant 1.0 : f32
    scf.yield %c, %d : i64, f32
  } {k = 1 : i32}
  scf.execute_region {
    cf.br ^bb1
  ^bb1:
    scf.yield
  }
  "scf.execute_region"() ({
    %c = arith.constant true
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    scf.yield
  ^bb2:
    scf.yield
  }) {no_inline, x = "y"} : () -> ()
  return %0 : i64
}

// CHECK-LABEL: func.func @exec() -> i64 {
// CHECK-NEXT:    %0 = scf.execute_region -> i64 {
// CHECK-NEXT:      %c1_i64 = arith.constant 1 : i64
// CHECK-NEXT:      scf.yield %c1_i64 : i64
// CHECK-NEXT:    }
// CHECK-NEXT:    %1:2 = scf.execute_region -> (i64, f32) no_inline {
// CHECK-NEXT:      %c1_i64 = arith.constant 1 : i64
// CHECK-NEXT:      %cst = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      scf.yield %c1_i64, %cst : i64, f32
// CHECK-NEXT:    } {k = 1 : i32}
// CHECK-NEXT:    scf.execute_region {
// CHECK-NEXT:      cf.br ^bb1
// CHECK-NEXT:    ^bb1:  // pred: ^bb0
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.execute_region no_inline {
// CHECK-NEXT:      %true = arith.constant true
// CHECK-NEXT:      cf.cond_br %true, ^bb1, ^bb2
// CHECK-NEXT:    ^bb1:  // pred: ^bb0
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    ^bb2:  // pred: ^bb0
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    } {x = "y"}
// CHECK-NEXT:    return %0 : i64
// CHECK-NEXT:  }

func.func @exec_other_terminator() {
  scf.execute_region {
    "x.end"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @exec_other_terminator() {
// CHECK-NEXT:    scf.execute_region {
// CHECK-NEXT:      "x.end"() : () -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @switch(%a: index, %b: i32) -> i32 {
  %0 = scf.index_switch %a -> i32
  case 2 {
    scf.yield %b : i32
  }
  case -5 {
    %c = arith.constant 10 : i32
    scf.yield %c : i32
  }
  default {
    scf.yield %b : i32
  }
  scf.index_switch %a {k = 1 : i32}
  default {
    scf.yield
  }
  scf.index_switch %a
  case 3 {
    "x.use"() : () -> ()
    scf.yield
  }
  default {
    scf.yield
  }
  %1:2 = scf.index_switch %a {k = 1 : i32} -> i32, i32
  default {
    scf.yield %b, %b : i32, i32
  }
  return %0 : i32
}

// CHECK-LABEL: func.func @switch(%arg0: index, %arg1: i32) -> i32 {
// CHECK-NEXT:    %0 = scf.index_switch %arg0 -> i32
// CHECK-NEXT:    case 2 {
// CHECK-NEXT:      scf.yield %arg1 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    case -5 {
// CHECK-NEXT:      %c10_i32 = arith.constant 10 : i32
// CHECK-NEXT:      scf.yield %c10_i32 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      scf.yield %arg1 : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.index_switch %arg0 {k = 1 : i32}
// CHECK-NEXT:    default {
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.index_switch %arg0
// CHECK-NEXT:    case 3 {
// CHECK-NEXT:      "x.use"() : () -> ()
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:    }
// CHECK-NEXT:    %1:2 = scf.index_switch %arg0 {k = 1 : i32} -> i32, i32
// CHECK-NEXT:    default {
// CHECK-NEXT:      scf.yield %arg1, %arg1 : i32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : i32
// CHECK-NEXT:  }

func.func @for_end(%a: index) {
  scf.for %i = %a to %a step %a {
    "x.end"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @for_end(%arg0: index) {
// CHECK-NEXT:    scf.for %arg1 = %arg0 to %arg0 step %arg0 {
// CHECK-NEXT:      "x.end"() : () -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @for_i32(%a: i32, %z: f32) -> f32 {
  %0 = scf.for unsigned %i = %a to %a step %a iter_args(%x = %z) -> (f32) : i32 {
    scf.yield %x : f32
  } {k = 1 : i32}
  scf.for %i = %a to %a step %a : i32 {
  }
  return %0 : f32
}

// CHECK-LABEL: func.func @for_i32(%arg0: i32, %arg1: f32) -> f32 {
// CHECK-NEXT:    %0 = scf.for unsigned %arg2 = %arg0 to %arg0 step %arg0 iter_args(%arg3 = %arg1) -> (f32)  : i32 {
// CHECK-NEXT:      scf.yield %arg3 : f32
// CHECK-NEXT:    } {k = 1 : i32}
// CHECK-NEXT:    scf.for %arg2 = %arg0 to %arg0 step %arg0  : i32 {
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : f32
// CHECK-NEXT:  }

func.func @if_end(%a: i1, %b: f32) {
  scf.if %a {
    "x.end"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @if_end(%arg0: i1, %arg1: f32) {
// CHECK-NEXT:    scf.if %arg0 {
// CHECK-NEXT:      "x.end"() : () -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

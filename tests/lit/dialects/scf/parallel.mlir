// scf.parallel and scf.forall.
// RUN: sdy-opt %s -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect | sdy-opt -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -allow-unregistered-dialect --mlir-print-op-generic | sdy-opt -allow-unregistered-dialect | filecheck %s

func.func @par(%a: index, %b: index, %c: index, %z: f32) {
  scf.parallel (%i, %j) = (%a, %b) to (%b, %c) step (%c, %c) {
    "x.use"(%i, %j) : (index, index) -> ()
  } {k = 1 : i32}
  %r = scf.parallel (%i) = (%a) to (%b) step (%c) init (%z) -> f32 {
    %e = "x.make"(%i) : (index) -> f32
    scf.reduce(%e : f32) {
    ^bb0(%l: f32, %m: f32):
      %s = arith.addf %l, %m : f32
      scf.reduce.return %s : f32
    }
  }
  %q:2 = scf.parallel (%i) = (%a) to (%b) step (%c) init (%z, %z) -> (f32, f32) {
    scf.reduce(%z, %z : f32, f32) {
    ^bb0(%l: f32, %m: f32):
      scf.reduce.return %l : f32
    }, {
    ^bb0(%l: f32, %m: f32):
      scf.reduce.return %m : f32
    } {n}
  } {attr}
  scf.parallel (%i) = (%a) to (%b) step (%c) {
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @par(%arg0: index, %arg1: index, %arg2: index, %arg3: f32) {
// CHECK-NEXT:    scf.parallel (%arg4, %arg5) = (%arg0, %arg1) to (%arg1, %arg2) step (%arg2, %arg2) {
// CHECK-NEXT:      "x.use"(%arg4, %arg5) : (index, index) -> ()
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    } {k = 1 : i32}
// CHECK-NEXT:    %0 = scf.parallel (%arg4) = (%arg0) to (%arg1) step (%arg2) init (%arg3) -> f32 {
// CHECK-NEXT:      %2 = "x.make"(%arg4) : (index) -> f32
// CHECK-NEXT:      scf.reduce(%2 : f32) {
// CHECK-NEXT:      ^bb0(%arg5: f32, %arg6: f32):
// CHECK-NEXT:        %3 = arith.addf %arg5, %arg6 : f32
// CHECK-NEXT:        scf.reduce.return %3 : f32
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    %1:2 = scf.parallel (%arg4) = (%arg0) to (%arg1) step (%arg2) init (%arg3, %arg3) -> (f32, f32) {
// CHECK-NEXT:      scf.reduce(%arg3, %arg3 : f32, f32) {
// CHECK-NEXT:      ^bb0(%arg5: f32, %arg6: f32):
// CHECK-NEXT:        scf.reduce.return %arg5 : f32
// CHECK-NEXT:      }, {
// CHECK-NEXT:      ^bb0(%arg5: f32, %arg6: f32):
// CHECK-NEXT:        scf.reduce.return %arg6 : f32
// CHECK-NEXT:      } {n}
// CHECK-NEXT:    } {attr}
// CHECK-NEXT:    scf.parallel (%arg4) = (%arg0) to (%arg1) step (%arg2) {
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @par_other(%a: index, %z: f32) {
  scf.parallel (%i) = (%a) to (%a) step (%a) {
    "x.end"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @par_other(%arg0: index, %arg1: f32) {
// CHECK-NEXT:    scf.parallel (%arg2) = (%arg0) to (%arg0) step (%arg0) {
// CHECK-NEXT:      "x.end"() : () -> ()
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

func.func @forall(%n: index, %m: index, %in: tensor<100xf32>, %out: tensor<100xf32>) -> tensor<100xf32> {
  scf.forall (%i) in (%n) {
    "x.use"(%i) : (index) -> ()
  }
  scf.forall (%i, %j) in (10, %m) {
    "x.use"(%i, %j) : (index, index) -> ()
    scf.forall.in_parallel {
    }
  } {k = 1 : i32}
  scf.forall (%i, %j) = (0, %n) to (%m, 10) step (1, 2) {
  }
  scf.forall (%i, %j) = (0, 0) to (%m, 10) step (1, 1) {
  }
  %0 = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<100xf32>) {
    %1 = tensor.extract_slice %in[%i][1][1] : tensor<100xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i][1][1] : tensor<1xf32> into tensor<100xf32>
    }
  }
  %2:2 = scf.forall (%i) = (0) to (4) step (%n) shared_outs(%o = %out, %p = %in) -> (tensor<100xf32>, tensor<100xf32>) {
    %1 = tensor.extract_slice %p[%i][1][1] : tensor<100xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [1] [1] : tensor<1xf32> into tensor<100xf32>
      tensor.parallel_insert_slice %1 into %p[0] [1] [%n] : tensor<1xf32> into tensor<100xf32>
    } {x}
  }
  scf.forall () in () {
  }
  return %0 : tensor<100xf32>
}

// CHECK-LABEL: func.func @forall(%arg0: index, %arg1: index, %arg2: tensor<100xf32>, %arg3: tensor<100xf32>) -> tensor<100xf32> {
// CHECK-NEXT:    scf.forall (%arg4) in (%arg0) {
// CHECK-NEXT:      "x.use"(%arg4) : (index) -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.forall (%arg4, %arg5) in (10, %arg1) {
// CHECK-NEXT:      "x.use"(%arg4, %arg5) : (index, index) -> ()
// CHECK-NEXT:    } {k = 1 : i32}
// CHECK-NEXT:    scf.forall (%arg4, %arg5) = (0, %arg0) to (%arg1, 10) step (1, 2) {
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.forall (%arg4, %arg5) in (%arg1, 10) {
// CHECK-NEXT:    }
// CHECK-NEXT:    %0 = scf.forall (%arg4) in (%arg0) shared_outs(%arg5 = %arg3) -> (tensor<100xf32>) {
// CHECK-NEXT:      %extracted_slice = tensor.extract_slice %arg2[%arg4] [1] [1] : tensor<100xf32> to tensor<1xf32>
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %extracted_slice into %arg5[%arg4] [1] [1] : tensor<1xf32> into tensor<100xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    %1:2 = scf.forall (%arg4) = (0) to (4) step (%arg0) shared_outs(%arg5 = %arg3, %arg6 = %arg2) -> (tensor<100xf32>, tensor<100xf32>) {
// CHECK-NEXT:      %extracted_slice = tensor.extract_slice %arg6[%arg4] [1] [1] : tensor<100xf32> to tensor<1xf32>
// CHECK-NEXT:      scf.forall.in_parallel {
// CHECK-NEXT:        tensor.parallel_insert_slice %extracted_slice into %arg5[%arg4] [1] [1] : tensor<1xf32> into tensor<100xf32>
// CHECK-NEXT:        tensor.parallel_insert_slice %extracted_slice into %arg6[0] [1] [%arg0] : tensor<1xf32> into tensor<100xf32>
// CHECK-NEXT:      } {x}
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.forall () in () {
// CHECK-NEXT:    }
// CHECK-NEXT:    return %0 : tensor<100xf32>
// CHECK-NEXT:  }

func.func @forall_end(%n: index) {
  scf.forall (%i) in (%n) {
    "x.end"() : () -> ()
  }
  return
}

// CHECK-LABEL: func.func @forall_end(%arg0: index) {
// CHECK-NEXT:    scf.forall (%arg1) in (%arg0) {
// CHECK-NEXT:      "x.end"() : () -> ()
// CHECK-NEXT:    }
// CHECK-NEXT:    return
// CHECK-NEXT:  }

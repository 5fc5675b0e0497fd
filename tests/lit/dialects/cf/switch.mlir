// cf.switch and branch weights, in the custom and in the generic form.
// RUN: sdy-opt %s | filecheck %s
// RUN: sdy-opt %s | sdy-opt | filecheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | sdy-opt | filecheck %s
// RUN: sdy-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: @cases
func.func @cases(%flag: i32, %a: f32) -> f32 {
  // CHECK:      cf.switch %arg0 : i32, [
  // CHECK-NEXT:   default: ^bb1(%arg1 : f32),
  // CHECK-NEXT:   -7: ^bb2(%arg1, %arg0 : f32, i32),
  // CHECK-NEXT:   8: ^bb1(%arg1 : f32)
  // CHECK-NEXT: ] {note = "x"}
  // GENERIC: "cf.switch"({{.*}})[^bb1, ^bb2, ^bb1] <{case_operand_segments = array<i32: 2, 1>, case_values = dense<[-7, 8]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 1, 3>}>
  cf.switch %flag : i32, [
    default: ^bb1(%a : f32),
    -7: ^bb2(%a, %flag : f32, i32), 8: ^bb1(%a : f32)
  ] {note = "x"}
^bb1(%x: f32):
  return %x : f32
^bb2(%y: f32, %z: i32):
  return %y : f32
}

// Values may be written as unsigned numbers, and are printed as signed ones.
// CHECK-LABEL: @widths
func.func @widths(%flag: i1, %wide: i65, %byte: i8) {
  // CHECK: -1: ^bb1
  cf.switch %flag : i1, [default: ^bb1, 1: ^bb1]
^bb1:
  // CHECK: -18446744073709551616: ^bb2
  cf.switch %wide : i65, [default: ^bb2, 18446744073709551616: ^bb2]
^bb2:
  // CHECK: -128: ^bb3,
  // CHECK-NEXT: -1: ^bb3
  cf.switch %byte : i8, [default: ^bb3, -128: ^bb3, 255: ^bb3]
^bb3:
  // CHECK: cf.switch %arg2 : i8, [
  // CHECK-NEXT: default: ^bb4]
  cf.switch %byte : i8, [default: ^bb4]
^bb4:
  return
}

// CHECK-LABEL: @weights
func.func @weights(%condition: i1, %a: f32) -> f32 {
  // CHECK: cf.cond_br %arg0 weights([30, 70]), ^bb1(%arg1 : f32), ^bb2
  cf.cond_br %condition weights([30, 70]), ^bb1(%a : f32), ^bb2
^bb1(%x: f32):
  return %x : f32
^bb2:
  return %a : f32
}

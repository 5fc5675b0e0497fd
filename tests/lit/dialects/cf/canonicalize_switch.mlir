// RUN: sdy-opt %s -canonicalize -allow-unregistered-dialect | filecheck %s
// RUN: sdy-opt %s -sccp -allow-unregistered-dialect | filecheck %s --check-prefix=SCCP

// CHECK-LABEL: @cases_of_the_default
func.func @cases_of_the_default(%flag: i32, %a: i32) -> i32 {
  // CHECK:      cf.switch %arg0 : i32, [
  // CHECK-NEXT:   default: ^bb1(%arg1 : i32),
  // CHECK-NEXT:   2: ^bb2
  // CHECK-NEXT: ]
  cf.switch %flag : i32, [default: ^bb1(%a : i32), 1: ^bb1(%a : i32), 2: ^bb2]
^bb1(%x: i32):
  %0 = "x.use"(%x) : (i32) -> i32
  return %0 : i32
^bb2:
  "x.other"() : () -> ()
  return %a : i32
}

// CHECK-LABEL: @constant
// CHECK-NEXT: return %arg1 : i32
func.func @constant(%a: i32, %b: i32) -> i32 {
  %flag = arith.constant 4 : i32
  cf.switch %flag : i32, [default: ^bb1(%a : i32), 4: ^bb1(%b : i32)]
^bb1(%x: i32):
  return %x : i32
}

// A block that only branches on is skipped, and a second switch on the same flag knows it.
// CHECK-LABEL: @twice
func.func @twice(%flag: i32) {
  // CHECK:      cf.switch %arg0 : i32, [
  // CHECK-NEXT:   default: ^bb1,
  // CHECK-NEXT:   4: ^bb3,
  // CHECK-NEXT:   5: ^bb2
  // CHECK-NEXT: ]
  cf.switch %flag : i32, [default: ^bb1, 4: ^bb2, 5: ^bb3]
^bb1:
  "x.default"() : () -> ()
  // CHECK:      cf.switch %arg0 : i32, [
  // CHECK-NEXT:   default: ^bb2,
  // CHECK-NEXT:   6: ^bb3
  // CHECK-NEXT: ]
  cf.switch %flag : i32, [default: ^bb4, 4: ^bb5, 6: ^bb5]
^bb2:
  cf.br ^bb5
^bb3:
  cf.switch %flag : i32, [default: ^bb5, 5: ^bb4]
^bb4:
  "x.four"() : () -> ()
  return
^bb5:
  "x.five"() : () -> ()
  return
}

// An operand that is the same for all branches to a block is passed on once.
// CHECK-LABEL: @unused
func.func @unused(%flag: i32, %a: i32, %b: i32) -> i32 {
  // CHECK:      default: ^bb1(%arg1 : i32),
  // CHECK-NEXT: 1: ^bb1(%arg2 : i32)
  cf.switch %flag : i32, [default: ^bb1(%a, %a : i32, i32), 1: ^bb1(%b, %b : i32, i32)]
^bb1(%x: i32, %unused: i32):
  %0 = "x.use"(%x) : (i32) -> i32
  return %0 : i32
}

// Only the case of the constant is executed.
// SCCP-LABEL: @one_case
func.func @one_case() -> i32 {
  %flag = arith.constant 2 : i32
  %a = arith.constant 7 : i32
  %b = arith.constant 8 : i32
  cf.switch %flag : i32, [default: ^bb1(%a : i32), 1: ^bb1(%a : i32), 2: ^bb2(%b : i32)]
^bb1(%x: i32):
  return %x : i32
^bb2(%y: i32):
  // SCCP: ^bb2
  // SCCP: return %c8_i32{{.*}} : i32
  return %y : i32
}

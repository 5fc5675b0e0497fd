// RUN: sdy-opt %s --load-plugin=%S/standalone.py | sdy-opt --load-plugin=%S/standalone.py | filecheck %s
// RUN: sdy-opt %s --load-plugin=%S/standalone.py --emit-bytecode | sdy-opt --load-plugin=%S/standalone.py | filecheck %s

// CHECK-LABEL: func.func @bar()
// CHECK:         %[[C:.*]] = arith.constant 1 : i32
// CHECK:         standalone.foo %[[C]] : i32
// CHECK:         nothing
func.func @bar() {
  %0 = arith.constant 1 : i32
  %res = standalone.foo %0 : i32
  func.nothing
  return
}

// CHECK-LABEL: func.func @types(%arg0: !standalone.custom<"10">)
func.func @types(%arg0: !standalone.custom<"10">) {
  return
}

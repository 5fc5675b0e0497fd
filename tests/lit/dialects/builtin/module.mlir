// RUN: sdy-opt %s --allow-unregistered-dialect | filecheck %s

// Modules may be nested; named ones are symbols.
// CHECK:      module @outer attributes {a.b = 1 : i32} {
// CHECK-NEXT:   module @inner {
// CHECK-NEXT:     func.func private @f()
// CHECK-NEXT:   }
// CHECK-NEXT:   module {
// CHECK-NEXT:   }
// CHECK-NEXT:   module @"not a word" attributes {sym_visibility = "private"} {
// CHECK-NEXT:   }
// CHECK-NEXT:   func.func private @f()
// CHECK-NEXT: }
module @outer attributes {a.b = 1 : i32} {
  builtin.module @inner {
    func.func private @f()
  }
  module {
  }
  module @"not a word" attributes {sym_visibility = "private"} {}
  func.func private @f()
}

// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings -verify-diagnostics

// The entry point of several functions must be @main.
// expected-error @+1 {{Failed to lookup function: main}}
module {
  func.func @first() {
    return
  }
  func.func @second() {
    return
  }
}

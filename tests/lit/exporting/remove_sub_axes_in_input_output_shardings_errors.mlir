// RUN: sdy-opt %s -sdy-remove-sub-axes-in-input-output-shardings -verify-diagnostics

// Of several functions, one has to be the entry point.
// expected-error @+1 {{Failed to lookup function: main}}
module {
  func.func @first() {
    return
  }
  func.func @second() {
    return
  }
}

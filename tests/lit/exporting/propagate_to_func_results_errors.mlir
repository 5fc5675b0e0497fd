// RUN: sdy-opt %s -sdy-propagate-to-func-results -verify-diagnostics

// Of several functions that no other one calls, the entry point must be @main.
module {
  // expected-error @+1 {{Failed to lookup function: main}}
  func.func @first() {
    return
  }
  func.func @second() {
    return
  }
}

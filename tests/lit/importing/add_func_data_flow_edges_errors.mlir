// RUN: sdy-opt %s -sdy-add-func-data-flow-edges -split-input-file -verify-diagnostics

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

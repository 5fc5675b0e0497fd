// RUN: sdy-opt %s -sdy-propagate-to-func-results -verify-diagnostics

// Of several functions, one has to be the entry point, whose results are its user's business.
// expected-error @+1 {{Failed to lookup function: main}}
module {
  func.func @first() {
    return
  }
  func.func @second() {
    return
  }
}

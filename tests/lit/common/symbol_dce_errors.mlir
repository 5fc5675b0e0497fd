// RUN: sdy-opt %s --pass-pipeline='builtin.module(any(symbol-dce))' -split-input-file --verify-diagnostics --allow-unregistered-dialect

// Only what holds symbols can be cleared of them. All functions are told.
// expected-error @+1 {{'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table}}
func.func @function() {
  return
}
// expected-error @+1 {{'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table}}
func.func @other_function() {
  return
}

// -----

// An operation that is not registered might be a symbol table, in which names mean something else.
module {
  module {
    // expected-error @+1 {{operation contains potentially unknown symbol table, meaning that we can't reliable compute symbol uses}}
    func.func @function() {
      "test.table"() ({
        "test.use"() {name = @helper} : () -> ()
      }) : () -> ()
      return
    }
    func.func private @helper() { return }
  }
}

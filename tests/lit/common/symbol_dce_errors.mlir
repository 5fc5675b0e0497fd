// RUN: sdy-opt %s --pass-pipeline='builtin.module(any(symbol-dce))' -split-input-file --verify-diagnostics --allow-unregistered-dialect

// The pass requires a symbol table. Every function is reported.
// expected-error @+1 {{'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table}}
func.func @function() {
  return
}
// expected-error @+1 {{'func.func' op  was scheduled to run under SymbolDCE, but does not define a symbol table}}
func.func @other_function() {
  return
}

// -----

// An unregistered operation might be a symbol table.
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

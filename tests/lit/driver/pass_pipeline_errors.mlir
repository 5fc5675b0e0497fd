// Usage errors are reported before the input is read.
// RUN: not sdy-opt missing.mlir --pass-pipeline="builtin.module(cse,csee)" 2>&1 | filecheck %s --check-prefix=NAME
// NAME:      error: 'csee' does not refer to a registered pass or pass pipeline
// NAME-NEXT: builtin.module(cse,csee)
// NAME-NEXT: {{^}}                   ^
// NAME-NEXT: help: did you mean 'cse'?

// RUN: not sdy-opt missing.mlir --pass-pipeline=cse 2>&1 | filecheck %s --check-prefix=ANCHOR
// ANCHOR:      expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'
// ANCHOR-NEXT: help: write builtin.module(cse)

// RUN: not sdy-opt missing.mlir --pass-pipeline="builtin.module(canonicalize{top-down=maybe})" 2>&1 | filecheck %s --check-prefix=VALUE
// VALUE:      for the --top-down option: 'maybe' is invalid value for boolean argument! Try 0 or 1
// VALUE-NEXT: failed to add `canonicalize` with options `top-down=maybe`

// RUN: not sdy-opt missing.mlir -canonicalize=top-don=1 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION:      <Pass-Options-Parser>: no such option top-don
// OPTION-NEXT: failed to add `canonicalize` with options `top-don=1`
// OPTION-NEXT: help: did you mean 'top-down'?

// RUN: not sdy-opt missing.mlir -top-down 2>&1 | filecheck %s --check-prefix=ALONE
// ALONE:      Unknown command line argument '-top-down'.  Try: 'sdy-opt --help'
// ALONE-NEXT: help: 'top-down' is an option of a pass; write -canonicalize='top-down=true'

// A pipeline that does not match the program is an error at the program.
// RUN: not sdy-opt %s --pass-pipeline="func.func(cse)" 2>&1 | filecheck %s --check-prefix=ROOT
// ROOT:     error: can't run 'func.func' pass manager on 'builtin.module' op
// ROOT-NOT: note:
// ROOT:     help: write builtin.module(func.func(cse))

// RUN: not sdy-opt %s --pass-pipeline="builtin.modul(cse)" 2>&1 | filecheck %s --check-prefix=NEARLY
// NEARLY: error: can't run 'builtin.modul' pass manager on 'builtin.module' op
// NEARLY: help: did you mean 'builtin.module'?

// --verify-diagnostics ignores help lines.
// RUN: sdy-opt %s --pass-pipeline="func.func(cse)" --verify-diagnostics
// expected-error @+1 {{can't run 'func.func' pass manager on 'builtin.module' op}}
module {
}

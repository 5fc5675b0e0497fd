// What people type first and how it goes on: each error says what to write instead.

// A program of Python is no MLIR.
// RUN: printf 'import jax\nx = 1\n' > %t.model.py
// RUN: not sdy-opt %t.model.py --check 2>&1 | filecheck %s --check-prefix=PYTHON
// PYTHON:      model.py:1:1: error: this is Python: write what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns to a file
// PYTHON:      help: sdyopt.check(jax.jit(f), *arguments) does that

// The name of a file with a letter missing.
// RUN: cp %s %t.program.mlir
// RUN: not sdy-opt %t.progam.mlir 2>&1 | filecheck %s --check-prefix=NAME
// NAME:      sdy-opt: cannot open input file '{{.*}}.progam.mlir': No such file or directory
// NAME-NEXT: help: did you mean '{{.*}}.program.mlir'?

// The unit of memory as other tools write it.
// RUN: not sdy-opt %s --check --device-memory=16G 2>&1 | filecheck %s --check-prefix=UNIT
// UNIT:      sdy-opt: for the --device-memory option: '16G' is not a size of memory
// UNIT-NEXT: help: write 16GiB

// An error about the program as a whole is located at its module, which has no location in what JAX prints.
// RUN: not sdy-opt %s -cse --explain='@main result 0' 2>&1 | filecheck %s --check-prefix=WHOLE
// WHOLE:      common_mistakes.mlir:34:1: error: there is nothing to explain: no pass has propagated shardings
// WHOLE-NEXT: module @m
// WHOLE-NEXT: ^~~~~~
// WHOLE-NEXT: help: add -sdy-propagation-pipeline

// A snapshot that is written to a file needs no copy of the program on the terminal, except after passes.
// RUN: sdy-opt %s --snapshot=%t.json > %t.stdout
// RUN: test ! -s %t.stdout
// RUN: sdy-opt %s -sdy-close-shardings --snapshot=%t.json | filecheck %s --check-prefix=CLOSED
// CLOSED: module @m

#loc = loc(unknown)
module @m {
  sdy.mesh @mesh = <["x"=2]> loc(#loc)
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    return %a : tensor<8xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)

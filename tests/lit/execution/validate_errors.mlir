// Without jax, or with invalid values of flags, nothing is validated, which is an error.

// RUN: not sdy-opt %s --validate --jax-python=no-such-python 2>&1 | filecheck %s --check-prefix=NO-PYTHON
// NO-PYTHON: error: cannot validate: cannot run 'no-such-python':
// NO-PYTHON: help: name a Python with jax

// RUN: not sdy-opt %s --validate=0 2>&1 | filecheck %s --check-prefix=ZERO
// ZERO: sdy-opt: for the --validate option: 0 is too small
// ZERO-NEXT: help: write at least 1

// RUN: not sdy-opt %s --validate=many 2>&1 | filecheck %s --check-prefix=TEXT
// TEXT: sdy-opt: for the --validate option: 'many' value invalid for uint argument!

// RUN: sdy-opt %s --validate-mode=manual 2>&1 | filecheck %s --check-prefix=ALONE
// ALONE: warning: the --validate-mode option has no effect
// ALONE-NEXT: help: add --validate
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

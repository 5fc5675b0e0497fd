// RUN: not sdy-opt %s --emit-bytecode --emit-bytecode-version=7 2>&1 | filecheck %s --check-prefix=VERSION
// RUN: not sdy-opt %s --emit-bytecode --split-input-file 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not sdy-opt %s --emit-bytecode --target=1.0.0 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not sdy-opt %s --target=99.0.0 2>&1 | filecheck %s --check-prefix=NEW
// RUN: not sdy-opt %s --target=0.8.0 2>&1 | filecheck %s --check-prefix=OLD
// RUN: not sdy-opt %s --target=new 2>&1 | filecheck %s --check-prefix=FORM
// RUN: not sdy-opt %s --target=1.3.0 2>&1 | filecheck %s --check-prefix=TAN
// RUN: sdy-opt %s --emit-bytecode -o %t.bc
// RUN: head -c 60 %t.bc > %t.cut
// RUN: not sdy-opt %t.cut 2>&1 | filecheck %s --check-prefix=CUT

// VERSION: for the --emit-bytecode-version option: unsupported version requested 7, must be in range [0, 6]
// SPLIT: the --emit-bytecode option writes one program
// SPLIT: help: remove --split-input-file
// BOTH: the --target option writes bytecode in the version that the artifact has
// NEW: error: target version 99.0.0 is greater than current version
// OLD: error: target version 0.8.0 is less than minimum supported 0.9.0
// FORM: error: Invalid target version argument 'new'
// FORM: Target version must be of the form `#.#.#`.
// TAN: error: failed to legalize operation 'vhlo.tan_v2' that was explicitly marked illegal
// TAN: error: failed to convert VHLO to v1.3.0
// CUT: error: invalid bytecode: the {{.*}} section has {{[0-9]+}} bytes, and {{[0-9]+}} are left
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

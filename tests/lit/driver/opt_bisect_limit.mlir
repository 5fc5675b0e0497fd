// The first passes run, those nested under functions too; the others are listed.
// RUN: sdy-opt %s "--pass-pipeline=builtin.module(func.func(cse),symbol-dce,canonicalize)" --opt-bisect-limit=2 -o %t 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=TWO < %t
// RUN: sdy-opt %s "--pass-pipeline=builtin.module(func.func(cse),symbol-dce,canonicalize)" --opt-bisect-limit=-1 2>&1 | filecheck %s --check-prefix=ALL
// RUN: sdy-opt %s -cse --opt-bisect-limit=0 2>/dev/null | filecheck %s --check-prefix=NONE

// CHECK:      BISECT: running pass (1) cse on func.func @main
// CHECK-NEXT: BISECT: running pass (2) cse on func.func @unused
// CHECK-NEXT: BISECT: NOT running pass (3) symbol-dce on builtin.module
// CHECK-NEXT: BISECT: NOT running pass (4) canonicalize on builtin.module

// ALL: BISECT: running pass (4) canonicalize on builtin.module

// TWO:      func.func @main
// TWO-NEXT:   stablehlo.add
// TWO-NEXT:   return
// TWO:      @unused
// ALL-NOT:  @unused
// NONE:     stablehlo.add
// NONE:     stablehlo.add
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %a, %a : tensor<8xf32>
  %1 = stablehlo.add %a, %a : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

func.func private @unused() {
  return
}

// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(cse,canonicalize{max-iterations=3}), symbol-dce)" | filecheck %s
// RUN: sdy-opt %s --pass-pipeline="any(symbol-dce)" | filecheck %s
// RUN: sdy-opt %s -cse -symbol-dce --cse -o /dev/null --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: sdy-opt %s --pass-pipeline="builtin.module(func.func(cse),func.func(cse))" -o /dev/null --dump-pass-pipeline 2>&1 \
// RUN:   | filecheck %s --check-prefix=NESTED

// DUMP:      Pass Manager with 3 passes:
// DUMP-NEXT: builtin.module(cse,symbol-dce,cse)
// NESTED:      Pass Manager with 2 passes:
// NESTED-NEXT: builtin.module(func.func(cse),func.func(cse))

// CHECK: @main
func.func @main() {
  return
}

// CHECK-NOT: @unused
func.func private @unused() {
  return
}

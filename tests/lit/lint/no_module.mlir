// Rules look at modules.
// RUN: not sdy-opt %s --no-implicit-module --lint 2>&1 | filecheck %s
// CHECK:      error: the --lint option runs on a module
// CHECK-NEXT: help: remove --no-implicit-module
func.func @main() {
  return
}

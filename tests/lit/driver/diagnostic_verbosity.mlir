// Diagnostics that are less severe than the given severity are not printed.
// RUN: sdy-opt %s -sdy-basic-propagate 2>&1 >/dev/null | filecheck %s
// RUN: sdy-opt %s -sdy-basic-propagate --mlir-diagnostic-verbosity-level=warnings 2>&1 >/dev/null | filecheck %s
// RUN: sdy-opt %s -sdy-basic-propagate --mlir-diagnostic-verbosity-level=errors 2>&1 | filecheck %s --check-prefix=ERRORS
// CHECK:      warning: custom call @foo is unknown
// ERRORS-NOT: warning:

// With --werror a warning is an error.
// RUN: not sdy-opt %s -sdy-basic-propagate --mlir-diagnostic-verbosity-level=errors --werror 2>&1 \
// RUN:   | filecheck %s --check-prefix=WERROR
// WERROR: error: custom call @foo is unknown
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

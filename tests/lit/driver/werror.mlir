// With --werror a warning is an error: the exit status is 1, and the program of the chunk is not printed.
// RUN: sdy-opt %s -split-input-file -sdy-basic-propagate 2>&1 | filecheck %s --check-prefix=WARNING
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --werror 2>&1 | filecheck %s
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --werror --diagnostics-format=json 2>&1 > /dev/null \
// RUN:   | filecheck %s --check-prefix=JSON

// WARNING: warning: custom call @foo is unknown to SDY sharding rule registry{{$}}
// WARNING: @with_warning
// CHECK:     error: custom call @foo is unknown to SDY sharding rule registry [--werror]
// CHECK-NOT: @with_warning
// JSON:      "severity": "error",
// JSON-NEXT: "promoted": true,
sdy.mesh @mesh = <["x"=2]>
func.func @with_warning(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: @without_warning
sdy.mesh @mesh = <["x"=2]>
func.func @without_warning(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Tests state the warnings that they expect, so that --werror has no use in them.
// RUN: not sdy-opt missing.mlir --werror --verify-diagnostics 2>&1 | filecheck %s --check-prefix=VERIFY
// VERIFY:      the --werror option cannot be used with --verify-diagnostics
// VERIFY-NEXT: help: remove --werror: a warning that no comment expects is an error already
func.func @main() {
  return
}

// Diagnostics are colored on a terminal, or on request.
// RUN: not sdy-opt %s 2>&1 | filecheck %s --check-prefix=PLAIN
// RUN: not env FORCE_COLOR=1 sdy-opt %s --color=never 2>&1 | filecheck %s --check-prefix=PLAIN
// RUN: not env FORCE_COLOR=1 NO_COLOR=1 sdy-opt %s 2>&1 | filecheck %s --check-prefix=PLAIN
// RUN: not env FORCE_COLOR=1 sdy-opt %s 2>&1 | filecheck %s --check-prefix=COLOR
// RUN: not sdy-opt %s --color 2>&1 | filecheck %s --check-prefix=COLOR

// PLAIN: colors.mlir:13:17: error: use of undeclared SSA value name
// COLOR:      {{.}}[1m{{.*}}colors.mlir
// COLOR-SAME: {{.}}[1;31merror:
// COLOR-NOT:  colors.mlir:{{.*}} error: use
func.func @main() {
  "func.return"(%missing) : (i32) -> ()
}

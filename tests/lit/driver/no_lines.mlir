// A program of JAX that was lowered without its lines says so once.
// RUN: sdy-opt %s --check --report --explain='@main result 0' 2> %t.check
// RUN: filecheck %s < %t.check
// RUN: sdy-opt %s --lint 2> %t.lint
// RUN: filecheck %s < %t.lint
// RUN: sdy-opt %s -sdy-propagation-pipeline 2>&1 | filecheck %s --check-prefix=SILENT

// CHECK: no_lines.mlir:{{.*}}: remark: the program has no lines of Python: it was lowered without debug_info
// CHECK: help: write jax.jit(f).lower(…).as_text(debug_info=True)
// CHECK-NOT: lowered without debug_info

// SILENT-NOT: debug_info

sdy.mesh @mesh = <["data"=4]>
func.func public @main(%a: tensor<64x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<64x8xf32> {jax.result_info = "result"}) {
  return %a : tensor<64x8xf32>
}

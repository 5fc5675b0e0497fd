// RUN: sdy-opt %s --compare-hlo=%S/Inputs/step.txt | filecheck %s
// RUN: not sdy-opt %s --compare-hlo=%S/Inputs/step.txt --hlo-budget=%S/Inputs/budget.toml 2>&1 | filecheck %s --check-prefix=BUDGET
// RUN: sdy-opt %s --compare-hlo=%S/Inputs/step.txt --compare-hlo-output=%t.json && filecheck %s --check-prefix=JSON --input-file=%t.json
// RUN: sdy-opt %s --compare-hlo=%S/Inputs/step.txt --compare-hlo-output=%t.md && filecheck %s --check-prefix=MARKDOWN --input-file=%t.md
// RUN: not sdy-opt %s --compare-hlo=%S/Inputs/step.txt --compare-hlo-output=%t.html 2>&1 | filecheck %s --check-prefix=FORMAT
// RUN: not sdy-opt %s --compare-hlo=%s 2>&1 | filecheck %s --check-prefix=TEXT

// The collectives of the report beside those of optimized HLO: by kind, axes, bytes and line.

// CHECK:      report: 1 collective, 192.0 KiB on the wire per device
// CHECK-NEXT: XLA:    2 collectives, 2.19 MiB on the wire per device
// CHECK-EMPTY:
// CHECK-NEXT: 1 of 1 collectives are the same in XLA's program
// CHECK:      report XLA kind and axes
// CHECK-NEXT: 0 B 2.00 MiB all_reduce {"x":(2)2}
// CHECK-NEXT: 192.0 KiB 192.0 KiB all_gather {"x"}
// CHECK-NEXT: report XLA bytes bytes in XLA reason
// CHECK-NEXT: 1 1 192.0 KiB 192.0 KiB same
// CHECK:      0 1 0 B 2.00 MiB only in XLA
// CHECK:      1 difference{{$}}
// CHECK:      2.00 MiB all_reduce {"x":(2)2}
// CHECK-NEXT: model.py:20: only in XLA: the sum of products, of which each device has a part: %dot
// CHECK:      1 collective in common
// CHECK-NEXT: bytes collectives where kinds and axes
// CHECK-NEXT: 192.0 KiB 1 model.py:20 all_gather {"x"}

// BUDGET: model.py:20:5: error: all_reduce collectives: 2.00 MiB on the wire, over the budget of 1.00 MiB

// JSON:      "schema": "sdy-opt-hlo-comparison",
// JSON-NEXT: "version": 1,
// JSON:      "reason": "same",
// JSON:      "reason": "only in XLA",
// JSON-NEXT: "why": "the sum of products
// JSON-NEXT: "report": [],

// MARKDOWN: ### 1 of 1 collectives are the same in XLA's program
// MARKDOWN: | 1 | 1 | 192.0 KiB | 192.0 KiB | same |
// MARKDOWN: <details><summary>1 collective in common</summary>
// MARKDOWN: <details><summary>all 2 collectives of XLA&#x27;s program</summary>
// MARKDOWN: %all-gather; jit(step)/dot\_general

// FORMAT:      .html' has the suffix of no comparison format
// FORMAT-NEXT: help: choose from .json, .md, .txt

// TEXT:      compare.mlir:1:1: error: this is not HLO text: it does not start with HloModule
// TEXT:      help: write what compiled.as_text() returns in JAX

// HLO of another program is compared with a warning, which is an error where there is a budget.
// RUN: sed 's/is_scheduled=true/entry_computation_layout={(f32[8]{0})->f32[8]{0}}/' %S/Inputs/step.txt > %t.other.txt
// RUN: sdy-opt %s --compare-hlo=%t.other.txt 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not sdy-opt %s --compare-hlo=%t.other.txt --hlo-budget=%S/Inputs/budget.toml 2>&1 | filecheck %s --check-prefix=BUDGET-OF-OTHER
// OTHER-DAG: other.txt:1:1: warning: the HLO is of another program: its entry has 1 parameter, and the program 2 arguments
// OTHER-DAG: another program? its entry has 1 parameter, and the program 2 arguments
// BUDGET-OF-OTHER: other.txt:1:1: error: the HLO is of another program: its entry has 1 parameter, and the program 2 arguments

#up = loc("jit(step)/dot_general"("block"("model.py":20:5)))

sdy.mesh @mesh = <["x"=4]>
func.func public @main(
    %arg0: tensor<4096x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4096x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<4096x128xf32>, tensor<128x512xf32>) -> tensor<4096x512xf32> loc(#up)
  return %0 : tensor<4096x512xf32>
}

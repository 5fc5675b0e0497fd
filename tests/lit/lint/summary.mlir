// Findings are diagnostics on stderr: the first line ends with the rule, the excerpt underlines the cause, and help follows.
// RUN: sdy-opt %s --lint --lint-config=- 2>&1 >%t | filecheck %s
// The summary on stdout replaces the program: a line per rule, and their sum.
// RUN: filecheck %s --check-prefix=SUMMARY --input-file=%t
// With -o, the program is written as well, after the passes of the command line.
// RUN: sdy-opt %s -canonicalize --lint --lint-config=- -o %t.mlir 2>/dev/null | filecheck %s --check-prefix=SUMMARY
// RUN: filecheck %s --check-prefix=PROGRAM --input-file=%t.mlir

// The most expensive findings come first, those without a cost last.
// CHECK: summary.mlir:31:8: warning: all_gather along "x" of f32[128,512] runs again on the same value: 768.0 KiB on the wire [repeated-collective]
// CHECK: note: the first result is for this use

// CHECK:      summary.mlir:17:1: warning: no value is sharded along axis "y" of @mesh: the 2 devices along it do the same work [unused-mesh-axis]
// CHECK-NEXT:   --> {{.*}}summary.mlir:17:27
// CHECK-NEXT: sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-NEXT:                           ^~~
sdy.mesh @mesh = <["x"=4, "y"=2]>
// Nothing can be tried on a program that has its collectives, so there is no help.
// CHECK-NOT: help:

// SUMMARY:      1  repeated-collective  768.0 KiB on the wire
// SUMMARY-NEXT: 1  unused-mesh-axis
// SUMMARY-NEXT: 2 findings of {{[0-9]+}} rules; 1.50 MiB sent, {{.*}} at the peak
// SUMMARY-NEXT: the run passes: --lint-fail-on=warning fails it; --help-lint=RULE explains a rule

// PROGRAM: sdy.all_gather
func.func @main(%a: tensor<512x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %1 = stablehlo.negate %0 : tensor<512x512xf32>
  %2 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<512x512xf32>
  %3 = stablehlo.abs %2 : tensor<512x512xf32>
  return %1, %3 : tensor<512x512xf32>, tensor<512x512xf32>
}

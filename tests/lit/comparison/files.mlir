// RUN: split-file %s %t
// The comparison replaces the program on stdout; -o writes the program as well.
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir -o %t.out.mlir | filecheck %s
// RUN: filecheck %s --check-prefix=PROGRAM < %t.out.mlir
// The suffix of --compare-output decides the format, and the program is printed as usual.
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir --compare-output=%t.md -o - | filecheck %s --check-prefix=PROGRAM
// RUN: filecheck %s --check-prefix=MARKDOWN < %t.md
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir --compare-output=%t.json -o /dev/null
// RUN: filecheck %s --check-prefix=JSON < %t.json
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir --compare-output=%t.txt -o /dev/null
// RUN: filecheck %s < %t.txt
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir --topology=tpu-v5e --compare-output=%t.html -o /dev/null
// RUN: filecheck %s --check-prefix=HTML < %t.html
// With a topology, there are times as well.
// RUN: sdy-opt %t/new.mlir --compare-with=%t/old.mlir --topology=tpu-v5e | filecheck %s --check-prefix=TIME
// --report-rows limits the tables, and stdin may be one of the programs.
// RUN: sdy-opt %t/new.mlir --compare-with=- --report-rows=1 < %t/old.mlir | filecheck %s --check-prefix=ROWS

// CHECK:         assumed: sdy-jax-pipeline
// CHECK:         shardings: 3 of 3 values changed
// PROGRAM:       func.func @main
// MARKDOWN:      <details><summary>shardings: 3 of 3 values changed</summary>
// MARKDOWN:      | change | count | where | what | value | sharding |
// MARKDOWN-NEXT: |---:|---:|---|---|---|---|
// MARKDOWN-NEXT: | 0 | 1 |  | result | result 0 | f32\[8,8\]: P('x') → P(None, 'x') |
// JSON:          "schema": "sdy-opt-comparison",
// JSON-NEXT:     "version": 1,
// JSON-NEXT:     "is_empty": false,
// JSON-NEXT:     "assumptions": [
// JSON:          "matched": 3,
// JSON:          "shardings": [
// JSON:            "role": "argument",
// JSON:            "before": {
// JSON-NEXT:         "function": "main",
// JSON-NEXT:         "value": "%arg0",
// JSON-NEXT:         "type": "tensor<8x8xf32>",
// JSON-NEXT:         "sharding": "<@mesh, [{\"x\"}, {}]>",
// JSON-NEXT:         "bytes": 128
// JSON:          "wire_bytes": {
// JSON-NEXT:       "before": 0,
// HTML:          <p>after   {{.*}}new.mlir</p>
// HTML:          <h3>memory</h3><p class="figure">4.00 KiB</p><p class="unit">at the peak</p>
// HTML-SAME:     fits in 15.8 GiB
// HTML-SAME:     estimated for one run
// TIME:          estimated time: 1.23 us
// ROWS:          before  <stdin>
// ROWS:          f32[8,8]: P('x') → P(None, 'x')
// ROWS-NEXT:     … and 1 more

//--- old.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- new.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The suffix of the file selects the format.
// RUN: sdy-opt %s --report=%t.json -o /dev/null && filecheck %s --check-prefix=JSON < %t.json
// RUN: sdy-opt %s --report=%t.md -o /dev/null && filecheck %s --check-prefix=MARKDOWN < %t.md
// RUN: sdy-opt %s --report=%t.html -o /dev/null && filecheck %s --check-prefix=HTML < %t.html
// RUN: sdy-opt %s --report=%t.txt -o /dev/null && filecheck %s --check-prefix=TEXT < %t.txt
// RUN: not sdy-opt %s --report=%t.pdf 2>&1 | filecheck %s --check-prefix=SUFFIX

// The file has no other use.
// RUN: not sdy-opt %s --report=%t.json -o %t.json 2>&1 | filecheck %s --check-prefix=OUTPUT
// RUN: not sdy-opt %s --report=%t.json --baseline=%t.json 2>&1 | filecheck %s --check-prefix=BASELINE
// RUN: not sdy-opt %s --report= 2>&1 | filecheck %s --check-prefix=EMPTY

// JSON:      "schema": "sdy-opt-report",
// JSON-NEXT: "version": 1,
// JSON:      "kind": "all_reduce",
// JSON:      "wire_bytes": 32,
// MARKDOWN:  | **communication** | 32 B on the wire per device, 1 collective |
// MARKDOWN:  **where devices send most**
// MARKDOWN:  <details><summary>communication: 32 B on the wire per device, 1 collective</summary>
// MARKDOWN:  | 32 B | 100% | 1 | all\_reduce {"x"} |
// HTML:      <!doctype html>
// HTML:      default-src &#39;none&#39;; script-src &#39;sha256-
// HTML:      <p class="figure">32 B</p><p class="unit">sent by each device in 1 collective</p>
// HTML-SAME: 100% all_reduce along <i class="a0">x</i>
// HTML-SAME: unknown whether it fits: give --device-memory or --topology
// TEXT:      communication: 32 B on the wire per device, 1 collective
// SUFFIX:    sdy-opt: '{{.*}}.pdf' has the suffix of no report format
// SUFFIX:    help: choose from .html, .json, .md, .txt
// OUTPUT:    sdy-opt: for the --report option: '{{.*}}.json' is also the file of -o
// OUTPUT:    help: write the report to a file of its own
// BASELINE:  sdy-opt: for the --report option: '{{.*}}.json' is also the file of --baseline
// EMPTY:     sdy-opt: for the --report option: the file name is empty
sdy.mesh @mesh = <["x"=2]>

func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// RUN: sdy-opt %s -symbol-dce --mlir-pass-statistics -o /dev/null 2>&1 | filecheck %s --check-prefix=COUNTS
// RUN: sdy-opt %s -symbol-dce --mlir-timing -o /dev/null 2>&1 | filecheck %s --check-prefix=TIMES
// RUN: sdy-opt %s -symbol-dce --mlir-timing --mlir-timing-display=list --mlir-output-format=json -o /dev/null 2>&1 | filecheck %s --check-prefix=JSON

// COUNTS:      ... Pass statistics report ...
// COUNTS:      SymbolDCEPass
// COUNTS-NEXT:   (S) 1 num-dce'd - {{.*}}

// TIMES: ... Execution time report ...
// TIMES: {{[0-9.]+}} ({{ *[0-9.]+}}%)  Parser
// TIMES: {{[0-9.]+}} ({{ *[0-9.]+}}%)  SymbolDCEPass
// TIMES: {{[0-9.]+}} (100.0%)  Total

// JSON: "name": "root"}
// JSON: "name": "SymbolDCEPass"}
func.func private @unused() {
  return
}

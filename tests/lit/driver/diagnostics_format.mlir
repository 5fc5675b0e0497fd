// Tools read diagnostics in a format of their own: each has an id, a location, notes and help.
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --diagnostics-format=json 2>&1 > /dev/null \
// RUN:   | filecheck %s --check-prefix=JSON
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --diagnostics-format=github 2>&1 > /dev/null \
// RUN:   | filecheck %s --check-prefix=GITHUB
// RUN: not sdy-opt %s -split-input-file -sdy-basic-propagate --diagnostics-format=sarif 2>&1 > /dev/null \
// RUN:   | filecheck %s --check-prefix=SARIF

// JSON:      "schema": "sdy-opt-diagnostics",
// JSON-NEXT: "version": 1,
// JSON:      "exit_code": 1,

// A value of the wrong type: an error with a note at another line.
// JSON:      "id": "parse-error",
// JSON-NEXT: "severity": "error",
// JSON:      "message": "use of value '%0' expects different type than prior uses
// JSON:      "file": "{{.*}}diagnostics_format.mlir",
// JSON:      "message": "prior use here",
// GITHUB:      ::error file={{.*}}diagnostics_format.mlir,line={{[0-9]+}},col=10,title=parse-error::use of value '%250' expects
// GITHUB-SAME: %0A{{.*}}:3: note: prior use here
// SARIF:      "id": "parse-error",
// SARIF:      "id": "unknown-sharding-rule",
// SARIF:      "ruleId": "parse-error",
// SARIF:      "level": "error",
// SARIF:      "relatedLocations":
func.func @parse_error(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<8xf32>
}

// -----

// The name of an operation that the verifier rejects is part of the id.
// JSON:      "id": "verify-error/stablehlo.transpose",
// GITHUB:    title=verify-error/stablehlo.transpose::
// SARIF:     "ruleId": "verify-error/stablehlo.transpose",
func.func @verify_error(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A warning of a pass, at the line of the Python source that the program names, and in this file. GitHub shows
// the first of the two that exists.
// JSON:      "id": "unknown-sharding-rule",
// JSON-NEXT: "severity": "warning",
// JSON:      "file": "model, v1.py",
// JSON-NEXT: "line": 3,
// JSON:      "input_location": {
// JSON-NEXT:   "file": "tests/lit/driver/diagnostics_format.mlir",
// JSON:      "pass": "sdy-basic-propagate",
// JSON-NEXT: "operation": "stablehlo.custom_call",
// GITHUB:      ::warning file=tests/lit/driver/diagnostics_format.mlir,line=62,col=30,title=unknown-sharding-rule::
// GITHUB-SAME: custom call @foo is unknown
// GITHUB-SAME: %0Aat model, v1.py:3:4%0Ain pass sdy-basic-propagate
// SARIF:     "ruleId": "unknown-sharding-rule",
// SARIF:     "level": "warning",
// SARIF:     "uri": "model%2C%20v1.py",
sdy.mesh @mesh = <["x"=2]>
func.func @warning(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("model, v1.py":3:4)
  return %0 : tensor<4xf32>
}

// With a file, its suffix selects the format, and stderr shows the text too.
// RUN: not sdy-opt %s --diagnostics-output=%t/found.json 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: filecheck %s --check-prefix=JSON --input-file %t/found.json
// RUN: not sdy-opt %s --diagnostics-output=%t/found.sarif 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: filecheck %s --check-prefix=SARIF --input-file %t/found.sarif
// RUN: not sdy-opt %s --diagnostics-output=%t/found.txt 2>&1 | filecheck %s --check-prefix=TEXT
// RUN: filecheck %s --check-prefix=TEXT --input-file %t/found.txt

// TEXT:      diagnostics_output.mlir:[[LINE:[0-9]+]]:{{[0-9]+}}: error: custom op 'stablehlo.negat' is unknown
// TEXT-NEXT: stablehlo.negat
// JSON:      "message": "custom op 'stablehlo.negat' is unknown
// SARIF:     "text": "custom op 'stablehlo.negat' is unknown

// The file is written when there is nothing to report, too.
// RUN: sdy-opt --version --diagnostics-output=%t/nothing.json | filecheck %s --check-prefix=VERSION
// RUN: filecheck %s --check-prefix=NOTHING --input-file %t/nothing.json
// VERSION: sdy-opt
// NOTHING: "exit_code": 0,
// NOTHING: "diagnostics": []

// A usage error has no location. In SARIF it is a notification of the tool, not a result.
// RUN: not sdy-opt %s -csee --diagnostics-format=json 2>&1 | filecheck %s --check-prefix=USAGE
// USAGE:      "exit_code": 2,
// USAGE:      "id": "usage-error",
// USAGE:      "message": "Unknown command line argument '-csee'.
// USAGE-NEXT: "location": null,
// USAGE:      "help": "did you mean '--cse'?"
// RUN: not sdy-opt missing.mlir --diagnostics-format=sarif 2>&1 | filecheck %s --check-prefix=NOTIFICATION
// NOTIFICATION: "executionSuccessful": false,
// NOTIFICATION: "toolExecutionNotifications": [
// NOTIFICATION: "id": "file-error"
// NOTIFICATION: "results": []

// An error in the text of a pipeline has a location in this text.
// RUN: not sdy-opt %s --pass-pipeline="builtin.module(csee)" --diagnostics-format=json 2>&1 \
// RUN:   | filecheck %s --check-prefix=PIPELINE
// PIPELINE:      "message": "'csee' does not refer to a registered pass or pass pipeline",
// PIPELINE:      "line": 1,
// PIPELINE-NEXT: "column": 16,

// With --verify-diagnostics, only what was not expected is reported.
// RUN: not sdy-opt %s --verify-diagnostics --diagnostics-format=json 2>&1 | filecheck %s --check-prefix=EXPECTED
// EXPECTED: "id": "unexpected-diagnostic",

// RUN: not sdy-opt %s --diagnostics-format=xml 2>&1 | filecheck %s --check-prefix=FORMAT
// FORMAT:      sdy-opt: for the --diagnostics-format option: Cannot find option named 'xml'!
// FORMAT-NEXT: help: choose from text, json, github, sarif

// Standard output has one use.
// RUN: not sdy-opt %s --diagnostics-output=- 2>&1 | filecheck %s --check-prefix=STDOUT
// STDOUT:      for the --diagnostics-output option: '-' is also the file of -o
// STDOUT-NEXT: help: write the diagnostics to a file of their own
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negat %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

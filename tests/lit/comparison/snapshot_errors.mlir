// RUN: split-file %s %t
// RUN: not sdy-opt %s --check-snapshot=%s 2>&1 | filecheck %s --check-prefix=JSON
// RUN: not sdy-opt %s --check-snapshot=%t/report.json 2>&1 | filecheck %s --check-prefix=SCHEMA
// RUN: not sdy-opt %s --check-snapshot=%t/version.json 2>&1 | filecheck %s --check-prefix=VERSION
// RUN: not sdy-opt %s --check-snapshot=%t/axis.json 2>&1 | filecheck %s --check-prefix=AXIS
// RUN: not sdy-opt %s --snapshot=%t.mlir 2>&1 | filecheck %s --check-prefix=SUFFIX
// RUN: not sdy-opt %s --snapshot --report 2>&1 | filecheck %s --check-prefix=STDOUT
// RUN: not sdy-opt %s --snapshot --lint 2>&1 | filecheck %s --check-prefix=STDOUT
// RUN: sdy-opt %t/program.mlir --snapshot-places=model.py -o /dev/null 2>&1 | filecheck %s --check-prefix=PLACES

// JSON:    snapshot_errors.mlir:1:1: error: invalid JSON: Expecting value
// JSON:    help: write a snapshot with --snapshot=FILE.json
// SCHEMA:  report.json:1:1: error: not a snapshot of sdy-opt: it has no "schema": "sdy-opt-snapshot"
// VERSION: version.json:1:43: error: not a snapshot of this version of sdy-opt: its version is not 1
// AXIS:    axis.json:5:63: error: element 0 must be a string
// SUFFIX:  sdy-opt: for the --snapshot option: '{{.*}}.mlir' does not end with .json
// STDOUT:  sdy-opt: the --snapshot option prints on stdout, and so does another one
// STDOUT:  help: write the snapshot to a file with --snapshot=FILE.json
// PLACES:  sdy-opt: warning: the --snapshot-places option has no effect
// PLACES:  help: add --snapshot

//--- program.mlir
sdy.mesh @mesh = <["x"=2]>

//--- report.json
{"schema": "sdy-opt-report"}

//--- version.json
{"schema": "sdy-opt-snapshot", "version": 2}

//--- axis.json
{
 "schema": "sdy-opt-snapshot",
 "version": 1,
 "meshes": {}, "functions": {}, "values": [
  {"at": "layer/tanh", "type": "tensor<8xf32>", "sharding": [[1]]}
 ]
}

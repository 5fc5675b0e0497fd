// The pass reports on the program between two passes: here before and after reshards become collectives.
// RUN: sdy-opt %s -sdy-report=file=%t.before.md -sdy-reshard-to-collectives -sdy-report=file=%t.after.md | filecheck %s --check-prefix=PROGRAM
// RUN: filecheck %s --check-prefix=BEFORE < %t.before.md
// RUN: filecheck %s --check-prefix=AFTER < %t.after.md
// Without a file, the report is printed on stderr.
// RUN: sdy-opt %s -sdy-report='rows=1 topology=%S/Inputs/topology.toml' -o /dev/null 2>&1 | filecheck %s --check-prefix=STDERR
// Errors are located at the module.
// RUN: not sdy-opt %s -sdy-report=file=%t.pdf 2>&1 | filecheck %s --check-prefix=SUFFIX
// RUN: not sdy-opt %s -sdy-report=file=%t/missing/report.md 2>&1 | filecheck %s --check-prefix=FOLDER
// RUN: not sdy-opt %s -sdy-report=topology=%S/Inputs/missing.toml 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not sdy-opt %s -sdy-report=topology=%S/Inputs/unknown_key.toml 2>&1 | filecheck %s --check-prefix=TOPOLOGY

// PROGRAM:  sdy.all_gather
// BEFORE:   | **communication** | 0 B on the wire per device, 0 collectives |
// BEFORE:   | 1 | %0 | pass.mlir:{{[0-9]+}} | tensor\<64x32xf32\> | reshard |
// AFTER:    | **communication** | 6.00 KiB on the wire per device, 1 collective |
// Names of functions are escaped, so that GitHub and GitLab do not show them as mentions of users.
// AFTER:    result 0 of @<!-- -->main needs this sharding: the program states it
// STDERR:   communication: 0 B on the wire per device, 0 collectives
// STDERR:   estimated time: 10.2 us
// SUFFIX:   pass.mlir:{{.*}}: error: '{{.*}}.pdf' has the suffix of no report format
// SUFFIX:   help: choose from .html, .json, .md, .txt
// FOLDER:   error: cannot open file '{{.*}}/missing/report.md': No such file or directory
// MISSING:  error: cannot open file '{{.*}}missing.toml': No such file or directory
// TOPOLOGY: unknown_key.toml:1:1: error: unknown table or key 'total'
sdy.mesh @mesh = <["x"=4, "y"=2]>

func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<64x32xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

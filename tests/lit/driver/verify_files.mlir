// sdy-opt-verify parses and verifies many programs in one process, such as those of a commit.

// RUN: split-file %s %t

// It prints the number of programs, and not the programs.
// RUN: sdy-opt-verify %t/valid.mlir %t/other.mlir | filecheck %s
// CHECK-NOT: module
// CHECK:     {{^}}2 programs verified{{$}}
// CHECK-NOT: module

// Each invalid program is reported, and so is a file that cannot be read. The others are still verified.
// RUN: not sdy-opt-verify %t/undefined.mlir %t/missing.mlir %t/valid.mlir %t/syntax.mlir 2>&1 \
// RUN:   | filecheck %s --check-prefix=INVALID
// INVALID-DAG: undefined.mlir:2:3: error: type of return operand 0
// INVALID-DAG: cannot open input file {{.*}}missing.mlir
// INVALID-DAG: syntax.mlir:1:{{[0-9]+}}: error:
// INVALID-DAG: {{^}}4 programs checked, 3 invalid{{$}}

// A folder stands for the .mlir files in it. A file with RUN lines is a lit test, and is skipped.
// RUN: sdy-opt-verify %t/folder | filecheck %s --check-prefix=FOLDER
// FOLDER: {{^}}1 program verified; 1 lit test skipped{{$}}

// Only the first lines of the operation of an error are shown; all of them on request.
// RUN: not sdy-opt-verify %t/axis.mlir 2>&1 | filecheck %s --check-prefix=SHORT
// The excerpt has the mistake, so the function is not shown.
// SHORT:      error: 'func.func' op arg 0 - unknown axis name: "xx"
// SHORT-NOT:  note: see current operation:
// SHORT:      help: did you mean "x"?
// RUN: not sdy-opt-verify %t/axis.mlir --max-diagnostic-op-lines=0 2>&1 | filecheck %s --check-prefix=WHOLE
// WHOLE:     "func.return"

// The flags for reading programs are those of sdy-opt.
// RUN: not sdy-opt-verify %t/chunks.mlir
// RUN: sdy-opt-verify %t/chunks.mlir --split-input-file --allow-unregistered-dialect

// The formats of diagnostics are those of sdy-opt, too.
// RUN: not sdy-opt-verify %t/syntax.mlir %t/undefined.mlir --diagnostics-format=github 2>&1 \
// RUN:   | filecheck %s --check-prefix=GITHUB
// GITHUB-DAG: ::error file={{.*}}syntax.mlir,line=1
// GITHUB-DAG: ::error file={{.*}}undefined.mlir,line=2

// Passes and other flags are usage errors.
// RUN: not sdy-opt-verify %t/valid.mlir -cse 2>&1 | filecheck %s --check-prefix=PASS
// PASS: Unknown command line argument '-cse'
// PASS: help: {{.*}}sdy-opt runs passes
// RUN: not sdy-opt-verify %t/valid.mlir --split-input 2>&1 | filecheck %s --check-prefix=NEAREST
// NEAREST: help: did you mean '--split-input-file'?
// RUN: not sdy-opt-verify 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING: no programs to verify
// RUN: mkdir -p %t/empty
// RUN: not sdy-opt-verify %t/empty 2>&1 | filecheck %s --check-prefix=NO-FILE
// NO-FILE:      no programs to verify
// NO-FILE-NEXT: help: there is no .mlir file in {{.*}}empty
// RUN: sdy-opt-verify --help | filecheck %s --check-prefix=HELP
// HELP: usage: sdy-opt-verify
// HELP: --split-input-file=MARKER

// END.
//--- valid.mlir
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
//--- other.mlir
sdy.mesh @mesh = <["x"=2]>
//--- undefined.mlir
func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  return %x : tensor<2xf32>
}
//--- axis.mlir
sdy.mesh @mesh = <["x"=2]>
func.func @f(%x: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"xx"}]>}) -> tensor<2xf32> {
  %0 = stablehlo.negate %x : tensor<2xf32>
  %1 = stablehlo.negate %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
//--- syntax.mlir
func.func @f(
//--- folder/sub/program.mlir
module {}
//--- folder/test.mlir
// RUN: sdy-opt %s
no.op
//--- folder/notes.txt
no.op
//--- chunks.mlir
func.func private @f()
// -----
func.func private @f()
"my.op"() : () -> ()

// The errors of the other program are shown at its lines, and nothing is written.
// RUN: echo 'func.func @main() { stablehlo.oops }' > %t.faulty.mlir
// RUN: not sdy-opt %s --compare-with=%t.faulty.mlir 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not sdy-opt %s --compare-with=%t.missing.mlir 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not sdy-opt %s --compare-pipeline=-sdy-close-sharding 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not sdy-opt %s --compare-output=%t.md 2>&1 | filecheck %s --check-prefix=NOTHING
// RUN: not sdy-opt %s --compare-with=%s --compare-output=%t.pdf 2>&1 | filecheck %s --check-prefix=SUFFIX
// RUN: not sdy-opt - --compare-with=- 2>&1 < %s | filecheck %s --check-prefix=STDIN
// RUN: not sdy-opt %s --compare-with=%s --split-input-file='sdy.mesh' 2>&1 | filecheck %s --check-prefix=CHUNKS

// OTHER:   errors.mlir.tmp.faulty.mlir:1:21: error: custom op 'stablehlo.oops' is unknown
// OTHER:   func.func @main() { stablehlo.oops }
// OTHER-NOT: sdy.mesh
// MISSING: sdy-opt: cannot open input file '{{.*}}.missing.mlir'
// PASS:    sdy-opt: for the --compare-pipeline option: {{.*}}sdy-close-sharding
// PASS:    help: did you mean 'sdy-close-shardings'?
// NOTHING: sdy-opt: the --compare-output option has nothing to compare
// NOTHING: help: add --compare-with=FILE or --compare-pipeline=PASSES
// SUFFIX:  sdy-opt: '{{.*}}.pdf' has the suffix of no comparison format
// SUFFIX:  help: choose from .html, .json, .md, .txt
// STDIN:   sdy-opt: the program and the one to compare it with cannot both be read from stdin
// CHUNKS:  error: the input has {{[0-9]+}} chunks, and --compare-with={{.*}} is one program
// CHUNKS:  help: compare each chunk in a file of its own
sdy.mesh @mesh = <["x"=2]>

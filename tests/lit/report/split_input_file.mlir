// Each chunk has a report of its own on stdout; a file can contain one only.
// RUN: sdy-opt %s --split-input-file --report | filecheck %s
// RUN: not sdy-opt %s --split-input-file --report=%t.md 2>&1 | filecheck %s --check-prefix=FILE

// CHECK: 2 devices, mesh <["x"=2]>
// CHECK: 4 devices, mesh <["y"=4]>
// FILE:  split_input_file.mlir:11:9: error: the input has 2 chunks, and --report={{.*}}.md is one file
// FILE:  help: print a report for each chunk with --report, or give each chunk a file of its own
sdy.mesh @mesh = <["x"=2]>

// -----

sdy.mesh @mesh = <["y"=4]>

// REQUIRES: processes
// RUN: not sdy-opt %s --reduce=false 2> %t
// RUN: filecheck %s --check-prefix=NO-FILE --input-file %t
// NO-FILE:      sdy-opt: for the --reduce option: the command has no %s
// NO-FILE-NEXT: help: %s stands for the file with the program, as in --reduce='! sdy-opt %s -cse'

// RUN: not sdy-opt %s --reduce='echo why >&2; false %%s' 2> %t
// RUN: filecheck %s --check-prefix=FAILS --input-file %t
// FAILS:      <unknown>:0: error: cannot reduce: the command fails for the whole program: exit status 1
// FAILS-NEXT: why
// FAILS-NEXT: help: the command succeeds as long as a program has the problem, as in '! sdy-opt %s'

// RUN: not sdy-opt %s --reduce='sleep 100; true %%s' --reduce-timeout=1 2> %t
// RUN: filecheck %s --check-prefix=SLOW --input-file %t
// SLOW: error: cannot reduce: the command fails for the whole program: it takes more than 1 seconds

// RUN: not sdy-opt %s --split-input-file --reduce='true %%s' 2> %t
// RUN: filecheck %s --check-prefix=CHUNKS --input-file %t
// CHUNKS: error: the input has 2 chunks, and --reduce reduces one program
// CHUNKS: help: write the chunk to a file of its own

// RUN: sdy-opt %s --reduce-timeout=1 2> %t
// RUN: filecheck %s --check-prefix=NO-EFFECT --input-file %t
// NO-EFFECT: warning: the --reduce-timeout option has no effect
func.func @f() {
  return
}
// -----

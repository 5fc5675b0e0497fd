// RUN: not sdy-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// FOLDER: sdy-opt: cannot open input file '{{.*}}': folder '{{.*}}' has no dump of Shardy

// RUN: not sdy-opt %s -o %S 2>&1 | filecheck %s --check-prefix=INTO
// INTO: sdy-opt: cannot open output file '{{.*}}': Is a directory

// RUN: not sdy-opt %s -o %t/missing/out.mlir 2>&1 | filecheck %s --check-prefix=NOWHERE
// NOWHERE: sdy-opt: cannot open output file '{{.*}}out.mlir': No such file or directory

// A run that fails does not change an existing output file.
// RUN: printf 'unchanged\n' > %t
// RUN: not sdy-opt %s --pass-pipeline="func.func(cse)" -o %t 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: filecheck %s --check-prefix=KEPT --input-file %t
// FAILED: error: can't run 'func.func' pass manager
// KEPT:   unchanged

// The output file may be the input file.
// RUN: sdy-opt %s -o %t && sdy-opt %t -symbol-dce -o %t && filecheck %s --check-prefix=IN-PLACE --input-file %t
// IN-PLACE:      module {
// IN-PLACE-NEXT: }
func.func private @unused()

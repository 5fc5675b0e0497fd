// RUN: not sdy-opt %S 2>&1 | filecheck %s --check-prefix=FOLDER
// FOLDER: sdy-opt: cannot open input file '{{.*}}': folder '{{.*}}' has no dump of Shardy

// RUN: not sdy-opt %s -o %S 2>&1 | filecheck %s --check-prefix=INTO
// INTO: sdy-opt: cannot open output file '{{.*}}': Is a directory

// RUN: not sdy-opt %s -o %t/missing/out.mlir 2>&1 | filecheck %s --check-prefix=NOWHERE
// NOWHERE: sdy-opt: cannot open output file '{{.*}}out.mlir': No such file or directory

// A device has no end.
// RUN: not sdy-opt %s --report --budget=/dev/zero 2>&1 | filecheck %s --check-prefix=ENDLESS
// RUN: not sdy-opt %s --report --topology=/dev/zero 2>&1 | filecheck %s --check-prefix=ENDLESS
// RUN: not sdy-opt %s --lint --lint-config=/dev/zero 2>&1 | filecheck %s --check-prefix=ENDLESS
// ENDLESS: sdy-opt: cannot open input file '/dev/zero': it has more than 256 MiB

// A file of arguments is small.
// RUN: python3 -c "import sys; sys.stdout.write(' ' * 10000001)" > %t && not sdy-opt @%t 2>&1 | filecheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: has more than 10,000,000 characters of arguments

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

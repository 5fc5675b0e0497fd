// An invalid regular expression, and a format that cannot be written.
// RUN: not sdy-opt %s --remarks-filter='(' 2>&1 | filecheck %s --check-prefix=REGEX
// REGEX: sdy-opt: for the --remarks-filter option: '(' is not a regular expression: missing )
// REGEX: help: such as propagation, or .* for all categories

// RUN: not sdy-opt %s --remarks-filter=.* --remark-format=bitstream 2>&1 | filecheck %s --check-prefix=BITSTREAM
// BITSTREAM: sdy-opt: for the --remark-format option: bitstream is not written
// BITSTREAM-NEXT: help: write yaml; 'llvm-remarkutil yaml2bitstream' converts it

// A filter that no category matches, and flags that need another one, have no effect.
// RUN: sdy-opt %s --remarks-filter-passed=propagate 2>&1 | filecheck %s --check-prefix=CATEGORY
// CATEGORY: sdy-opt: warning: for the --remarks-filter-passed option: no category matches 'propagate'
// CATEGORY-NEXT: help: the categories are annotation, propagation, reshard

// RUN: sdy-opt %s --remark-format=yaml 2>&1 | filecheck %s --check-prefix=FILTER
// FILTER: sdy-opt: warning: the --remark-format option has no effect
// FILTER-NEXT: help: add --remarks-filter

// RUN: sdy-opt %s --remarks-filter=.* --remarks-output-file=%t.yaml 2>&1 | filecheck %s --check-prefix=FORMAT
// FORMAT: sdy-opt: warning: the --remarks-output-file option has no effect
// FORMAT-NEXT: help: add --remark-format=yaml

// A file has one use.
// RUN: not sdy-opt %s --remarks-filter=.* --remark-format=yaml --remarks-output-file=%t.out -o %t.out 2>&1 | filecheck %s --check-prefix=FILE
// FILE: sdy-opt: for the --remarks-output-file option: '{{.*}}' is also the file of -o

func.func @main() {
  return
}

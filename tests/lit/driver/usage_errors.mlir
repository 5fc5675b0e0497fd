// Usage errors are reported before the input is read, with a suggestion.
// RUN: not sdy-opt missing.mlir -cannonicalize 2>&1 | filecheck %s --check-prefix=PASS
// PASS:      sdy-opt: Unknown command line argument '-cannonicalize'.  Try: 'sdy-opt --help'
// PASS-NEXT: help: did you mean '--canonicalize'?

// RUN: not sdy-opt missing.mlir --mlir-print-op-genric 2>&1 | filecheck %s --check-prefix=FLAG
// FLAG:      Unknown command line argument '--mlir-print-op-genric'.
// FLAG-NEXT: help: did you mean '--mlir-print-op-generic'?

// Without a close match there is no suggestion.
// RUN: not sdy-opt missing.mlir --frobnicate 2>&1 | filecheck %s --check-prefix=NOTHING
// NOTHING:     Unknown command line argument '--frobnicate'.
// NOTHING-NOT: help:

// RUN: not sdy-opt missing.mlir --verify-each=perhaps 2>&1 | filecheck %s --check-prefix=SWITCH
// SWITCH: for the --verify-each option: 'perhaps' is invalid value for boolean argument! Try 0 or 1

// RUN: not sdy-opt missing.mlir --mlir-elide-elementsattrs-if-larger=-1 2>&1 | filecheck %s --check-prefix=NUMBER
// NUMBER: for the --mlir-elide-elementsattrs-if-larger option: '-1' value invalid for uint argument!

// RUN: not sdy-opt missing.mlir --mlir-timing-display=graph 2>&1 | filecheck %s --check-prefix=CHOICE
// CHOICE:      for the --mlir-timing-display option: Cannot find option named 'graph'!
// CHOICE-NEXT: help: choose from tree, list

// RUN: not sdy-opt missing.mlir other.mlir 2>&1 | filecheck %s --check-prefix=TWO
// TWO:      Too many positional arguments specified!
// TWO-NEXT: Can specify at most 1 positional arguments
// TWO-NEXT: help: remove the second input 'other.mlir'

// RUN: not sdy-opt missing.mlir -o 2>&1 | filecheck %s --check-prefix=VALUE
// VALUE:      for the -o option: requires a value!
// VALUE-NEXT: help: write -o FILE

// RUN: not sdy-opt missing.mlir --load-pass-plugin=none-such 2>&1 | filecheck %s --check-prefix=PLUGIN
// PLUGIN: Failed to load passes from 'none-such': no installed package has this entry point

// RUN: not sdy-opt missing.mlir --load-analysis-plugin=none-such 2>&1 | filecheck %s --check-prefix=ANALYSIS
// ANALYSIS: Failed to load an analysis from 'none-such': no installed package has this entry point

// RUN: not sdy-opt --help-pass csee 2>&1 | filecheck %s --check-prefix=MANUAL
// MANUAL:      'csee' does not refer to a registered pass or pass pipeline
// MANUAL-NEXT: help: did you mean 'cse'?

// RUN: not sdy-opt missing.mlir --mlir-print-ir-after=csee 2>&1 | filecheck %s --check-prefix=AFTER
// AFTER:      for the --mlir-print-ir-after option: Cannot find option named 'csee'!
// AFTER-NEXT: help: did you mean 'cse'?

// A flag of mlir-opt that does not exist here is named as such.
// RUN: not sdy-opt missing.mlir --debug-only=x 2>&1 | filecheck %s --check-prefix=ELSEWHERE
// ELSEWHERE:      Unknown command line argument '--debug-only': a flag of mlir-opt that sdy-opt does not have
// ELSEWHERE-NEXT: help: use '--log-actions-to', '--mlir-print-ir-after-change'

// A flag with a value is given at most once, unless it takes a list.
// RUN: not sdy-opt missing.mlir -o a -o b 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE:      for the -o option: may only occur zero or one times!
// TWICE-NEXT: help: remove 'a' or 'b'

// The pipeline of a reproducer is the only one.
// RUN: not sdy-opt missing.mlir --run-reproducer -cse 2>&1 | filecheck %s --check-prefix=REPRODUCER
// REPRODUCER:      the --run-reproducer option runs the pipeline of the input and cannot be used with passes
// REPRODUCER-NEXT: help: remove --run-reproducer, or the passes

// RUN: not sdy-opt "" 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: sdy-opt: cannot open input file '': the name is empty

// A pass of another C++ tool is named as such.
// RUN: not sdy-opt missing.mlir -stablehlo-legalize-to-linalg 2>&1 | filecheck %s --check-prefix=OTHER
// OTHER:      Unknown command line argument '-stablehlo-legalize-to-linalg'.
// OTHER-NEXT: help: this is a pass of stablehlo-opt, which sdy-opt does not have
// RUN: not sdy-opt missing.mlir "--pass-pipeline=builtin.module(convert-scf-to-cf)" 2>&1 | filecheck %s --check-prefix=MLIR
// MLIR: help: this is a pass of mlir-opt, which sdy-opt does not have

// Arguments of a file take the place of its name; a file does not contain itself, and quotes end.
// RUN: echo "-cse '--pass-pipeline=builtin.module(x y)'" > %t.args
// RUN: not sdy-opt missing.mlir @%t.args 2>&1 | filecheck %s --check-prefix=ARGUMENTS
// ARGUMENTS: '-pass-pipeline' option can't be used with individual pass options
// RUN: echo "-cse @%t.self" > %t.self
// RUN: not sdy-opt @%t.self 2>&1 | filecheck %s --check-prefix=SELF
// SELF:      contain '@{{.*}}.self'
// SELF-NEXT: help: remove '@{{.*}}.self'
// RUN: echo "-cse 'x" > %t.open
// RUN: not sdy-opt @%t.open 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: the arguments in '{{.*}}.open': No closing quotation

// RUN: printf '\377' > %t.binary
// RUN: not sdy-opt @%t.binary 2>&1 | filecheck %s --check-prefix=BINARY
// BINARY: the arguments in '{{.*}}.binary': 'utf-8' codec can't decode byte 0xff
// RUN: not sdy-opt @missing 2>&1 | filecheck %s --check-prefix=NOFILE
// NOFILE: cannot open input file '@missing'

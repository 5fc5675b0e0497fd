// RUN: sdy-opt --help | filecheck %s --check-prefix=HELP
// RUN: sdy-opt -h | filecheck %s --check-prefix=HELP
// HELP:      Usage: sdy-opt [OPTIONS] [INPUT]
// HELP:      Diagnostics:
// HELP-NEXT:   --verify-diagnostics[=all|only-expected]
// HELP-NOT:  --output-split-marker
// HELP:      Exit codes: 0: success

// All flags, passes and options:
// RUN: sdy-opt --help-hidden | filecheck %s --check-prefix=HIDDEN
// RUN: sdy-opt --help-list-hidden | filecheck %s --check-prefix=HIDDEN
// HIDDEN:      --output-split-marker
// HIDDEN:      Passes:
// HIDDEN-NEXT:   -canonicalize
// HIDDEN-NEXT:     patterns
// HIDDEN-NEXT:       top-down=bool
// HIDDEN:      Pipelines:

// The manual is the docstring of the pass's file, followed by its anchor and its options.
// RUN: sdy-opt --help-pass sdy-close-shardings | filecheck %s --check-prefix=MANUAL
// RUN: sdy-opt --help-pass=-sdy-close-shardings | filecheck %s --check-prefix=MANUAL
// MANUAL:      sdy-close-shardings: close every dimension sharding.
// MANUAL:      becomes
// MANUAL:      Runs on builtin.module.

// RUN: sdy-opt -help-pass=canonicalize | filecheck %s --check-prefix=OPTIONS
// OPTIONS:      Runs on any operation.
// OPTIONS:      Options:
// OPTIONS:        max-iterations=int {{.*}}
// OPTIONS-NEXT:   patterns and region simplification (default:

// RUN: sdy-opt --list-passes | filecheck %s --check-prefix=LIST
// LIST:      Passes:
// LIST:        -sdy-basic-propagate               propagate shardings that do not conflict
// LIST-NEXT:   -sdy-close-shardings               close every dimension sharding
// LIST:      Pipelines:

// RUN: sdy-opt --list-passes=full | filecheck %s --check-prefix=FULL
// FULL:        -sdy-aggressive-propagate
// FULL-NEXT:       keep-sharding-rules=bool

// RUN: sdy-opt --skill | filecheck %s --check-prefix=SKILL
// SKILL:      ---
// SKILL-NEXT: name: sdy-opt
// SKILL-NEXT: description: Find and fix expensive or wrong shardings in JAX programs
// SKILL:      sdy-opt step.mlir --check

// RUN: sdy-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: {{.*}}builtin,{{.*}}func,{{.*}}sdy,{{.*}}stablehlo
// DIALECTS-NEXT: With only some operations: affine,arith,linalg,quant,scf,shape,tensor,tosa

// RUN: sdy-opt --version | filecheck %s --check-prefix=VERSION
// VERSION: sdy-opt {{[0-9]+\.[0-9]+}}

// Flags are completed with the number of dashes typed, and --help-pass with names of passes.
// RUN: env _SDY_OPT_COMPLETE=bash_complete COMP_CWORD=1 COMP_WORDS="sdy-opt -symbol" sdy-opt | filecheck %s --check-prefix=ONE-DASH
// RUN: env _SDY_OPT_COMPLETE=bash_complete COMP_CWORD=2 COMP_WORDS="sdy-opt --help-pass symbol" sdy-opt | filecheck %s --check-prefix=NAMES
// ONE-DASH: plain,-symbol-dce
// NAMES:    plain,symbol-dce

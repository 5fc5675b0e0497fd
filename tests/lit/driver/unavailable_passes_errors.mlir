// For a pass of Shardy that is not available yet, no other name is suggested.
// RUN: not sdy-opt %s -sdy-convert-global-to-local 2>&1 | filecheck %s --check-prefix=FLAG
// FLAG:      sdy-opt: 'sdy-convert-global-to-local' is a known pass that is not available yet
// FLAG-NEXT: help: in Shardy, it gives each device its part of every tensor; --list-passes shows what there is here

// RUN: not sdy-opt %s --sdy-verify-unreduced-axes 2>&1 | filecheck %s --check-prefix=DASHES
// DASHES: sdy-opt: 'sdy-verify-unreduced-axes' is a known pass that is not available yet

// Its options are not checked.
// RUN: not sdy-opt %s -cse -sdy-resolve-permutation-factors=enable-halo-exchange=maybe 2>&1 | filecheck %s --check-prefix=OPTIONS
// OPTIONS: sdy-opt: 'sdy-resolve-permutation-factors' is a known pass that is not available yet

// In the text of a pipeline, a caret points at it.
// RUN: not sdy-opt %s --pass-pipeline="builtin.module(cse,func.func(sdy-pad-for-divisibility))" 2>&1 | filecheck %s --check-prefix=TEXT
// TEXT:      error: 'sdy-pad-for-divisibility' is a known pass that is not available yet
// TEXT-NEXT: builtin.module(cse,func.func(sdy-pad-for-divisibility))
// TEXT-NEXT: {{^}}                             ^
// TEXT-NEXT: help: in Shardy, it pads dimensions that their sharding does not divide;

// RUN: not sdy-opt %s --pass-pipeline="builtin.module(sdy-resolve-single-device-sharding{replica-count=2})" 2>&1 | filecheck %s --check-prefix=TEXT-OPTIONS
// TEXT-OPTIONS: error: 'sdy-resolve-single-device-sharding' is a known pass that is not available yet

// RUN: not sdy-opt --help-pass sdy-per-instruction-partitioning 2>&1 | filecheck %s --check-prefix=MANUAL
// MANUAL: sdy-opt: 'sdy-per-instruction-partitioning' is a known pass that is not available yet

// RUN: not sdy-opt %s --mlir-print-ir-after=sdy-convert-global-to-local 2>&1 | filecheck %s --check-prefix=AFTER
// AFTER: sdy-opt: 'sdy-convert-global-to-local' is a known pass that is not available yet

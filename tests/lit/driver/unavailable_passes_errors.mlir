// For a pass of Shardy that is not available yet, no other name is suggested.
// RUN: not sdy-opt %s -sdy-resolve-single-device-sharding 2>&1 | filecheck %s --check-prefix=FLAG
// FLAG:      sdy-opt: pass 'sdy-resolve-single-device-sharding' is not implemented
// FLAG-NEXT: help: in Shardy, it runs operations with a maximal sharding on that single device; --list-passes lists the available passes

// RUN: not sdy-opt %s --sdy-resolve-single-device-sharding 2>&1 | filecheck %s --check-prefix=DASHES
// DASHES: sdy-opt: pass 'sdy-resolve-single-device-sharding' is not implemented

// Its options are not checked.
// RUN: not sdy-opt %s -cse -sdy-resolve-single-device-sharding=replica-count=maybe 2>&1 | filecheck %s --check-prefix=OPTIONS
// OPTIONS: sdy-opt: pass 'sdy-resolve-single-device-sharding' is not implemented

// In the text of a pipeline, a caret points at it.
// RUN: not sdy-opt %s --pass-pipeline="builtin.module(cse,func.func(sdy-resolve-single-device-sharding))" 2>&1 | filecheck %s --check-prefix=TEXT
// TEXT:      error: pass 'sdy-resolve-single-device-sharding' is not implemented
// TEXT-NEXT: builtin.module(cse,func.func(sdy-resolve-single-device-sharding))
// TEXT-NEXT: {{^}}                             ^
// TEXT-NEXT: help: in Shardy, it runs operations with a maximal sharding on that single device;

// RUN: not sdy-opt %s --pass-pipeline="builtin.module(sdy-resolve-single-device-sharding{replica-count=2})" 2>&1 | filecheck %s --check-prefix=TEXT-OPTIONS
// TEXT-OPTIONS: error: pass 'sdy-resolve-single-device-sharding' is not implemented

// RUN: not sdy-opt --help-pass sdy-resolve-single-device-sharding 2>&1 | filecheck %s --check-prefix=MANUAL
// MANUAL: sdy-opt: pass 'sdy-resolve-single-device-sharding' is not implemented

// RUN: not sdy-opt %s --mlir-print-ir-after=sdy-resolve-single-device-sharding 2>&1 | filecheck %s --check-prefix=AFTER
// AFTER: sdy-opt: pass 'sdy-resolve-single-device-sharding' is not implemented

// RUN: sdy-opt --help-lint | filecheck %s --check-prefix=LIST
// RUN: sdy-opt --help-lint=size-one-axis | filecheck %s --check-prefix=PAGE
// RUN: not sdy-opt --help-lint=size-1-axis 2>&1 | filecheck %s --check-prefix=UNKNOWN

// The list has the severity and the summary of each rule.
// LIST: size-one-axis {{ *}}remark: shardings name a mesh axis of size 1

// The page of a rule is the one in the docs, as text.
// PAGE:      size-one-axis: shardings name a mesh axis of size 1.
// PAGE:      sdy.mesh @mesh = <["data"=8, "model"=1]>
// PAGE:      Severity: remark. Looks at the program as it is read.

// UNKNOWN:      unknown lint rule 'size-1-axis'
// UNKNOWN-NEXT: help: did you mean 'size-one-axis'?

// A name that no pattern has is a warning.
// RUN: sdy-opt %s -canonicalize="enable-patterns=sdy-reshrd disable-patterns=nothing" 2>&1 >/dev/null | filecheck %s
// CHECK:      warning: enable-patterns: no pattern has the name or label 'sdy-reshrd'
// CHECK-NEXT: help: did you mean 'sdy-reshard'?
// CHECK:      warning: disable-patterns: no pattern has the name or label 'nothing'
// CHECK-NEXT: help: --log-actions-to=- shows the names of patterns

// RUN: sdy-opt %s -canonicalize="enable-patterns=sdy-reshard,sdy-collective" 2>&1 | filecheck %s --check-prefix=KNOWN
// KNOWN-NOT: warning:
func.func @main() {
  return
}

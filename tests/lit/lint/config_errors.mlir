// Errors in a configuration are located in its file.
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/unknown_rule.toml 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/unknown_key.toml 2>&1 | filecheck %s --check-prefix=KEY
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/unknown_limit.toml 2>&1 | filecheck %s --check-prefix=LIMIT
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/unknown_severity.toml 2>&1 | filecheck %s --check-prefix=SEVERITY
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/list.toml 2>&1 | filecheck %s --check-prefix=LIST
// RUN: not sdy-opt %s --lint --lint-config=%S/Inputs/missing.toml 2>&1 | filecheck %s --check-prefix=MISSING
// Without --lint, the other flags have no effect.
// RUN: sdy-opt %s --lint-fail-on=warning 2>&1 | filecheck %s --check-prefix=EFFECT

// RULE:      unknown_rule.toml:1:1: error: unknown lint rule 'size-1-axis'
// RULE-NEXT: ignore = ["size-1-axis"]
// RULE-NEXT: ^
// RULE-NEXT: help: did you mean 'size-one-axis'?

// KEY:      unknown_key.toml:1:1: error: unknown table or key 'selct'
// KEY:      help: did you mean 'select'?

// LIMIT:      unknown_limit.toml:2:1: error: unknown key 'max_bytes' in [limits.replicated-value]
// LIMIT:      help: did you mean 'min_bytes'?

// SEVERITY:      unknown_severity.toml:2:1: error: 'size-one-axis' is not a severity
// SEVERITY:      help: choose from error, warning, remark

// LIST:      list.toml:1:1: error: 'select' is not a list of lint rules
// LIST:      help: write select = ["axis-order-permute"]

// MISSING: missing.toml

// EFFECT: warning: the --lint-fail-on option has no effect
// EFFECT: help: add --lint
module {}

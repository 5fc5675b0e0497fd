"""Ids of diagnostics, for tools: an id names the check that a diagnostic is from.

An id is a key of `SUMMARIES`, or a key, a slash and a name: `verify-error/sdy.reshard`, `pass/cse`. Ids are
stable: tools filter and group by them. Messages may change.

A diagnostic may be created with its id. Otherwise it gets the id of the stage that emits or raises it:

    with identified(PARSE_ERROR):
        module = parse(source)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, watching

USAGE_ERROR: Final = "usage-error"
FILE_ERROR: Final = "file-error"
INTERNAL_ERROR: Final = "internal-error"
INPUT_ERROR: Final = "input-error"
SPLIT_MARKER: Final = "split-marker"
PARSE_ERROR: Final = "parse-error"
RESOURCE_LIMIT: Final = "resource-limit"
VERIFY_ERROR: Final = "verify-error"
ROUNDTRIP: Final = "roundtrip"
PIPELINE_ERROR: Final = "pipeline-error"
PASS: Final = "pass"
UNKNOWN_SHARDING_RULE: Final = "unknown-sharding-rule"
NO_SHARDING: Final = "no-sharding"
GSPMD_SHARDING: Final = "gspmd-sharding"
UNKNOWN_ATTRIBUTE: Final = "unknown-attribute"
UNKNOWN_PATTERN: Final = "unknown-pattern"
PASS_NOT_RUN: Final = "pass-not-run"
FLAG_WITHOUT_EFFECT: Final = "flag-without-effect"
DUMP_FAILED: Final = "dump-failed"
REPRODUCER: Final = "reproducer"
UNEXPECTED_DIAGNOSTIC: Final = "unexpected-diagnostic"
MISSING_DIAGNOSTIC: Final = "missing-diagnostic"
TOPOLOGY_ERROR: Final = "topology-error"
BUDGET_ERROR: Final = "budget-error"
BUDGET_EXCEEDED: Final = "budget-exceeded"
BUDGET_UNKNOWN: Final = "budget-unknown"
BASELINE_ERROR: Final = "baseline-error"
BASELINE_EXCEEDED: Final = "baseline-exceeded"
COMPARISON_ERROR: Final = "comparison-error"
SNAPSHOT_ERROR: Final = "snapshot-error"
SNAPSHOT_DIFFERENCE: Final = "snapshot-difference"
LINT: Final = "lint"
LINT_COMMENT: Final = "lint-comment"
LINT_CONFIG_ERROR: Final = "lint-config-error"
VALIDATED: Final = "validated"
VALIDATION_DIFFERENCE: Final = "validation-difference"
NOT_VALIDATED: Final = "not-validated"
BISECTED: Final = "bisected"
REDUCED: Final = "reduced"
REMARK: Final = "remark"
OTHER: Final = "other"

# What a diagnostic with the id reports.
SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        USAGE_ERROR: "the command line or the text of a pass pipeline is wrong",
        FILE_ERROR: "a file cannot be read or written",
        INTERNAL_ERROR: "sdy-opt or a plugin has a bug",
        INPUT_ERROR: "the input is not UTF-8 text",
        SPLIT_MARKER: "a line resembles the marker at which the input is split",
        PARSE_ERROR: "the parser rejects the program",
        RESOURCE_LIMIT: "the program is nested too deeply or needs too much memory",
        VERIFY_ERROR: "the verifier rejects an operation; the name is that of the operation",
        ROUNDTRIP: "the printed program does not parse to the same program",
        PIPELINE_ERROR: "a pass cannot run on an operation",
        PASS: "a pass fails, warns or remarks; the name is that of the pass",
        UNKNOWN_SHARDING_RULE: "an operation without a sharding rule stops propagation",
        NO_SHARDING: "propagation runs on a program without shardings",
        GSPMD_SHARDING: "propagation runs on a program with shardings of HLO only",
        UNKNOWN_ATTRIBUTE: "propagation ignores an attribute whose name resembles one of sdy",
        UNKNOWN_PATTERN: "a pattern that canonicalize is to apply or skip does not exist",
        PASS_NOT_RUN: "a pass whose IR is to be printed does not run",
        FLAG_WITHOUT_EFFECT: "a flag has no effect",
        DUMP_FAILED: "a dump of the program cannot be written",
        REPRODUCER: "a pipeline failed, and a reproducer was written",
        UNEXPECTED_DIAGNOSTIC: "--verify-diagnostics: no comment expects the diagnostic",
        MISSING_DIAGNOSTIC: "--verify-diagnostics: an expected diagnostic did not occur",
        TOPOLOGY_ERROR: "the file of --topology is invalid",
        BUDGET_ERROR: "the file of --budget is invalid",
        BUDGET_EXCEEDED: "a figure of the report exceeds the budget",
        BUDGET_UNKNOWN: "a figure that the budget limits is unknown",
        BASELINE_ERROR: "the file of --baseline is invalid",
        BASELINE_EXCEEDED: "a figure of the report exceeds the baseline",
        COMPARISON_ERROR: "the report of --compare-with is invalid",
        SNAPSHOT_ERROR: "the file of --check-snapshot is invalid",
        SNAPSHOT_DIFFERENCE: "a sharding is not that of the snapshot",
        LINT: "--lint finds something; the name is that of the rule",
        LINT_COMMENT: "a comment that allows findings of --lint is wrong",
        LINT_CONFIG_ERROR: "the configuration file of --lint is invalid",
        VALIDATED: "--validate: the results are equal",
        VALIDATION_DIFFERENCE: "--validate: a result differs",
        NOT_VALIDATED: "--validate: the program cannot be run, or too little of a result can be compared",
        BISECTED: "--bisect: the pass and the operation that make a result differ",
        REDUCED: "--reduce: how small the program has become, or why it cannot be reduced",
        REMARK: "--remarks-filter: a decision about shardings; the name is that of the remark",
        OTHER: "any other problem",
    }
)

# Lint rule -> what its findings report, filled when the rules are imported.
_of_rules: dict[str, str] = {}

# Warnings that the C++ tools do not have. --verify-diagnostics neither expects nor shows them.
ADVICE = frozenset(
    (NO_SHARDING, GSPMD_SHARDING, UNKNOWN_ATTRIBUTE, UNKNOWN_PATTERN, PASS_NOT_RUN, FLAG_WITHOUT_EFFECT)
)


def identify(diagnostic: Diagnostic, id: str, pass_flag: str = "") -> None:
    """Sets the id and the pass of a diagnostic, if they are not set.

    The name of the operation is added to the id of a verify error.
    """
    if not diagnostic.id:
        name = operation_name(diagnostic) if id == VERIFY_ERROR else ""
        diagnostic.id = f"{id}/{name}" if name else id
    diagnostic.pass_flag = diagnostic.pass_flag or pass_flag


@contextmanager
def identified(id: str, pass_flag: str = "") -> Iterator[None]:
    """Identifies the diagnostics that are emitted or raised in the `with` block."""
    with watching(lambda diagnostic: identify(diagnostic, id, pass_flag)):
        try:
            yield
        except DiagnosticError as error:
            identify(error.diagnostic, id, pass_flag)
            raise


def operation_name(diagnostic: Diagnostic) -> str:
    """The name of the operation of a diagnostic; empty without one, or if no dialect registers the name."""
    operation = diagnostic.operation
    return operation.signature.name if operation is not None and operation.name else ""


def lint_rule(id: str) -> str:
    """The rule of a finding; empty for any other diagnostic."""
    stem, _, rule = id.partition("/")
    return rule if stem == LINT else ""


def describe_rule(rule: str, text: str) -> None:
    """Sets what the findings of a rule report."""
    _of_rules[rule] = text


def summary(id: str) -> str:
    """The problem that a diagnostic with this id reports."""
    return _of_rules.get(lint_rule(id)) or SUMMARIES[id.partition("/")[0]]

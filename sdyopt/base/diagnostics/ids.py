"""Ids of diagnostics, which name the check that a diagnostic is from, and errors that are declared once.

An id is a key of `SUMMARIES`, or a key, a slash and a name: `verify-error/sdy.reshard`, `pass/cse`. Ids are
stable: tools filter and group by them. Messages may change.

A diagnostic may be created with its id. Otherwise it gets the id of the stage that emits or raises it:

    with identified(PARSE_ERROR):
        module = parse(source)

An error of one check is an `ErrorKind`: its wording, what it underlines, and its help.

    UNKNOWN_AXIS = ErrorKind('unknown axis name: "{axis}"', at='value > text "{axis}"', explain="axis")

    raise op.op_error(UNKNOWN_AXIS(axis=name))

A `Message` is the text of an error, with its kind. It is returned, cached and printed as any text, and keeps
its kind if text is put before it: `prefix + message`. What it underlines, and its help, are worked out only
when a person sees the error (`mlir/error_help/explainer.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, watching

# What a diagnostic with an id reports.
_summaries: dict[str, str] = {}
SUMMARIES: Mapping[str, str] = MappingProxyType(_summaries)


def _id(name: str, summary: str) -> str:
    """Declares an id, and what a diagnostic with it reports."""
    _summaries[name] = summary
    return name


USAGE_ERROR: Final = _id("usage-error", "the command line or the text of a pass pipeline is wrong")
FILE_ERROR: Final = _id("file-error", "a file cannot be read or written")
INTERNAL_ERROR: Final = _id("internal-error", "sdy-opt or a plugin has a bug")
INPUT_ERROR: Final = _id("input-error", "the input is not UTF-8 text")
SPLIT_MARKER: Final = _id("split-marker", "a line resembles the marker at which the input is split")
PARSE_ERROR: Final = _id("parse-error", "the parser rejects the program")
RESOURCE_LIMIT: Final = _id("resource-limit", "the program is nested too deeply or needs too much memory")
VERIFY_ERROR: Final = _id(
    "verify-error", "the verifier rejects an operation; the name is that of the operation"
)
ROUNDTRIP: Final = _id("roundtrip", "the printed program does not parse to the same program")
PIPELINE_ERROR: Final = _id("pipeline-error", "a pass cannot run on an operation")
PASS: Final = _id("pass", "a pass fails, warns or remarks; the name is that of the pass")
UNKNOWN_SHARDING_RULE: Final = _id(
    "unknown-sharding-rule", "an operation without a sharding rule stops propagation"
)
NO_SHARDING: Final = _id("no-sharding", "propagation runs on a program without shardings")
GSPMD_SHARDING: Final = _id("gspmd-sharding", "propagation runs on a program with shardings of HLO only")
UNKNOWN_ATTRIBUTE: Final = _id(
    "unknown-attribute", "propagation ignores an attribute whose name resembles one of sdy"
)
NO_LINES: Final = _id("no-lines", "a program of JAX was lowered without the lines of Python")
UNKNOWN_PATTERN: Final = _id(
    "unknown-pattern", "a pattern that canonicalize is to apply or skip does not exist"
)
PASS_NOT_RUN: Final = _id("pass-not-run", "a pass whose IR is to be printed does not run")
FLAG_WITHOUT_EFFECT: Final = _id("flag-without-effect", "a flag has no effect")
DUMP_FAILED: Final = _id("dump-failed", "a dump of the program cannot be written")
REPRODUCER: Final = _id("reproducer", "a pipeline failed, and a reproducer was written")
UNEXPECTED_DIAGNOSTIC: Final = _id(
    "unexpected-diagnostic", "--verify-diagnostics: no comment expects the diagnostic"
)
MISSING_DIAGNOSTIC: Final = _id(
    "missing-diagnostic", "--verify-diagnostics: an expected diagnostic did not occur"
)
TOPOLOGY_ERROR: Final = _id("topology-error", "the file of --topology is invalid")
BUDGET_ERROR: Final = _id("budget-error", "the file of --budget is invalid")
BUDGET_EXCEEDED: Final = _id("budget-exceeded", "a figure of the report exceeds the budget")
BUDGET_UNKNOWN: Final = _id("budget-unknown", "a figure that the budget limits is unknown")
BASELINE_ERROR: Final = _id("baseline-error", "the file of --baseline is invalid")
BASELINE_EXCEEDED: Final = _id("baseline-exceeded", "a figure of the report exceeds the baseline")
COMPARISON_ERROR: Final = _id("comparison-error", "the report of --compare-with is invalid")
SNAPSHOT_ERROR: Final = _id("snapshot-error", "the file of --check-snapshot is invalid")
SNAPSHOT_DIFFERENCE: Final = _id("snapshot-difference", "a sharding is not that of the snapshot")
LINT: Final = _id("lint", "--lint finds something; the name is that of the rule")
LINT_COMMENT: Final = _id("lint-comment", "a comment that allows findings of --lint is wrong")
LINT_CONFIG_ERROR: Final = _id("lint-config-error", "the configuration file of --lint is invalid")
VALIDATED: Final = _id("validated", "--validate: the results are equal")
VALIDATION_DIFFERENCE: Final = _id("validation-difference", "--validate: a result differs")
NOT_VALIDATED: Final = _id(
    "not-validated", "--validate: the program cannot be run, or too little of a result can be compared"
)
BISECTED: Final = _id("bisected", "--bisect: the pass and the operation that make a result differ")
REDUCED: Final = _id("reduced", "--reduce: how small the program has become, or why it cannot be reduced")
REMARK: Final = _id("remark", "--remarks-filter: a decision about shardings; the name is that of the remark")
OTHER: Final = _id("other", "any other problem")

# Lint rule -> what its findings report, filled when the rules are imported.
_of_rules: dict[str, str] = {}

# Warnings that the C++ tools do not have. --verify-diagnostics neither expects nor shows them.
ADVICE = frozenset(
    (
        *(NO_SHARDING, GSPMD_SHARDING, UNKNOWN_ATTRIBUTE, NO_LINES, UNKNOWN_PATTERN, PASS_NOT_RUN),
        FLAG_WITHOUT_EFFECT,
    )
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


class ErrorKind:
    """An error: a message for each set of values.

    `wording`, `help` and `at` are templates in the syntax of `str.format`. `at` has the steps to what is
    wrong in the statement (`steps_of` in `mlir/error_help/table.py`). If help depends on more than the
    values, `explain` names the function of `mlir/error_help` that gives it.
    """

    __slots__ = ("at", "explain", "help", "wording")

    def __init__(self, wording: str, *, at: str = "", help: str = "", explain: str = "") -> None:
        self.wording, self.at, self.help, self.explain = wording, at, help, explain

    def __call__(self, **values: object) -> Message:
        return Message(self.wording.format_map(values)).of(self, values)


class Message(str):
    """The text of an error of a kind, and the values in it."""

    kind: ErrorKind
    values: Mapping[str, Any]

    def of(self, kind: ErrorKind, values: Mapping[str, object]) -> Message:
        """This text, as that of a kind."""
        self.kind, self.values = kind, values
        return self

    def __radd__(self, prefix: str) -> Message:
        return Message(f"{prefix}{self}").of(self.kind, self.values)


def about(message: str, **values: object) -> Message:
    """A message with more values, such as those that say which operand it is about: `side` and `index`."""
    if not isinstance(message, Message):
        return Message(message).of(_PLAIN, values)
    return Message(message).of(message.kind, {**message.values, **values})


_PLAIN = ErrorKind("")


def is_kind(message: str, kind: ErrorKind) -> bool:
    """Whether a text is the message of an error of this kind."""
    return isinstance(message, Message) and message.kind is kind

"""Ids of diagnostics: stable names, given by the stage that emits or raises a diagnostic."""

import pytest

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling
from sdyopt.base.diagnostics.ids import PARSE_ERROR, SPLIT_MARKER, SUMMARIES, identified, summary
from sdyopt.base.diagnostics.location import UnknownLoc


def warning(id: str = "") -> Diagnostic:
    return Diagnostic(Severity.WARNING, UnknownLoc(), "look", id=id)


def test_ids_are_stable() -> None:
    """Users filter by these. A new id may be added here; renaming or removing one breaks their tools."""
    assert list(SUMMARIES) == [
        "usage-error",
        "file-error",
        "internal-error",
        "input-error",
        "split-marker",
        "parse-error",
        "resource-limit",
        "verify-error",
        "roundtrip",
        "pipeline-error",
        "pass",
        "unknown-sharding-rule",
        "no-sharding",
        "gspmd-sharding",
        "unknown-attribute",
        "no-lines",
        "unknown-pattern",
        "pass-not-run",
        "flag-without-effect",
        "dump-failed",
        "reproducer",
        "unexpected-diagnostic",
        "missing-diagnostic",
        "topology-error",
        "budget-error",
        "budget-exceeded",
        "budget-unknown",
        "baseline-error",
        "baseline-exceeded",
        "comparison-error",
        "snapshot-error",
        "snapshot-difference",
        "lint",
        "lint-comment",
        "lint-config-error",
        "validated",
        "validation-difference",
        "not-validated",
        "bisected",
        "reduced",
        "remark",
        "other",
    ]


def test_an_emitted_diagnostic_gets_the_id_of_its_stage() -> None:
    found: list[Diagnostic] = []
    with handling(found.append), identified("pass/cse", "cse"):
        emit(warning())
    assert [(each.id, each.pass_flag) for each in found] == [("pass/cse", "cse")]


def test_a_raised_error_gets_the_id_of_its_stage() -> None:
    with pytest.raises(DiagnosticError) as caught, identified(PARSE_ERROR):
        raise DiagnosticError.at(UnknownLoc(), "expected operation name")
    assert caught.value.diagnostic.id == "parse-error"


def test_followers_get_the_id_too() -> None:
    found: list[Diagnostic] = []
    first = warning()
    first.followers.append(warning())
    with handling(found.append), identified(PARSE_ERROR):
        emit(first)
    assert [each.id for each in found] == ["parse-error", "parse-error"]


def test_the_id_is_explicit_or_that_of_the_innermost_stage() -> None:
    found: list[Diagnostic] = []
    with handling(found.append), identified("pass/inline", "inline"):
        emit(warning(SPLIT_MARKER))
        with identified("pass/cse", "cse"):
            emit(warning())
    assert [(each.id, each.pass_flag) for each in found] == [
        ("split-marker", "inline"),
        ("pass/cse", "cse"),
    ]


def test_an_id_with_a_name_has_the_summary_of_its_class() -> None:
    assert summary("pass/cse") == summary("pass")

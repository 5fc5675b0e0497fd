"""Parsing the directives of lit tests."""

from pathlib import Path

import pytest

from tests.harness.directives import LitTest, MalformedCaseError, parse_directives, substitute


def test_run_lines_are_read_in_order() -> None:
    assert parse_directives("// RUN: first\nmodule {}\n// RUN: second  \n").commands == ("first", "second")


def test_backslash_joins_lines() -> None:
    text = "// RUN: sdy-opt %s \\\n// RUN:   -cse | \\\n// RUN: filecheck %s\n"
    assert parse_directives(text).commands == ("sdy-opt %s -cse | filecheck %s",)


def test_other_words_are_not_directives() -> None:
    assert parse_directives("// RUN: one\n// NO-RUN: two\n// RERUN: three\n").commands == ("one",)


@pytest.mark.parametrize("text", ["module {}", "// RUN: first \\\nmodule {}"])
def test_case_without_complete_command_is_malformed(text: str) -> None:
    with pytest.raises(MalformedCaseError):
        parse_directives(text)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (LitTest(("c",), (), ()), None),
        (LitTest(("c",), ("present",), ()), None),
        (LitTest(("c",), ("present", "absent"), ()), "requires absent"),
        (LitTest(("c",), (), ("absent",)), None),
        (LitTest(("c",), (), ("present",)), "unsupported with present"),
    ],
)
def test_features_decide_whether_a_case_runs(case: LitTest, reason: str | None) -> None:
    assert case.reason_to_skip(lambda feature: feature == "present") == reason


def test_substitutions() -> None:
    command = substitute("opt %s -o %t.mlir %S/Inputs/a 100%% '%0 %arg0'", Path("lit/a.mlir"), Path("tmp/a"))
    assert command == "opt lit/a.mlir -o tmp/a.mlir lit/Inputs/a 100% '%0 %arg0'"


def test_unknown_substitution_is_malformed() -> None:
    with pytest.raises(MalformedCaseError, match="%q"):
        substitute("opt %q", Path("a"), Path("b"))

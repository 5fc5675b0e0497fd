"""Parsing the directives of lit tests."""

import pytest

from sdyopt.tools.lit.directives import Features, LitTest, MalformedCaseError, RunLine, parse_directives

FEATURES = Features({"present": True, "absent": False})
COMMANDS = (RunLine(1, "c"),)


def test_run_lines_are_read_in_order() -> None:
    test = parse_directives("// RUN: first\nmodule {}\n// RUN: second  \n")
    assert test.commands == (RunLine(1, "first"), RunLine(3, "second"))


def test_backslash_joins_lines() -> None:
    text = "// RUN: sdy-opt %s \\\n// RUN:   -cse | \\\n// RUN: filecheck %s\n"
    assert parse_directives(text).commands == (RunLine(1, "sdy-opt %s -cse | filecheck %s"),)


def test_other_words_are_not_directives() -> None:
    text = "// RUN: one\n// NO-RUN: two\n// RERUN: three\n"
    assert parse_directives(text).commands == (RunLine(1, "one"),)


def test_directives_after_the_end_marker_are_text() -> None:
    text = "// RUN: one\n// This is not the END. of it.\n// RUN: two\n// END.\n// RUN: three\n"
    assert [line.command for line in parse_directives(text).commands] == ["one", "two"]


def test_blank_lines_and_spaces_are_read_once() -> None:
    text = "// RUN: one" + " " * 100_000 + "two  \n" + "\n" * 100_000 + "  // END.  \n// RUN: three\n"
    assert [line.command.split() for line in parse_directives(text).commands] == [["one", "two"]]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("module {}", 0, "no RUN line"),
        ("// RUN: one\n// RUN: first \\\nmodule {}", 2, "the last RUN line ends in a backslash"),
        ("// RUN: one\n// DEFINE: %{x} = y\n", 2, "DEFINE lines are not supported"),
        ("// ALLOW_RETRIES: 3\n// RUN: one", 1, "ALLOW_RETRIES lines are not supported"),
    ],
)
def test_malformed_cases_are_errors_at_a_line(text: str, line: int, message: str) -> None:
    with pytest.raises(MalformedCaseError, match=message) as caught:
        parse_directives(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", None),
        ("// REQUIRES: present", None),
        ("// REQUIRES: present, absent", "requires absent"),
        ("// REQUIRES: present\n// REQUIRES: absent", "requires absent"),
        ("// REQUIRES: present && !absent", None),
        ("// UNSUPPORTED: absent", None),
        ("// UNSUPPORTED: absent, present", "unsupported with present"),
    ],
)
def test_features_decide_whether_a_case_runs(text: str, reason: str | None) -> None:
    assert parse_directives(f"// RUN: one\n{text}\n").reason_to_skip(FEATURES) == reason


@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        ((), None),
        (("absent",), None),
        (("present",), "expected to fail with present"),
        (("*",), "expected to fail"),
    ],
)
def test_features_decide_whether_a_case_should_fail(failing: tuple[str, ...], reason: str | None) -> None:
    assert LitTest(COMMANDS, failing=failing).reason_to_fail(FEATURES) == reason

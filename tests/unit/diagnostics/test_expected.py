"""`--verify-diagnostics`: all kinds of expectations, and the errors for mismatches."""

import pytest

from sdyopt.base.diagnostics import Diagnostic, FileLoc, Location, Severity, Source, UnknownLoc, expected
from sdyopt.base.diagnostics.expected import ExpectedDiagnostics
from sdyopt.base.diagnostics.render import render


def verify(text: str, *diagnostics: Diagnostic, only_expected: bool = False) -> list[str]:
    """The errors reported for a text with expectations and these diagnostics."""
    problems: list[Diagnostic] = []
    verifier = ExpectedDiagnostics(problems.append, only_expected)
    verifier.start_chunk(Source("f", text))
    for diagnostic in diagnostics:
        verifier.handle(diagnostic)
    verifier.finish_chunk()
    assert verifier.failed == bool(problems)
    return [render(problem).rstrip() for problem in problems]


def error(line: int, message: str = "bad thing", severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(severity, FileLoc("f", line, 1), message)


@pytest.mark.parametrize(
    "text",
    [
        "\nx // expected-error {{bad thing}}",
        "// expected-error @+1 {{bad}}\nx",
        "// expected-error@+1{{bad}}\nx",
        "\n\n// expected-error @-1 {{thing}}",
        "// expected-error @below {{bad}}\nx",
        "\nx\n// expected-error @above {{bad}}",
        "// expected-error-re @below {{b{{.}}d {{[a-z]+}}}}\nx",
        "\n  // expected-error {{bad}}   ",
        "// expected-error @+1 1 {{bad}}\nx",
    ],
)
def test_matching_expectations(text: str) -> None:
    assert verify(text, error(2)) == []


def test_above_and_below_skip_lines_with_expectations() -> None:
    text = "x\n// expected-error @above {{a}}\n// expected-error @above {{b}}"
    assert verify(text, error(1, "a"), error(1, "b")) == []
    text = "// expected-error @below {{a}}\n// expected-error @below {{b}}\nx"
    assert verify(text, error(3, "a"), error(3, "b")) == []


@pytest.mark.parametrize("severity", Severity)
def test_every_severity_can_be_expected(severity: Severity) -> None:
    assert verify(f"// expected-{severity} {{{{bad}}}}", error(1, severity=severity)) == []


def test_a_diagnostic_without_a_location_can_be_expected() -> None:
    nowhere = Diagnostic(Severity.ERROR, UnknownLoc(), "bad")
    assert verify("// expected-error @unknown {{bad}}", nowhere) == []
    assert verify("// expected-error @unknown {{bad}}") == [
        '<unknown>:0: error: expected error "bad" was not produced'
    ]


def test_notes_are_expected_too() -> None:
    diagnostic = error(1)
    diagnostic.notes.append(error(2, "because", Severity.NOTE))
    assert verify("// expected-error {{bad}}\n// expected-note {{because}}", diagnostic) == []
    assert verify("// expected-error {{bad}}", diagnostic) == ["f:2:1: error: unexpected note: because"]
    assert verify("// expected-error {{bad}}", diagnostic, only_expected=True) == []


def test_a_missing_diagnostic_is_an_error() -> None:
    assert verify("x // expected-error {{bad}}") == [
        'f:1:6: error: expected error "bad" was not produced',
    ]


def test_another_severity_is_two_errors() -> None:
    assert verify("// expected-note {{bad}}", error(1)) == [
        "f:1:4: error: 'error' diagnostic emitted when expecting a 'note'",
        'f:1:4: error: expected note "bad" was not produced',
    ]


def test_an_expectation_matches_any_number_of_diagnostics() -> None:
    assert verify("// expected-error {{bad}}", error(1), error(1)) == []


def test_expectations_with_a_number_are_exact() -> None:
    assert verify("// expected-error 2 {{bad}}", error(1), error(1)) == []
    assert verify("// expected-error 2 {{bad}}", error(1)) != []
    assert verify("// expected-error 2 {{bad}}", error(1), error(1), error(1)) != []


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("{{a {{x} }}", "found start of regex with no end '}}'"),
        ("{{a {{(}} }}", "invalid regex: missing ), unterminated subpattern at position 0"),
        ("{{{{(a{99999999999})}} }}", "invalid regex: the repetition number is too large"),
        ("{{{{" + "(" * 5000 + "}} }}", "invalid regex: nesting is too deep"),
        ("{{{{(?a)(?u)}} }}", "ASCII and UNICODE flags are incompatible"),
    ],
)
def test_invalid_regular_expressions_are_errors(comment: str, problem: str) -> None:
    assert verify(f"// expected-error-re {comment}") == [f"f:1:4: error: {problem}"]


def test_expectations_match_diagnostics_of_their_file_only() -> None:
    elsewhere: Location = FileLoc("g", 1, 1)
    assert verify("// expected-error {{bad}}", Diagnostic(Severity.ERROR, elsewhere, "bad")) == [
        "g:1:1: error: unexpected error: bad",
        'f:1:4: error: expected error "bad" was not produced',
    ]


def test_matching_regular_expressions_is_limited_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "MATCH_SECONDS", 0.05)
    text = "// expected-error-re @+1 {{{{(a+)+b}}}}\nx"
    problems = verify(text, error(2, "a" * 60), error(2, "a" * 60))
    assert [problem for problem in problems if "regexes take longer" in problem] == [
        "f:1:4: error: regexes take longer than 0.05 seconds to match"
    ]
    assert any('expected error "{{(a+)+b}}" was not produced' in problem for problem in problems)

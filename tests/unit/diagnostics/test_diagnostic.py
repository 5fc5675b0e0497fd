"""Diagnostics reach the innermost handler; errors without one are raised."""

import pytest

from sdyopt.base.diagnostics import Diagnostic, DiagnosticError, FileLoc, Severity, UnknownLoc, emit, handling

LOCATION = FileLoc("f", 1, 1)


def test_the_innermost_handler_is_called() -> None:
    outer: list[Diagnostic] = []
    inner: list[Diagnostic] = []
    diagnostic = Diagnostic(Severity.WARNING, LOCATION, "odd")
    with handling(outer.append):
        with handling(inner.append):
            emit(diagnostic)
        assert (outer, inner) == ([], [diagnostic])
        emit(diagnostic)
    assert outer == [diagnostic]


def test_errors_without_a_handler_are_raised() -> None:
    emit(Diagnostic(Severity.REMARK, LOCATION, "fine"))
    with pytest.raises(DiagnosticError, match="bad"):
        emit(Diagnostic(Severity.ERROR, LOCATION, "bad"))


def test_notes_are_at_the_location_of_the_error_by_default() -> None:
    error = DiagnosticError.at(LOCATION, "bad").note("why").note("where", UnknownLoc()).help("do this")
    assert [(note.message, note.location) for note in error.diagnostic.notes] == [
        ("why", LOCATION),
        ("where", UnknownLoc()),
    ]
    assert error.diagnostic.help == "do this"

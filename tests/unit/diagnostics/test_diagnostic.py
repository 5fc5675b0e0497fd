"""Diagnostics reach the innermost handler; errors without one are raised."""

import pytest

from sdyopt.diagnostics import Diagnostic, DiagnosticError, FileLoc, Severity, UnknownLoc, emit, handling

PLACE = FileLoc("f", 1, 1)


def test_innermost_handler_gets_it() -> None:
    outer: list[Diagnostic] = []
    inner: list[Diagnostic] = []
    diagnostic = Diagnostic(Severity.WARNING, PLACE, "odd")
    with handling(outer.append):
        with handling(inner.append):
            emit(diagnostic)
        assert (outer, inner) == ([], [diagnostic])
        emit(diagnostic)
    assert outer == [diagnostic]


def test_errors_that_nobody_handles_are_raised() -> None:
    emit(Diagnostic(Severity.REMARK, PLACE, "fine"))
    with pytest.raises(DiagnosticError, match="bad"):
        emit(Diagnostic(Severity.ERROR, PLACE, "bad"))


def test_notes_are_about_the_same_place_unless_told() -> None:
    error = DiagnosticError.at(PLACE, "bad").note("why").note("where", UnknownLoc()).help("do this")
    assert [(note.message, note.location) for note in error.diagnostic.notes] == [
        ("why", PLACE),
        ("where", UnknownLoc()),
    ]
    assert error.diagnostic.help == "do this"

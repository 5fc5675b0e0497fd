"""The text of errors in the Python interface."""

from __future__ import annotations

import sdyopt
from sdyopt.base.diagnostics.diagnostic import Severity
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.tools.api.errors import MAX_SHOWN, Diagnostic, location_of


def diagnostic(severity: Severity, text: str) -> Diagnostic:
    return Diagnostic(severity, text, location_of(UnknownLoc()), text=text + "\n")


def test_the_error_is_shown_after_many_warnings() -> None:
    warnings = [diagnostic(Severity.WARNING, f"warning {number}") for number in range(MAX_SHOWN + 1)]
    error = sdyopt.Error([*warnings, diagnostic(Severity.ERROR, "the error")])
    assert str(error).splitlines()[-3:] == [f"warning {MAX_SHOWN - 2}", "the error", "… and 2 more"]

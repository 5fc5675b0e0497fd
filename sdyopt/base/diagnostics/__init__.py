"""Source locations, diagnostics, their rendering as text, and `--verify-diagnostics`."""

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity, emit, handling, watching
from sdyopt.base.diagnostics.location import (
    CallSite,
    FileLoc,
    FileRange,
    FusedLoc,
    Location,
    NameLoc,
    Source,
    UnknownLoc,
    call_stack,
    resolve_file_location,
)

__all__ = [
    "CallSite",
    "Diagnostic",
    "DiagnosticError",
    "FileLoc",
    "FileRange",
    "FusedLoc",
    "Location",
    "NameLoc",
    "Severity",
    "Source",
    "UnknownLoc",
    "call_stack",
    "emit",
    "handling",
    "resolve_file_location",
    "watching",
]

"""Snapshots for callers that have modules.

    Path("shardings.json").write_text(snapshot_of_module(NamedModule("new.mlir", new)))
    check_module(NamedModule("new.mlir", new), "shardings.json")

Faulty files raise DiagnosticError, located in the file; files that cannot be read, OSError.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.analysis.comparison.entry import NamedModule
from sdyopt.analysis.comparison.program_values import values_of
from sdyopt.analysis.snapshot.snapshot import snapshot_of
from sdyopt.analysis.snapshot.snapshot_check import SnapshotCheck
from sdyopt.analysis.snapshot.snapshot_file import snapshot_text
from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.text import native_path


def snapshot_of_module(module: NamedModule, places: Sequence[str] = ()) -> str:
    """The text of the snapshot of a module, limited to values at these places."""
    return snapshot_text(snapshot_of(values_of(module.op, module.name), places))


def check_module(module: NamedModule, path: str) -> list[Diagnostic]:
    """An error for each difference of a module from a snapshot."""
    text = native_path(path).read_text(encoding="utf-8", errors="surrogateescape")
    check = SnapshotCheck(path, text)
    now = snapshot_of(values_of(module.op, module.name), check.snapshot.places)
    return list(check.differences(now))

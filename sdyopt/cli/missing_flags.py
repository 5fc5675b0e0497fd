"""Flags of `mlir-opt` and `sdy_opt` that sdy-opt does not have, and what to use instead."""

from __future__ import annotations

from types import MappingProxyType

from sdyopt.diagnostics.usage import UsageError

# Rows of flags for one purpose: names, and what to use instead.
ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("emit-bytecode", "emit-bytecode-version", "elide-resource-data-from-bytecode"),
        "text; bytecode is neither read nor written",
    ),
    (
        ("no-implicit-module",),
        "the input as the body of a module; a single top-level `module` is not wrapped",
    ),
    (("mlir-print-assume-verified",), "not needed: the printer does not verify"),
    (
        ("mlir-pass-pipeline-local-reproducer",),
        "`--mlir-pass-pipeline-crash-reproducer`, and `--mlir-print-ir-before` for the pass that fails",
    ),
    (("mlir-debug-counter", "mlir-print-debug-counter"), "a shorter `--pass-pipeline`"),
    (
        ("log-actions-to", "log-mlir-actions-filter", "profile-actions-to", "mlir-enable-debugger-hook"),
        "`--mlir-print-ir-after-all`, `--mlir-timing`",
    ),
    (("debug-only", "stats"), "`--mlir-print-ir-after-change`, `--mlir-pass-statistics`"),
    (("time-passes", "track-memory"), "`--mlir-timing`"),
    (("irdl-file",), "a dialect in Python, loaded with `--load-dialect-plugin`"),
    (("print-ir", "snapshot-op-locations"), "`--mlir-print-ir-tree-dir`, `--mlir-print-debuginfo`"),
    (("view-op-graph", "print-op-stats"), "the printed program, or `--report`"),
    (("threads",), "not needed: there is one thread"),
)

_INSTEAD = MappingProxyType({name: instead for names, instead in ROWS for name in names})


def missing_flag(name: str, spelling: str) -> UsageError | None:
    """The error for a flag that only C++ has; None for any other name."""
    instead = _INSTEAD.get(name)
    if instead is None:
        return None
    message = f"Unknown command line argument '{spelling}': a flag of mlir-opt that sdy-opt does not have"
    return UsageError(
        message, instead if instead.startswith("not needed") else f"use {instead}".replace("`", "'")
    )

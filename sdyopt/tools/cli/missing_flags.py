"""Flags of `mlir-opt` and `sdy_opt` that sdy-opt does not have, and what to use instead."""

from __future__ import annotations

from types import MappingProxyType

from sdyopt.base.diagnostics.usage import UsageError

# Rows of flags for one purpose: names, and what to use instead.
ROWS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("emit-bytecode", "emit-bytecode-version", "elide-resource-data-from-bytecode"),
        "text; bytecode is neither read nor written",
    ),
    (
        ("mlir-very-unsafe-disable-verifier-on-parsing",),
        "a valid program, or print it with mlir-opt; the input is always verified",
    ),
    (
        ("debug-counter", "mlir-debug-counter", "mlir-print-debug-counter", "print-debug-counter"),
        "`--log-actions-to` and a shorter `--pass-pipeline`",
    ),
    (
        ("log-mlir-actions-filter", "profile-actions-to", "mlir-enable-debugger-hook"),
        "`--log-actions-to`, `--mlir-timing`",
    ),
    (
        ("debug", "debug-only", "debug-pass", "debug-buffer-size"),
        "`--log-actions-to`, `--mlir-print-ir-after-change`",
    ),
    (("stats", "stats-json", "info-output-file"), "`--mlir-pass-statistics`"),
    (
        ("time-passes", "time-passes-per-run", "time-trace", "sort-timers", "track-memory"),
        "`--mlir-timing`, or with `--mlir-output-format=json`",
    ),
    (
        ("print-after", "print-after-all", "print-before", "print-before-all", "print-changed"),
        "`--mlir-print-ir-after`, `--mlir-print-ir-after-all` and so on",
    ),
    (
        ("print-module-scope", "print-on-crash", "print-on-crash-path", "ir-dump-directory"),
        "`--mlir-print-ir-module-scope`, `--mlir-print-ir-after-failure`, `--mlir-print-ir-tree-dir`",
    ),
    (("print-pipeline-passes", "print-passes"), "`--dump-pass-pipeline`, `--list-passes`"),
    (("print-options", "print-all-options"), "`--dump-pass-pipeline`, which prints the options of passes"),
    (("opt-bisect-limit",), "a shorter `--pass-pipeline`"),
    (("crash-diagnostics-dir", "disable-symbolication"), "`--mlir-pass-pipeline-crash-reproducer`"),
    (("filter-print-funcs", "filter-passes"), "`--mlir-print-ir-before`, `--mlir-print-ir-tree-dir`"),
    (
        ("pass-remarks", "pass-remarks-analysis", "pass-remarks-missed"),
        "`--remarks-filter`, `--remarks-filter-analyse` and so on",
    ),
    (("irdl-file",), "a dialect in Python, loaded with `--load-dialect-plugin`"),
    (("print-ir", "snapshot-op-locations"), "`--mlir-print-ir-tree-dir`, `--mlir-print-debuginfo`"),
    (("view-op-graph", "print-op-stats"), "the printed program, or `--report`"),
    (("threads",), "not needed: there is one thread"),
)

_INSTEAD = MappingProxyType({name: instead for names, instead in ROWS for name in names})


def missing_flag(name: str, spelling: str) -> UsageError | None:
    """The error for a flag that only the C++ tools have; None for any other name."""
    instead = _INSTEAD.get(name)
    if instead is None:
        return None
    message = f"Unknown command line argument '{spelling}': a flag of mlir-opt that sdy-opt does not have"
    return UsageError(
        message, instead if instead.startswith("not needed") else f"use {instead}".replace("`", "'")
    )

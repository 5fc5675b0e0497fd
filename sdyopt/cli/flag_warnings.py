"""Warnings for flags that have no effect, because another flag is missing."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from sdyopt.cli.arguments import Arguments
from sdyopt.cli.flags import FLAGS
from sdyopt.diagnostics.diagnostic import Diagnostic, Severity
from sdyopt.diagnostics.ids import FLAG_WITHOUT_EFFECT
from sdyopt.diagnostics.location import UnknownLoc

_IR_PRINTING = (
    "mlir-print-ir-after-all",
    "mlir-print-ir-after",
    "mlir-print-ir-before-all",
    "mlir-print-ir-before",
    "mlir-print-ir-after-change",
    "mlir-print-ir-after-failure",
)

REMARK_FILTERS = (
    "remarks-filter",
    "remarks-filter-passed",
    "remarks-filter-missed",
    "remarks-filter-analyse",
    "remarks-filter-failed",
)

# Flag -> flags, at least one of which it needs.
NEEDS = MappingProxyType(
    {
        "mlir-print-ir-tree-dir": _IR_PRINTING,
        "mlir-print-ir-module-scope": _IR_PRINTING,
        "mlir-timing-display": ("mlir-timing",),
        "mlir-output-format": ("mlir-timing",),
        "mlir-pass-statistics-display": ("mlir-pass-statistics",),
        "output-split-marker": ("split-input-file",),
        "report-rows": ("report", "compare-with", "compare-pipeline", "compare-sdy-version"),
        "tolerance": ("baseline",),
        "snapshot-places": ("snapshot", "check-snapshot"),
        "remark-format": REMARK_FILTERS,
        "remark-policy": REMARK_FILTERS,
        "remarks-output-file": REMARK_FILTERS,
        "lint-config": ("lint",),
        "lint-fail-on": ("lint",),
        "validate-mode": ("validate",),
        "validate-timeout": ("validate",),
        "validate-memory": ("validate",),
        "jax-python": ("validate",),
        "bisect": ("validate",),
        "reference-python": ("validate",),
    }
)


def flag_warnings(arguments: Arguments) -> Iterator[Diagnostic]:
    """A warning for each flag without effect."""
    for flag, needed in NEEDS.items():
        if (
            flag in arguments.values
            and arguments[flag] != FLAGS[flag].default
            and not any(arguments[other] for other in needed)
        ):
            message = f"the --{flag} option has no effect"
            help = f"add --{needed[0]}"
            yield Diagnostic(Severity.WARNING, UnknownLoc(), message, help=help, id=FLAG_WITHOUT_EFFECT)

"""Explains diagnostics. The layer `error_help` is imported for the first diagnostic, not at start-up."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.ir.dialect import DialectTable

if TYPE_CHECKING:  # imported on use
    from sdyopt.mlir.error_help.explainer import Explainer


class LazyExplainer:
    """Completes the diagnostics of a source, which was parsed with these dialects and options."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._arguments = (source, dialects, options)
        self._explainer: Explainer | None = None

    def complete(self, diagnostic: Diagnostic) -> None:
        """Sets the culprit and the help of a diagnostic, where they can be found."""
        # An explanation that fails must not hide the error that it explains.
        with suppress(Exception):
            if self._explainer is None:
                from sdyopt.mlir.error_help.explainer import Explainer

                self._explainer = Explainer(*self._arguments)
            self._explainer.complete(diagnostic)

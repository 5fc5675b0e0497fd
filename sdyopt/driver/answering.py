"""Answers the questions of a job about shardings. Imported only if there are any."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from sdyopt.asm.parser.module_parser import ParseOptions
from sdyopt.diagnostics.source import Source
from sdyopt.explain.explainer import Explainer
from sdyopt.ir.dialect import DialectTable
from sdyopt.ir.operation import Op


class Answering:
    """The questions about one chunk. The constructor raises DiagnosticError for one that names nothing."""

    def __init__(
        self,
        questions: Sequence[str],
        source: Source,
        module: Op,
        dialects: DialectTable,
        options: ParseOptions,
    ) -> None:
        self._explainer = Explainer(source, module, dialects, options)
        self._targets = [self._explainer.target(question) for question in questions]

    def recording(self) -> AbstractContextManager[None]:
        """Records in the `with` block, in which the pipeline runs."""
        return self._explainer.recording()

    def answers(self, width: int) -> str:
        """The answers as text, separated by empty lines. Raises DiagnosticError if nothing was recorded."""
        return "\n".join(self._explainer.answer(target, width) for target in self._targets)

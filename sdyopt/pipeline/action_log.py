"""`--log-actions-to`: logs begin and end of each pass, greedy rewrite iteration and pattern attempt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sdyopt.ir.operation import Op
from sdyopt.pipeline.base import Pass
from sdyopt.pipeline.run import Instrument

_THREAD = "[thread sdy-opt]"


class ActionLog(Instrument):
    """Writes the log. `show` prints an operation without its regions."""

    def __init__(self, write: Callable[[str], None], show: Callable[[Op], str]) -> None:
        self._write = write
        self._show = show

    def before_pass(self, pass_: Pass, op: Op) -> None:
        shown = f"running `{pass_.label()}` on Operation `{op.signature.name}` ({self._show(op)})`"
        self._write(f"{_THREAD} begins (no breakpoint) Action `pass-execution` {shown}\n")

    def after_pass(self, pass_: Pass, op: Op, changed: bool) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    def after_pass_failed(self, pass_: Pass, op: Op) -> None:
        self._write(f"{_THREAD} completed `pass-execution`\n")

    @contextmanager
    def observe(self, tag: str, description: str, op: Op) -> Iterator[None]:
        """Logs an action inside a pass. `%s` in the description stands for the operation."""
        self._write(f"{_THREAD} begins (no breakpoint) Action {description.replace('%s', self._show(op))}`\n")
        try:
            yield
        finally:
            self._write(f"{_THREAD} completed `{tag}`\n")

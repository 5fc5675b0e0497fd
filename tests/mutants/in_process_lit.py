"""Runs the tools of lit tests in the process of pytest, so that their lines can be recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO

from sdyopt.tools.lit import collection
from sdyopt.tools.lit.tools import InProcess, Stage, Tools, can_run


class InProcessTools(Tools):
    """Runs programs in this process if that is possible."""

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        if can_run(Stage(words, environment=dict(environment))):
            return _IN_PROCESS.run(words, environment, stdin, stdout, stderr)
        return super().run(words, environment, stdin, stdout, stderr)


_IN_PROCESS = InProcess(len)


def install() -> None:
    """Makes the pytest plugin run tools in this process."""
    vars(collection).update(Tools=InProcessTools)

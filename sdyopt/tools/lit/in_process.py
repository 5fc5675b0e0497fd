"""Runs the tools of RUN lines in this process, for systems that cannot start processes, such as WebAssembly.

Runs share state such as caches; each has its own streams, arguments, environment and dialects of plugins.
"""

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import IO, Any
from unittest.mock import patch

from sdyopt.mlir.registry import forgotten_dialects
from sdyopt.tools.lit.forkserver import TOOLS, TRACEBACK_STATUS, exit_status
from sdyopt.tools.lit.shell import Stage
from sdyopt.tools.lit.tools import SHOW_TRACEBACKS


def can_run(stage: Stage) -> bool:
    """Whether the program is one of `TOOLS`, and its environment does not change how Python starts."""
    return stage.words[0] in TOOLS and not any(name.startswith("PYTHON") for name in stage.environment)


class InProcess:
    """Runs programs for the shell; `record` receives the bytes that sdy-opt writes to stdout and stderr."""

    def __init__(self, record: Callable[[bytes], object]) -> None:
        self._record = record

    def run(
        self,
        words: tuple[str, ...],
        environment: Mapping[str, str],
        stdin: IO[bytes],
        stdout: IO[bytes],
        stderr: IO[bytes],
    ) -> int:
        """Runs a program and returns its exit status."""
        with (
            forgotten_dialects(),
            self._streams(stdin, stdout, stderr, words[0] == "sdy-opt"),
            patch.object(sys, "argv", list(words)),
            patch.dict(os.environ, {**SHOW_TRACEBACKS, **environment}),
        ):
            try:
                return exit_status(import_module(TOOLS[words[0]]).main())
            except SystemExit as system_exit:
                return exit_status(system_exit.code)
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
                return TRACEBACK_STATUS

    @contextlib.contextmanager
    def _streams(
        self, stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes], recorded: bool
    ) -> Iterator[None]:
        def stream_to(file: IO[bytes]) -> Any:
            return _Stream(file, self._record if recorded else None)

        output, errors = (
            io.TextIOWrapper(stream_to(file), "utf-8", "backslashreplace", write_through=True)
            for file in (stdout, stderr)
        )
        input = io.TextIOWrapper(io.BytesIO(stdin.read()), "utf-8")
        with patch.multiple(sys, stdin=input, stdout=output, stderr=errors):
            yield
        for file in (stdout, stderr):
            file.flush()


class _Stream(io.BufferedIOBase):
    """A stream that leaves its file open when the stream is closed."""

    def __init__(self, file: IO[bytes], record: Callable[[bytes], object] | None) -> None:
        self._file = file
        self._record = record

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        content = bytes(memoryview(data))  # type: ignore[arg-type]
        if self._record is not None:
            self._record(content)
        return self._file.write(content)

    def fileno(self) -> int:
        return self._file.fileno()

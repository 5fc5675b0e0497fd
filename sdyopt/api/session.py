"""Calls into the library run one at a time, with the interpreter settings of a run of sdy-opt.

The handlers of diagnostics, the recursion limit and the edit logs are global to the process, so calls from
several threads wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

from sdyopt.diagnostics.diagnostic import Diagnostic, Handler, handling
from sdyopt.diagnostics.once import separate_run
from sdyopt.dialects.sdy.version import SdyVersion, sdy_version
from sdyopt.driver.interpreter import interpreter_settings

# Reentrant: a pass may parse and run other programs.
_lock = RLock()


@contextmanager
def session(handler: Handler, version: str = SdyVersion.JUNE_2026) -> Iterator[None]:
    """Passes the diagnostics emitted in the `with` block to `handler`, and follows a version of Shardy.

    Restores all settings afterwards.
    """
    with _lock, interpreter_settings(), separate_run(), handling(handler), sdy_version(version):
        yield


def discard(_: Diagnostic) -> None:
    """The handler of calls that only read or copy a valid program, and so emit nothing."""

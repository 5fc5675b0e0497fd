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
from sdyopt.driver.interpreter import interpreter_settings
from sdyopt.releases import following

# Reentrant: a pass may parse and run other programs.
_lock = RLock()


@contextmanager
def session(handler: Handler, version: str) -> Iterator[None]:
    """Passes the diagnostics emitted in the `with` block to `handler`, and follows a release of Shardy.

    Restores all settings afterwards.
    """
    with _lock, interpreter_settings(), separate_run(), handling(handler), following(version):
        yield


def discard(_: Diagnostic) -> None:
    """The handler of calls that only read or copy a valid program, and so emit nothing."""

"""Entry points of the commands. Until a command runs, SIGINT ends the process silently.

There is nothing to clean up while modules are imported, and Python would print a traceback.
"""

from __future__ import annotations

import signal
from typing import NoReturn


def sdy_opt() -> NoReturn:
    """Runs `sdy-opt` and exits the process."""
    _end_on_interrupts()
    from sdyopt.tools.cli import run_process

    run_process()


def sdy_opt_verify() -> NoReturn:
    """Runs `sdy-opt-verify` and exits the process."""
    _end_on_interrupts()
    from sdyopt.tools.cli.verify import run_process

    run_process()


def _end_on_interrupts() -> None:
    # Python has no handler if SIGINT is ignored, as in a background job of a shell.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

"""Runs the module of a tool in this process: `python -m sdyopt.tools.lit.tool_process MODULE ARGUMENT…`.

An uncaught exception is a crash and gets the exit status that the fork server gives it, because Python's own
status for it, 1, is also that of an invalid input.
"""

import os
import runpy
import sys
import traceback

from sdyopt.tools.lit.forkserver import TRACEBACK_STATUS


def main() -> None:
    module = sys.argv.pop(1)
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except Exception:
        traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(TRACEBACK_STATUS)


if __name__ == "__main__":
    main()

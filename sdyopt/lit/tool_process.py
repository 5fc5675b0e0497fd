"""Runs the module of a tool in this process: `python -m sdyopt.lit.tool_process MODULE ARGUMENT…`.

A traceback is a crash, with the exit status that the fork server gives it, and not the 1 of Python, which is
that of an invalid input too.
"""

import os
import runpy
import sys
import traceback

from sdyopt.lit.forkserver import TRACEBACK_STATUS


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

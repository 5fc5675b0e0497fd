"""The package filecheck as a tool of RUN lines. Its errors add how to run LLVM's FileCheck instead."""

from __future__ import annotations

import sys
from importlib import import_module

HELP = (
    "help: the Python package filecheck has fewer options than LLVM's FileCheck; to run that,\n"
    "      set sdyopt_lit_filecheck = FileCheck in the configuration of pytest"
)


def main() -> int:
    """Runs filecheck and returns its exit status."""
    try:
        run = import_module("filecheck.main").main
    except ImportError:
        print("filecheck is not installed\nhelp: pip install 'sdyopt[lit]'", file=sys.stderr)
        return 2
    if len(sys.argv) < 2:  # filecheck prints its help and succeeds, so that a test without checks passes
        print("filecheck: no file with checks\nhelp: write FileCheck %s", file=sys.stderr)
        return 2
    try:
        return int(run(list(sys.argv)) or 0)
    except RuntimeError as error:  # a wrong or missing option
        print(f"filecheck: {error}\n{HELP}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

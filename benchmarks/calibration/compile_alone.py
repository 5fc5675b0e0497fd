"""Compiles a program for machines that are not there, to the end, as `--compiled` starts it:

    PYTHON compile_alone.py REQUEST.json

In the folder of the request, XLA writes what memory the program needs; without one, it writes nothing. Runs
in the Python that has the compiler.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


import jax

from sdyopt.analysis.execution.worker import compile_ahead


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    jax.config.update("jax_enable_x64", True)
    failures: list[str] = []
    compile_ahead._compile(request, compile_ahead._devices(request), failures)
    if failures:
        sys.exit(failures[0])


if __name__ == "__main__":
    main()

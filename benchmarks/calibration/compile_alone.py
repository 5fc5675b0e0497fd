"""Compiles a program for machines that are not there, as `--compiled` starts it:

    PYTHON compile_alone.py REQUEST.json

In the folder of the request, XLA writes what memory the program needs, before it generates code. Without one,
it compiles to the end, and writes the HLO to the file `hlo` of the request if there is one. Runs in the
Python that has the compiler.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


import jax

from sdyopt.analysis.execution.worker import compile_ahead


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    jax.config.update("jax_enable_x64", True)
    if request["dump"]:
        failure = compile_ahead.answer(request, lambda _: None).get("cannot", "")
        sys.stderr.write(failure)
        sys.stderr.flush()
        # The compiler still runs.
        os._exit(bool(failure))
    failures: list[str] = []
    executable = compile_ahead._compile(request, compile_ahead._devices(request), failures)
    if failures:
        sys.exit(failures[0])
    if output := request.get("hlo"):
        Path(output).write_text(executable.hlo_modules()[0].to_string(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Runs the C++ passes on modules from standard input. A script for a Python that has jaxlib.

Reads lines of JSON, each a list of modules `{"text": …, "pipelines": […]}`, and writes a line for each, when
all of its modules are done: a list of the results of each module, which are for each pipeline
`{"output": …, "errors": […]}`, or null if its process died. Each pipeline runs in a forked process, so that a
crash or an endless loop ends only this one, and warnings that are emitted once per process are emitted for
each.
"""

import json
import os
import re
import signal
import sys
from typing import TypedDict

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _mosaic_gpu_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo


class Result(TypedDict):
    """The output of a pipeline, and its errors and warnings."""

    output: str
    errors: list[str]


# Seconds after which a pipeline is killed.
TIMEOUT = 20


def main() -> None:
    # Forked processes share the context; it has no threads, which a fork would lose.
    context = _new_context()
    for line in sys.stdin:
        results = [
            [_run_forked(context, task["text"], pipeline) for pipeline in task["pipelines"]]
            for task in json.loads(line)
        ]
        print(json.dumps(results), flush=True)


def _run_forked(context: ir.Context, text: str, pipeline: str) -> Result | None:
    """The result of a pipeline in a forked process; None if the process died."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(TIMEOUT)
        # Discard the message of a failed assertion.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(_run(context, text, pipeline)))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        result = answer.read()
    os.waitpid(child, 0)
    return json.loads(result) if result else None


def _run(context: ir.Context, text: str, pipeline: str) -> Result:
    errors: list[str] = []

    def record(diagnostic: ir.Diagnostic) -> bool:
        position = re.search(r":(\d+:\d+)", str(diagnostic.location))
        severity = diagnostic.severity.name.lower()
        errors.append(f"{position[1] if position else ''}: {severity}: {diagnostic.message}")
        return True

    output = ""
    with context.attach_diagnostic_handler(record):
        try:
            module = ir.Module.parse(text, context)
            passmanager.PassManager.parse(pipeline, context).run(module.operation)
            output = str(module)
        except ir.MLIRError:
            pass  # the handler has recorded the errors
    return {"output": output.rstrip("\n"), "errors": errors}


def _new_context() -> ir.Context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.enable_multithreading(False)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for register in (sdy.register_dialect, stablehlo.register_dialect, chlo.register_dialect):
        register(context)
    mhlo.register_mhlo_dialect(context)
    _mosaic_gpu_ext.register_inliner_extensions(context)
    # Errors are passed to the handler like other diagnostics, not to the exception.
    context.emit_error_diagnostics = True
    return context


if __name__ == "__main__":
    main()

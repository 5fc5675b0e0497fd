"""Times the C++ passes that jaxlib contains. A script for a Python that has jaxlib.

reference.py FILE PIPELINE              times each step in process and prints JSON
reference.py --whole FILE [PIPELINE]    parses, runs the pipeline and prints, without timing
"""

import json
import resource
import sys
import time
from pathlib import Path

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _mosaic_gpu_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo


def new_context() -> ir.Context:
    """A context with the dialects of programs that JAX lowers."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for register in (sdy.register_dialect, stablehlo.register_dialect, chlo.register_dialect):
        register(context)
    mhlo.register_mhlo_dialect(context)
    # Without this, no function is inlined.
    _mosaic_gpu_ext.register_inliner_extensions(context)
    return context


def steps(path: str, pipeline: str) -> dict[str, float]:
    """Processor seconds per step, and peak memory in bytes."""
    text = Path(path).read_text(encoding="utf-8")
    start = time.process_time()
    context = new_context()
    module = ir.Module.parse(text, context)  # verifies as well
    parsed = time.process_time()
    module.operation.get_asm()
    printed = time.process_time()
    passes = passmanager.PassManager.parse(pipeline, context)
    ready = time.process_time()
    passes.run(module.operation)
    transformed = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "parse and verify": parsed - start,
        "print": printed - parsed,
        "passes": transformed - ready,
        "memory": memory,
    }


def whole(path: str, pipeline: str | None) -> None:
    """Parses a file, runs a pipeline and prints to standard output, like a driver."""
    context = new_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(Path(path).read_text(encoding="utf-8"), context)
    if pipeline:
        passmanager.PassManager.parse(pipeline, context).run(module.operation)
    sys.stdout.write(module.operation.get_asm())


if __name__ == "__main__":
    if sys.argv[1] == "--whole":
        whole(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
    else:
        json.dump(steps(sys.argv[1], sys.argv[2]), sys.stdout)

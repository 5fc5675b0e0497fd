"""The task `reference`: run the C++ passes that jaxlib contains, one pipeline after the other.

There is an answer after each pipeline, because a pass may end the process: `text` is the program after it,
`failed` the first error, and `unknown` the reason why jaxlib has no such pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo


def answer(request: Mapping[str, Any], send: Callable[[Mapping[str, Any]], None]) -> dict[str, object]:
    """Runs the pipelines until one fails or is unknown; the last answer is empty if none does."""
    context = _context()
    errors: list[str] = []

    def keep(diagnostic: Any) -> bool:
        errors.append(str(diagnostic.message))
        return True

    with context.attach_diagnostic_handler(keep):
        try:
            module = ir.Module.parse(request["program"], context)
        except ir.MLIRError as error:
            return {"failed": errors[0] if errors else str(error)}
        for pipeline in request["pipelines"]:
            try:
                passes = passmanager.PassManager.parse(pipeline, context)
            except (ir.MLIRError, ValueError) as error:
                return {"unknown": str(error)}
            try:
                passes.run(module.operation)
            except ir.MLIRError as error:
                return {"failed": errors[0] if errors else str(error)}
            send({"text": module.operation.get_asm(enable_debug_info=True)})
    return {}


def _context() -> ir.Context:
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for register in (sdy.register_dialect, stablehlo.register_dialect, chlo.register_dialect):
        register(context)
    mhlo.register_mhlo_dialect(context)
    # Without it, `inline` inlines nothing.
    with suppress(ImportError, AttributeError):
        import_module("jaxlib.mlir._mlir_libs._mosaic_gpu_ext").register_inliner_extensions(context)
    return context

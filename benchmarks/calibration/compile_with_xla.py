"""Compiles a program with XLA for a number of virtual CPU devices. A script for a Python that has jax.

compile_with_xla.py FILE DEVICES             prints JSON: the optimized HLO, and the sizes of its buffers
compile_with_xla.py FILE DEVICES replicas    for a partitioned program, whose devices are replicas
"""

import json
import os
import sys
from pathlib import Path

# Read when jaxlib is imported.
os.environ["XLA_FLAGS"] = (
    f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={sys.argv[2]}"
)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax._src.lax.linalg
import numpy as np
from jax._src import xla_bridge
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import xla_client
from jaxlib.mlir import ir


def compile_for(text: str, devices: int, are_replicas: bool = False) -> dict[str, object]:
    """The optimized HLO of one device, and the sizes of XLA's buffer assignment."""
    counts = (devices, 1) if are_replicas else (1, devices)
    jax.config.update("jax_enable_x64", True)
    backend = xla_bridge.get_backend("cpu")
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = counts
    build = options.executable_build_options
    build.use_spmd_partitioning = build.use_shardy_partitioner = not are_replicas
    options.device_assignment = xla_client.DeviceAssignment.create(np.arange(devices).reshape(counts))
    targets = xla_client.DeviceList(tuple(backend.devices()[:devices]))
    executable = backend.compile_and_load(text, targets, options)
    memory = executable.get_compiled_memory_stats()
    return {
        "hlo": executable.hlo_modules()[0].to_string(),
        "arguments": memory.argument_size_in_bytes,
        "results": memory.output_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
        "aliases": memory.alias_size_in_bytes,
    }


def for_partitions(text: str, devices: int) -> str:
    """The module as jaxlib prints it, with the attribute that sets the number of partitions."""
    with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text, context)
        count = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), devices)
        module.operation.attributes["mhlo.num_partitions"] = count
        printed: str = module.operation.get_asm(large_elements_limit=None)
    return printed


if __name__ == "__main__":
    count = int(sys.argv[2])
    program = Path(sys.argv[1]).read_text(encoding="utf-8")
    if sys.argv[3:] == ["replicas"]:
        json.dump(compile_for(program, count, are_replicas=True), sys.stdout)
    else:
        json.dump(compile_for(for_partitions(program, count), count), sys.stdout)

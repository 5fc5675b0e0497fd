"""The task `compile_ahead`: compiles a program for devices that this machine need not have.

The compilers of TPU and GPU come with libtpu and with the CUDA plugin of jax. They write the optimized HLO
and the assignment of its buffers into a folder before they generate code, which takes most of the time of
large programs: the task ends then, and with it the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from math import prod
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

# All of this is read when jax or libtpu is imported.
os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0")
# Another process of this machine may compile, too.
os.environ["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"
os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5litepod-8")
# Measuring products takes a device.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_gpu_autotune_level=0".strip()

import jax
import numpy as np
from jax._src import compiler, xla_bridge
from jax._src.interpreters import mlir
from jax.experimental import mesh_utils, topologies
from jaxlib import xla_client
from jaxlib.mlir import ir

# What a compiler writes before it generates code.
_BUFFERS = ("*after_optimizations-buffer-assignment.txt", "*after_optimizations-live-range.txt")
_FILES = {
    "tpu": (*_BUFFERS, "*after_optimizations_after_buffer_assignment.txt"),
    "cuda": (*_BUFFERS, "*gpu_after_optimizations.txt"),
    "cpu": (*_BUFFERS, "*cpu_after_optimizations.txt"),
}
_POLL = 0.02
_NODE = 8


def answer(request: Mapping[str, Any], _: Callable[[Mapping[str, Any]], None]) -> dict[str, Any]:
    """Nothing if the program is compiled: the folder `dump` of the request has what the compiler wrote."""
    devices = request["devices"]
    failures: list[str] = []
    jax.config.update("jax_enable_x64", True)
    try:
        selected = _devices(request)
    except Exception as error:  # of plugins, of any kind
        return {"cannot": _first_line(error)}
    if len(selected) < devices:
        return {"cannot": f"the machine has {len(selected)} devices, the program {devices}"}
    thread = Thread(target=_compile, args=(request, selected, failures), daemon=True)
    thread.start()
    folder, files = Path(request["dump"]), _FILES[request["platform"]]
    while thread.is_alive() and not _are_written(folder, files):
        sleep(_POLL)
    return {"cannot": failures[0]} if failures else {}


def _devices(request: Mapping[str, Any]) -> list[Any]:
    """The devices in the order in which JAX puts them on the mesh, as many as the program has."""
    shape, count = request["mesh"], request["devices"]
    if request["platform"] == "cpu":
        return list(xla_bridge.get_backend("cpu").devices()[:count])
    if request["platform"] == "cuda":
        text = _gpu_description(request["device"])
        nodes = f"1x{max(1, count // _NODE)}x{min(_NODE, count)}"
        described = topologies.get_topology_desc(
            platform="cuda", topology_name="", topology=nodes, target_config=text
        )
    else:
        slices = {"num_slices": request["slices"]} if request["slices"] > 1 else {}
        described = topologies.get_topology_desc(platform="tpu", topology_name=request["topology"], **slices)
    selected = list(described.devices[:count])
    if len(selected) == prod(shape) and request["slices"] == 1:
        # A shape that JAX cannot lay on the machine has the order of ids.
        with suppress(NotImplementedError, ValueError, AssertionError):
            return list(mesh_utils.create_device_mesh(shape, selected).flatten())
    return selected


def _gpu_description(name: str) -> str:
    """The description of a GPU: that of the CUDA plugin, which contains those of several."""
    plugin = import_module("jax_plugins.xla_cuda12")
    data = (Path(next(iter(plugin.__path__))) / "xla_cuda_plugin.so").read_bytes()
    position, known = 0, []
    while (position := data.find(b"gpu_device_info {", position)) >= 0:
        text = data[position : data.find(b"\0", position)].decode("utf-8", "replace")
        position += 1
        _, _, rest = text.partition('device_description_str: "')
        described = rest.partition('"')[0]
        if described and "MIG" not in described:
            if name in described:
                return text
            known.append(described)
    raise ValueError(f"no GPU named {name}; the plugin has {', '.join(dict.fromkeys(known))}")


def _compile(request: Mapping[str, Any], selected: list[Any], failures: list[str]) -> Any:
    """What the compiler made of the program; None if it failed, with the reason in `failures`."""
    try:
        with mlir.make_ir_context() as context, ir.Location.unknown(context):
            module = ir.Module.parse(request["text"], context)
            count = ir.IntegerType.get_signless(32)
            module.operation.attributes["mhlo.num_partitions"] = ir.IntegerAttr.get(count, len(selected))
            module.operation.attributes["mhlo.num_replicas"] = ir.IntegerAttr.get(count, 1)
            if "sym_name" not in module.operation.attributes:
                module.operation.attributes["sym_name"] = ir.StringAttr.get("module")
            options = _options(request, selected, _free_results(module))
            return selected[0].client.compile(
                module, executable_devices=xla_client.DeviceList(tuple(selected)), compile_options=options
            )
    except Exception as error:  # of compilers, of any kind
        failures.append(_first_line(error))


def _options(request: Mapping[str, Any], selected: list[Any], free: list[bool]) -> Any:
    options = compiler.get_compile_options(
        num_replicas=1,
        num_partitions=len(selected),
        device_assignment=np.array(selected).reshape(1, len(selected)),
    )
    build = options.executable_build_options
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.debug_options.xla_dump_to = request["dump"]
    build.debug_options.xla_dump_hlo_as_text = bool(request["dump"])
    # The offsets of shards are constants of one element per device.
    options.env_option_overrides = [("xla_dump_large_constants", "True")]
    # As JAX does: a result without a sharding gets the one that is propagated to it. Else donation fails.
    build.allow_spmd_sharding_propagation_to_parameters = [False]
    build.allow_spmd_sharding_propagation_to_output = free if any(free) else [False]
    return options


def _free_results(module: Any) -> list[bool]:
    """Which results of @main have no sharding."""
    for op in module.body.operations:
        if "sym_name" in op.attributes and ir.StringAttr(op.attributes["sym_name"]).value == "main":
            count = len(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).results)
            if "res_attrs" not in op.attributes:
                return [True] * count
            names = ("sdy.sharding", "mhlo.sharding")
            results = [ir.DictAttr(result) for result in op.attributes["res_attrs"]]
            return [not any(name in result for name in names) for result in results]
    return [False]


def _are_written(folder: Path, patterns: Sequence[str]) -> bool:
    """Whether the files are there and complete: the HLO, the last pattern, has its end, and none grows."""
    if not all(any(folder.glob(pattern)) for pattern in patterns):
        return False
    sizes = []
    for _ in range(2):
        sizes.append([path.stat().st_size for pattern in patterns for path in sorted(folder.glob(pattern))])
        sleep(5 * _POLL)
    if not all(sizes[0]) or sizes[0] != sizes[1]:
        return False
    # A busy compiler may write nothing for longer; the entry is the last computation of the text.
    _, entry, rest = next(iter(sorted(folder.glob(patterns[-1])))).read_bytes().partition(b"\nENTRY ")
    return bool(entry) and b"\n}" in rest


def _first_line(error: Exception) -> str:
    return next(
        (line.strip()[:300] for line in str(error).splitlines() if line.strip()), type(error).__name__
    )

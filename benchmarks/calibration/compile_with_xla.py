"""Compiles a program with XLA for a number of virtual CPU devices. A script for a Python that has jax.

compile_with_xla.py FILE DEVICES             prints JSON: the optimized HLO, and the sizes of its buffers
compile_with_xla.py FILE DEVICES replicas    for a partitioned program, whose devices are replicas
compile_with_xla.py FILE DEVICES common      with top-k operations as TPU and GPU partition them
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
    # As JAX does: a result without a sharding gets the one that is propagated to it.
    build.allow_spmd_sharding_propagation_to_parameters = [False]
    build.allow_spmd_sharding_propagation_to_output = free_results(text)
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


def free_results(text: str) -> list[bool]:
    """Whether each result of the program has no sharding; [False] if all have one."""
    with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text, context)  # which owns the operations
        ops = list(module.body.operations)
        functions = {
            ir.StringAttr(op.attributes["sym_name"]).value: op for op in ops if "sym_name" in op.attributes
        }
        if (main := functions.get("main")) is None:
            return [False]
        count = len(ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).results)
        given = list(main.attributes["res_attrs"]) if "res_attrs" in main.attributes else [None] * count
        free = [each is None or "sdy.sharding" not in ir.DictAttr(each) for each in given]
    return free if any(free) else [False]


def for_partitions(text: str, devices: int, lowers_top_k: bool = False) -> str:
    """The module as jaxlib prints it, with the attribute that sets the number of partitions."""
    with jax_mlir.make_ir_context() as context, ir.Location.unknown(context):
        module = ir.Module.parse(text, context)
        if lowers_top_k:
            lower_top_k(module)
        count = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), devices)
        module.operation.attributes["mhlo.num_partitions"] = count
        printed: str = module.operation.get_asm(large_elements_limit=None)
    return printed


def lower_top_k(module: ir.Module) -> None:
    """Replaces top-k operations as the compilers for TPU and GPU do before they partition a program.

    The compiler for the CPU does it after. The partitioner gathers the whole operand of the operation, the
    largest elements of each shard of a call of `TopK`, and nothing for a sort whose dimension is not sharded.
    For TPU, arrays with up to two dimensions and many elements are operands of `TopK`; others are sorted.
    """
    found: list[ir.Operation] = []

    def add(op: ir.Operation) -> ir.WalkResult:
        target = op.attributes["call_target_name"] if op.name == "stablehlo.custom_call" else None
        if op.name == "chlo.top_k" or (target is not None and ir.StringAttr(target).value == "mhlo.topk"):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(add)
    for number, op in enumerate(found):
        functions = ir.Module.parse(_top_k(number, op.operands[0].type, [each.type for each in op.results]))
        for function in functions.body.operations:
            function.operation.clone(ir.InsertionPoint.at_block_begin(module.body))
        callee = {"callee": ir.FlatSymbolRefAttr.get(f"top_k_{number}")}
        results = [each.type for each in op.results]
        call = ir.Operation.create(
            "func.call", results, op.operands, callee, loc=op.location, ip=ir.InsertionPoint(op)
        )
        for old, new in zip(op.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()


def _top_k(number: int, type: ir.Type, results: list[ir.Type]) -> str:
    """A function that returns the largest elements along the last dimension, and their indices."""
    operand, largest = ir.RankedTensorType(type), ir.RankedTensorType(results[0])
    element, dim = operand.element_type, operand.rank - 1
    values, indices = results
    all_indices = ir.RankedTensorType.get(operand.shape, ir.IntegerType.get_signless(32))
    scalars = f"%a: tensor<{element}>, %b: tensor<{element}>, %c: tensor<i32>, %d: tensor<i32>"
    compare = f"%0 = stablehlo.compare GT, %a, %b : (tensor<{element}>, tensor<{element}>) -> tensor<i1>"
    head = f"func.func private @top_k_{number}(%x: {type}) -> ({values}, {indices}) {{"
    if operand.rank <= 2 and operand.shape[-1] > 64:
        return f"""
            func.func private @compare_{number}({scalars}) -> tensor<i1> {{
              {compare}
              return %0 : tensor<i1>
            }}
            {head}
              %0:2 = stablehlo.custom_call @TopK(%x) {{
                called_computations = [@compare_{number}], mhlo.attributes = {{largest = true}}
              }} : ({type}) -> ({values}, {indices})
              return %0#0, %0#1 : {values}, {indices}
            }}"""
    ranges = ", ".join(f"0:{size}" for size in largest.shape)
    return f"""
        {head}
          %0 = stablehlo.iota dim = {dim} : {all_indices}
          %1:2 = "stablehlo.sort"(%x, %0) <{{dimension = {dim} : i64, is_stable = true}}> ({{
            ^bb0({scalars}):
              {compare.replace("%0", "%4")}
              stablehlo.return %4 : tensor<i1>
          }}) : ({type}, {all_indices}) -> ({type}, {all_indices})
          %2 = stablehlo.slice %1#0 [{ranges}] : ({type}) -> {values}
          %3 = stablehlo.slice %1#1 [{ranges}] : ({all_indices}) -> {indices}
          return %2, %3 : {values}, {indices}
        }}"""


if __name__ == "__main__":
    count = int(sys.argv[2])
    program = Path(sys.argv[1]).read_text(encoding="utf-8")
    if sys.argv[3:] == ["replicas"]:
        json.dump(compile_for(program, count, are_replicas=True), sys.stdout)
    else:
        partitioned = for_partitions(program, count, lowers_top_k=sys.argv[3:] == ["common"])
        json.dump(compile_for(partitioned, count), sys.stdout)

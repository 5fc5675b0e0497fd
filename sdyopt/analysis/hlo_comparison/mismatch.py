"""Whether a compiled program is another one than that of a report, by the types of its arguments."""

from __future__ import annotations

import re
from math import prod

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.hlo_comparison.collectives import bits_of
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.base.diagnostics.text import counted

_TENSOR = re.compile(r"tensor<((?:[\d?]++x)*+)([^,]+)(?:, .*)?>")
_FLOATS = ("f", "b")


def mismatch_of(report: Report, compiled: CompiledProgram) -> str:
    """The first argument of the program that the compiled one does not have; "" if it has all of them."""
    arguments = [argument for argument in report.boundary().arguments if argument.type.startswith("tensor<")]
    parameters = compiled.parameters
    if parameters is None or not arguments:
        return ""
    if len(parameters) != len(arguments):
        has = f"its entry has {counted(len(parameters), 'parameter')}"
        return f"{has}, and the program {counted(len(arguments), 'argument')}"
    for number, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if not _is_part(parameter, argument.type):
            return f"its parameter {number} is {parameter}, and the argument {argument.name} {argument.type}"
    sizes = [_bytes_of(parameter) for parameter in parameters]
    wholes = [_bytes_of_tensor(argument.type) for argument in arguments]
    sharded = [
        boundary_value
        for boundary_value, whole in zip(arguments, wholes, strict=True)
        if boundary_value.bytes is not None and boundary_value.bytes < whole
    ]
    if sharded and sizes == wholes:
        return f"its parameters are whole tensors, also {sharded[0].name}, as before XLA partitions a program"
    return ""


def is_one_slice(report: Report, compiled: CompiledProgram) -> bool:
    """Whether HLO for fewer devices is that of one of several slices of TPUs that send each other nothing.

    Then its parameters are the shards of the whole program.
    """
    arguments = report.boundary().arguments
    if compiled.platform != "TPU" or compiled.slices > 1 or report.devices % compiled.devices:
        return False
    sizes = [_bytes_of(parameter) for parameter in compiled.parameters or ()]
    return bool(sizes) and sizes == [argument.bytes for argument in arguments]


def _bytes_of(parameter: str) -> int:
    """The bytes of a type of HLO."""
    element, _, shape = parameter.rstrip("]").partition("[")
    return prod(map(int, filter(None, shape.split(",")))) * bits_of(element) // 8


def _bytes_of_tensor(type: str) -> int:
    """The bytes of a tensor; 0 if its sizes are unknown."""
    result = _TENSOR.fullmatch(type)
    assert result is not None, type
    sizes = result[1].split("x")[:-1]
    if "?" in sizes:
        return 0
    return prod(map(int, sizes)) * bits_of(result[2]) // 8


def _is_part(parameter: str, type: str) -> bool:
    """Whether a type of HLO, such as `f32[4,8]`, is that of a tensor or of a shard of it."""
    element, _, shape = parameter.rstrip("]").partition("[")
    whole = _TENSOR.fullmatch(type)
    assert whole is not None, type
    sizes, of_parts = whole[1].split("x")[:-1], shape.split(",") if shape else []
    if len(sizes) != len(of_parts) or bits_of(element) != bits_of(whole[2]):
        return False
    fits = (size == "?" or int(part) <= int(size) for part, size in zip(of_parts, sizes, strict=True))
    return element.startswith(_FLOATS) == whole[2].startswith(_FLOATS) and all(fits)

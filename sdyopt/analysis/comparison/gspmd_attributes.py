"""`mhlo.sharding`: the shardings of a program that JAX or XLA annotates for GSPMD."""

from __future__ import annotations

from sdyopt.analysis.comparison.value_sharding import ValueSharding
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface

_ATTRIBUTE = "mhlo.sharding"


def gspmd_argument(function: FunctionOpInterface, index: int) -> ValueSharding | None:
    """The GSPMD sharding of an argument."""
    return _sharding(function.argument_attributes[index])


def gspmd_function_result(function: FunctionOpInterface, index: int) -> ValueSharding | None:
    """The GSPMD sharding of a function result."""
    return _sharding(function.result_attributes[index])


def gspmd_result(op: Op, index: int) -> ValueSharding | None:
    """The GSPMD sharding of a result of an operation; several results have a tuple of shardings."""
    sharding = _sharding(op.attributes)
    if sharding is None or len(op.results) == 1:
        return sharding
    parts = _tuple_parts(sharding.gspmd)
    return ValueSharding(gspmd=parts[index]) if index < len(parts) else None


def _sharding(attributes: DictAttr) -> ValueSharding | None:
    attribute = attributes.get(_ATTRIBUTE)
    return ValueSharding(gspmd=attribute.value) if isinstance(attribute, StringAttr) else None


def _tuple_parts(text: str) -> list[str]:
    """The parts of `{{devices=[2]<=[2]}, {replicated}}`; the text alone if it is no tuple."""
    if not text.startswith("{{"):
        return [text]
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        if character == "{":
            depth += 1
            start = position if depth == 2 else start
        elif character == "}":
            if depth == 2:
                parts.append(text[start : position + 1])
            depth -= 1
    return parts

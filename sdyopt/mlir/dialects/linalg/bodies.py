"""What the bodies of named operations of linalg consist of: operations of arith and math, conversions."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects import arith
from sdyopt.mlir.dialects.linalg.structured import UnsupportedElementError
from sdyopt.mlir.dialects.math import math
from sdyopt.mlir.ir.attribute import dictionary
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.op_fields import AttrField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import build
from sdyopt.mlir.ir.types import I1, ComplexType, FloatType, IndexType, IntegerType, Type
from sdyopt.mlir.ir.value import Value


def append(block: Block, name: str, values: list[Value], type: Type | None = None) -> Value:
    """Appends an operation of arith or math, without flags, and returns its result."""
    namespace, _, mnemonic = name.partition(".")
    op_class = (arith.DIALECT if namespace == "arith" else math).ops[mnemonic]
    defaults = {
        field.name: field.default for field in op_class.fields.values() if isinstance(field, AttrField)
    }
    flags = dictionary({name: value for name, value in defaults.items() if value is not None})
    types = tuple(value.type for value in values)
    op = build(OpSignature(op_class, op_class.name, flags, types, (type or types[0],)), values)
    block.append(op)
    return op.results[0]


def cast(block: Block, value: Value, type: Type, is_unsigned: bool = False) -> Value:
    """Converts a number to a type; integers as unsigned ones if `is_unsigned`."""
    source = value.type
    if source is type:
        return value
    letter = "u" if is_unsigned else "s"
    name = ""
    if isinstance(source, IntegerType) and isinstance(type, IntegerType):
        name = f"ext{letter}i" if source.width < type.width else "trunci"
    elif isinstance(source, FloatType) and isinstance(type, FloatType):
        if source.width != type.width:
            name = "extf" if source.width < type.width else "truncf"
    elif isinstance(source, IntegerType) and isinstance(type, FloatType):
        name = f"{letter}itofp"
    elif isinstance(source, FloatType) and isinstance(type, IntegerType):
        name = f"fpto{letter}i"
    elif isinstance(source, IndexType) or isinstance(type, IndexType):
        name = "index_castui" if is_unsigned else "index_cast"
    return append(block, f"arith.{name}", [value], type) if name else value


# Function -> the operations for floats, integers and booleans.
_FUNCTIONS = {
    "add": ("addf", "addi", "ori"),
    "sub": ("subf", "subi", ""),
    "mul": ("mulf", "muli", "andi"),
    "max_signed": ("maximumf", "maxsi", "maxsi"),
    "min_signed": ("minimumf", "minsi", "minsi"),
    "max_unsigned": ("", "maxui", ""),
    "min_unsigned": ("", "minui", ""),
}


def check_numbers(types: Sequence[Type]) -> None:
    """Raises unless both numbers are complex, floats, or integers."""
    kinds = (ComplexType, FloatType, IntegerType | IndexType)
    if not any(all(isinstance(type, kind) for type in types) for kind in kinds):
        lhs, rhs = [plain_type(type) for type in types]
        raise UnsupportedElementError(
            "Cannot build binary Linalg operation: expects allComplex, allFloatingPoint, or allInteger, got "
            f"'{lhs}' and '{rhs}'"
        )


def combine(block: Block, function: str, lhs: Value, rhs: Value) -> Value:
    """Appends a function of two numbers."""
    check_numbers([lhs.type, rhs.type])
    for_floats, for_integers, for_booleans = _FUNCTIONS[function]
    name = for_booleans if lhs.type is I1 else for_integers
    if isinstance(lhs.type, FloatType):
        name = for_floats
    elif not isinstance(lhs.type, IntegerType | IndexType):
        raise UnsupportedElementError("unsupported non numeric type")
    if not name and function.endswith("_unsigned"):
        raise UnsupportedElementError(f"unsupported operation: unsigned {function[:3]} not on uint")
    if not name:
        raise UnsupportedElementError(f"unsupported operation: {function} with bools")
    return append(block, f"arith.{name}", [lhs, rhs])

"""The values of integer scalars on all devices, such as the index of a slice computed from `axis_index`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from math import prod

from sdyopt.analysis.figures.manual_devices import outside_of
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp, CompareOp, ConvertOp, SelectOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.dialects.stablehlo.elementwise import (
    AddOp,
    AndOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    NotOp,
    OrOp,
    RemOp,
    SignOp,
    SubtractOp,
    XorOp,
)
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, PartitionIdOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import I1, IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# The value on each device, by device id.
Values = Sequence[int]

# Indices are computed by few operations; larger programs and meshes are not evaluated.
_MAX_DEPTH = 64
_MAX_OPERATIONS = 1000
_MAX_DEVICES = 1 << 14


def _quotient(a: int, b: int) -> int:
    """The quotient, rounded to zero; XLA's of a division by zero is -1."""
    if not b:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _quotient(a, b) if b else a


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "GE": operator.ge,
    "GT": operator.gt,
    "LE": operator.le,
    "LT": operator.lt,
}
_OPERATIONS: dict[type[Op], Callable[..., int]] = {
    AddOp: operator.add,
    AndOp: operator.and_,
    BroadcastInDimOp: int,
    ClampOp: lambda low, value, high: min(max(value, low), high),
    ConvertOp: int,
    DivOp: _quotient,
    MaxOp: max,
    MinOp: min,
    MulOp: operator.mul,
    NegOp: operator.neg,
    NotOp: operator.invert,
    OrOp: operator.or_,
    RemOp: _remainder,
    ReshapeOp: int,
    SelectOp: lambda condition, on_true, on_false: on_true if condition else on_false,
    SignOp: lambda value: (value > 0) - (value < 0),
    SubtractOp: operator.sub,
    XorOp: operator.xor,
}


class DeviceScalars:
    """Evaluates integer tensors of one element on all devices of a mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self._devices = mesh.total_size
        self._left = _MAX_OPERATIONS if self._devices <= _MAX_DEVICES else 0

    def values(self, value: Value) -> Values | None:
        """The value on each device; None if it is computed from data, or is no integer."""
        return self._values(value, {}, {}, 0)

    def _values(
        self, value: Value, arguments: Mapping[Value, Values], known: dict[Value, Values | None], depth: int
    ) -> Values | None:
        if value in arguments:
            return arguments[value]
        if value not in known:
            element = _element(value.type)
            if element is None or depth > _MAX_DEPTH or self._left <= 0:
                return None
            self._left -= 1

            def values_of(operand: Value) -> Values | None:
                return self._values(operand, arguments, known, depth + 1)

            computed = self._compute(value, values_of, depth)
            known[value] = None if computed is None else [_wrapped(number, element) for number in computed]
        return known[value]

    def _compute(
        self, value: Value, values_of: Callable[[Value], Values | None], depth: int
    ) -> Values | None:
        if isinstance(value, BlockArgument):
            residual = outside_of(value)
            return None if residual is None else values_of(residual)
        assert isinstance(value, OpResult)
        op = value.op
        if isinstance(op, PartitionIdOp):
            return range(self._devices)
        if isinstance(op, ConstantOp):
            elements = op.value
            return list(elements.values[:1]) * self._devices if isinstance(elements, DenseElements) else None
        if isinstance(op, OptimizationBarrierOp):
            return values_of(op.operands[value.index])
        if not isinstance(op, CallOp) and not isinstance(op, CompareOp) and type(op) not in _OPERATIONS:
            return None
        operands = [values_of(operand) for operand in op.operands]
        numbers = [operand for operand in operands if operand is not None]
        if len(numbers) != len(operands):
            return None
        if isinstance(op, CallOp):
            function = lookup_symbol(op, op.callee)
            if not isinstance(function, FuncOp) or function.is_declaration or function.entry.last is None:
                return None
            arguments: dict[Value, Values] = dict(zip(function.entry.arguments, numbers, strict=True))
            return self._values(function.entry.last.operands[value.index], arguments, {}, depth + 1)
        if isinstance(op, CompareOp):
            compute: Callable[..., int] = _COMPARISONS[op.comparison_direction.value]
        else:
            compute = _OPERATIONS[type(op)]
        return [int(compute(*row)) for row in zip(*numbers, strict=True)]


def _element(type: Type) -> IntegerType | None:
    """The element type of an integer tensor of one element."""
    if isinstance(type, RankedTensor) and prod(type.shape) == 1 and isinstance(type.element, IntegerType):
        return type.element
    return None


def _wrapped(value: int, type: IntegerType) -> int:
    value &= (1 << type.width) - 1
    is_negative = not type.is_unsigned and type is not I1 and value >> (type.width - 1)
    return value - (1 << type.width) if is_negative else value

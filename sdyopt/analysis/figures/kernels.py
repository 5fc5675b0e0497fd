"""The kernels that a compiler makes of all operations but products and collectives, and their bytes.

Operations that follow each other are one kernel, up to and including reductions: what uses the result of one
is in a later kernel. A kernel reads what comes from outside and writes what products, collectives and results
use; other kernels compute it again. Views, broadcasts and constants cost nothing; a slice reads no more than
its result, and an update of a slice writes no more than the slice. Sorts and such are kernels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, constant_of, is_constant
from sdyopt.analysis.figures.figures import Kernels, KernelSize
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.fusion import converted_result
from sdyopt.analysis.figures.local_shapes import LocalShapes, element_bits
from sdyopt.mlir.dialects.func import ReturnOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.mlir.dialects.stablehlo.conversion import ConvertOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp, SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.elementwise import is_elementwise

# What is read or written in place, or not at all.
_VIEWS = (BroadcastInDimOp, IotaOp, ReshapeOp, TransposeOp)
_SLICES = (DynamicSliceOp, GatherOp, SliceOp)
_MEMBERS = (*_VIEWS, *_SLICES, ConcatenateOp, DynamicUpdateSliceOp, PadOp, ReduceOp, ReverseOp)
_STORED = (*_SLICES, ConcatenateOp, DynamicUpdateSliceOp)
# Kernels of their own.
_ALONE = (FftOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp)
# Values that are smaller than this share of a result do not join the kernels of both.
_SMALL = 8
# The longest chain that is computed again.
_MAX_STEPS = 64
# The bits of elements that products write more slowly than others.
_NARROW = 16
# The operations of a long chain.
_LONG = 16
# Vectors of so many values pass through as fast as those of one.
_STREAMS = 3
# A kernel of fewer bytes is of the scalar unit.
_SCALARS = 32


class _Kernel:
    """The operations of one kernel, in any order."""

    def __init__(self, op: Op) -> None:
        self.ops = {op}


def kernels_of(module: Op, shapes: LocalShapes, counts: ExecutionCounts) -> Kernels:
    """The kernels of a program, over all runs. Those of unknown size or number do not count."""
    found = Kernels()
    kernels: dict[Op, _Kernel] = {}
    depths: dict[Op, int] = {}
    free: set[Op] = set()
    for op in module.walk():
        if not isinstance(op.parent, Block):
            continue
        if isinstance(op, CustomCallOp):
            _add_custom(found, op, counts)
        befores = [before for operand in op.operands if (before := _before(op, operand)) is not None]
        depth = depths[op] = max(
            (depths.get(before, 0) + (before not in kernels or _ends(before)) for before in befores),
            default=0,
        )
        if isinstance(op, _ALONE):
            kernels[op] = _Kernel(op)
        elif _is_member(op):
            kernel = kernels[op] = _Kernel(op)
            if _is_free(op, free) or _is_spread(op, shapes):
                free.add(op)  # every kernel computes it
                continue
            size = _bytes(op.results[0], shapes)
            for operand in op.operands:
                before = _before(op, operand)
                if before is None or before not in kernels or _ends(before) or depths[before] != depth:
                    continue
                if before not in free and _bytes(operand, shapes) * _SMALL >= size:
                    kernel = _joined(kernel, kernels[before], kernels)
    for kernel in {id(kernel): kernel for kernel in kernels.values()}.values():
        _add(found, kernel, kernels, free, shapes, counts)
    return found


def _add_custom(found: Kernels, op: CustomCallOp, counts: ExecutionCounts) -> None:
    """Adds a kernel of Pallas, whose `cost_estimate` says what it computes, reads and writes."""
    config, times = op.signature.attributes.get("backend_config"), counts.times(op)
    text = config.value if isinstance(config, StringAttr) else ""
    if times is None or '"cost_estimate"' not in text:
        return
    flops, size = (re.search(rf'"{key}":\s*([0-9]{{1,24}})\b', text) for key in ("flops", "bytes_accessed"))
    found.custom_flops += times.high * int(flops[1] if flops else 0)
    found.custom_bytes += times.high * int(size[1] if size else 0)
    found.unsized += times.high


def _joined(first: _Kernel, second: _Kernel, kernels: dict[Op, _Kernel]) -> _Kernel:
    """The union, in the larger kernel."""
    if first is second:
        return first
    if len(first.ops) > len(second.ops):
        first, second = second, first
    second.ops |= first.ops
    for op in first.ops:
        kernels[op] = second
    return second


def _add(
    found: Kernels,
    kernel: _Kernel,
    kernels: dict[Op, _Kernel],
    free: set[Op],
    shapes: LocalShapes,
    counts: ExecutionCounts,
) -> None:
    ops = kernel.ops
    times = counts.times(next(iter(ops)))
    if times is None or all(isinstance(op, _VIEWS) and op not in free for op in ops):
        return
    written = list(_written(ops, kernels))
    if not written:
        return  # others compute it again
    values = [*_read(ops, kernels, shapes), *written]
    size = sum(_bytes(value, shapes) for value in values)
    if size < _SCALARS:
        return
    elements = [_elements(value, shapes) for value in values]
    kind = KernelSize(size, max(*elements, sum(elements) // _STREAMS), _is_of_product(ops))
    # Very long chains are several kernels.
    length = sum(not isinstance(op, _VIEWS) for op in ops)
    found.sizes[kind] = found.sizes.get(kind, 0) + times.high
    found.unsized += 0 if kind.is_of_product else times.high * (length // _LONG)


def _read(ops: set[Op], kernels: dict[Op, _Kernel], shapes: LocalShapes) -> Iterator[Value]:
    """What a kernel reads; the result of a slice for what it slices."""
    whole: dict[Value, None] = {}
    for op in ops:
        for number, operand in enumerate(op.operands):
            if operand.defining_op in ops:
                continue
            if isinstance(op, _SLICES) and number == 0:
                yield op.results[0]
            elif not (isinstance(op, DynamicUpdateSliceOp) and number == 0):
                whole[_computed_from(operand, kernels, shapes)] = None
    yield from whole


def _written(ops: set[Op], kernels: dict[Op, _Kernel]) -> Iterator[Value]:
    """What other kernels do not compute again; the update for what it is a part of."""
    for op in ops:
        for value in op.results:
            if any(user not in ops and (_ends(op) or user not in kernels) for user in value.users):
                yield op.operands[1] if isinstance(op, DynamicUpdateSliceOp) else value


def _computed_from(value: Value, kernels: dict[Op, _Kernel], shapes: LocalShapes) -> Value:
    """The value that a kernel reads to compute another one again: through the largest operands."""
    for _ in range(_MAX_STEPS):
        op = value.defining_op
        if op is None or op not in kernels or _ends(op) or isinstance(op, _STORED) or not op.operands:
            return value
        value = max(op.operands, key=lambda operand: _bytes(operand, shapes))
    return value


def _is_of_product(ops: set[Op]) -> bool:
    """Whether all operations are for a product, or begin with the result of one."""
    users = [user for op in ops for value in op.results for user in value.users if user not in ops]
    if users and all(type(user) in FLOPS for user in users):
        return True
    return any(
        type(before) in FLOPS and sum(1 for _ in operand.users) == 1
        for op in ops
        for operand in op.operands
        if (before := operand.defining_op) is not None
    )


def is_narrow(product: Op) -> bool:
    """Whether the elements of a product are written with 16 bits or less."""
    result = product.results[0]
    type = (converted_result(result) or result).type
    element = type.element if isinstance(type, RankedShapedType) else None
    return isinstance(element, FloatType) and element.width <= _NARROW


def is_followed(product: Op) -> bool:
    """Whether operations after a product compute with its result in its kernel, or the program returns it."""
    values = list(product.results)
    while values:
        for user in values.pop().users:
            if isinstance(user, (*_VIEWS, ConvertOp)):
                values += user.results
            elif _is_member(user) or isinstance(user, ReturnOp):
                return True
    return False


def _before(op: Op, operand: Value) -> Op | None:
    """The operation of the same block that an operand comes from, unless it is a constant."""
    before = operand.defining_op
    return None if before is None or before.parent is not op.parent or is_constant(type(before)) else before


def _is_free(op: Op, free: set[Op]) -> bool:
    """Whether an operation computes what it returns from constants."""
    return not isinstance(op, ReduceOp) and all(
        (before := operand.defining_op) is not None and (before in free or is_constant(type(before)))
        for operand in op.operands
    )


def _is_spread(op: Op, shapes: LocalShapes) -> bool:
    """Whether an operation repeats the elements of a much smaller value."""
    if not isinstance(op, BroadcastInDimOp):
        return False
    return _bytes(op.operand_at(0), shapes) * _SMALL < _bytes(op.results[0], shapes)


def _ends(op: Op) -> bool:
    """Whether what uses the result of an operation is in a later kernel."""
    return isinstance(op, (ReduceOp, *_ALONE))


def _is_member(op: Op) -> bool:
    return len(op.results) > 0 and (isinstance(op, _MEMBERS) or is_elementwise(op.signature))


def _elements(value: Value, shapes: LocalShapes) -> int:
    bits = element_bits(value.type.element) if isinstance(value.type, RankedShapedType) else None
    return _bytes(value, shapes) * 8 // bits if bits else 0


def _bytes(value: Value, shapes: LocalShapes) -> int:
    op = value.defining_op
    return 0 if op is not None and constant_of(op) is not None else shapes.bytes(value) or 0

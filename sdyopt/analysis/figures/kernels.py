"""The kernels of all operations but products and collectives, as compilers fuse them, and their bytes.

Operations that follow each other are one kernel, up to and including reductions: what uses the result of
one is in a later kernel, as is what concatenates results, or takes several parts of one. A kernel reads
what comes from outside and writes what products, collectives and results use; other kernels compute it
again. Views, broadcasts and constants cost nothing; a slice reads no more than its result, and an update of
a slice writes no more than the slice. Sorts and such are kernels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import prod

from sdyopt.analysis.figures.compiled_products import is_multiplied
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, is_constant
from sdyopt.analysis.figures.figures import Kernels, KernelSize, ProductKernel
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.fusion import FEW_UPDATES
from sdyopt.analysis.figures.local_shapes import LocalShapes, elements_of_tiles
from sdyopt.analysis.figures.narrow_floats import MOVES_NARROWED, is_for_products, narrowed_by
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.func import FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.numerics import CholeskyOp, FftOp, TriangularSolveOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp, SelectAndScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, FloatType, RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# What is read or written in place, or not at all.
_VIEWS = (BroadcastInDimOp, IotaOp, ReshapeOp, TransposeOp)
_SLICES = (DynamicSliceOp, GatherOp, SliceOp)
_MOVES = (*_SLICES, ConcatenateOp, DynamicUpdateSliceOp, PadOp, ReverseOp)
_MEMBERS = (*_VIEWS, *_SLICES, ConcatenateOp, DynamicUpdateSliceOp, PadOp, ReduceOp, ReverseOp)
# Kernels of their own.
_ALONE = (FftOp, ReduceWindowOp, ScatterOp, SelectAndScatterOp, SortOp)
# Values that are smaller than this share of a result do not join the kernels of both.
_SMALL = 8
# The longest chain that is computed again.
_MAX_STEPS = 64
# The bits of elements that products write more slowly than others.
_NARROW = 16
# The operations of a long chain, which is several kernels.
_LONG = 24
# Vectors of so many values pass through as fast as those of one.
_STREAMS = 3
# Long windows are summed up in rows of so many elements, in so many kernels, some of them of all elements.
_ROW = 128
_STEPS, _PASSES = 4, 3
# The kernels for each block of as many rows of a triangular matrix.
_BLOCK_KERNELS = 5
# A kernel of fewer bytes is of the scalar unit.
_SCALARS = 32


class _Kernel:
    """The operations of one kernel, in any order."""

    def __init__(self, op: Op) -> None:
        self.ops = {op}


def kernels_of(module: Op, shapes: LocalShapes, counts: ExecutionCounts, compiler: str) -> Kernels:
    """The kernels of a program, over all runs. Those of unknown size or number do not count."""
    return _Kernels(shapes, counts, compiler).of(module)


class _Kernels:
    """Joins the operations of a program to kernels.

    `_free` are those that every kernel computes, because they are of constants or of a much smaller value.
    """

    def __init__(self, shapes: LocalShapes, counts: ExecutionCounts, compiler: str) -> None:
        self._shapes, self._counts = shapes, counts
        # Vectors are tiles, as on TPUs, whose compiler fuses what it can with products, but no concatenation.
        self._pads = CompilerBehavior.PADS_TO_TILES.holds(compiler)
        self._looks_up = CompilerBehavior.LOOKS_UP_SHARDS.holds(compiler)
        self._summed = Kernels()
        self._kernels: dict[Op, _Kernel] = {}
        self._free: set[Op] = set()
        self._one_hots: set[Op] | None = set() if CompilerBehavior.ONE_HOT_SCATTERS.holds(compiler) else None
        self._moved: set[Op] = set()
        self._narrowed: set[Value] = set()
        self._depths: dict[Op, int] = {}
        self._sizes: dict[Value, int] = {}

    def of(self, module: Op) -> Kernels:
        kernels, free = self._kernels, self._free
        depths = self._depths
        slices: dict[tuple[Value, int], Op] = {}
        for op in module.walk():
            parent = op.parent
            if not isinstance(parent, Block):
                continue
            kind = type(op)
            if kind is CustomCallOp:
                self._add_custom(op)
            elif kind is AllSliceOp:
                self._add_slice(op)
            elif self._pads and _is_of_blocks(kind):
                self._add_blocks(op)
            elif self._pads and kind in MOVES_NARROWED:
                self._add_narrowing(op)
            depth, befores = 0, []
            for use in op.operand_uses:
                before = use.value.defining_op
                # Those of the same block that are no constants.
                if before is not None and before.parent is parent and not is_constant(type(before)):
                    is_later = before not in kernels or self._is_written_for(use.value, op)
                    befores.append((before, use.value, is_later))
                    depth = max(depth, depths[before] + is_later)
            depths[op] = depth
            if (_is_alone(kind) and not self._is_one_hot(op)) or self._is_moved(op):
                kernels[op] = _Kernel(op)
            elif op.signature.cached(_is_member) or kind is ScatterOp:
                kernel = kernels[op] = _Kernel(op)
                if self._is_free(op):
                    free.add(op)
                    continue
                size = self._bytes(op.results[0])
                for before, operand, is_later in befores:
                    if is_later or before in free or depths[before] != depth:
                        continue
                    if self._bytes(operand) * _SMALL >= size:
                        kernel = self._joined(kernel, kernels[before])
                if kind is SliceOp and not any(_is_joined(user) for user in op.results[0].users):
                    # Slices of one value that are written are taken together.
                    other = slices.setdefault((op.operand_at(0), depth), op)
                    self._joined(kernel, kernels[other])
        for kernel in {id(kernel): kernel for kernel in kernels.values()}.values():
            self._add(kernel)
        return self._summed

    def _is_written_for(self, value: Value, user: Op) -> bool:
        """Whether a kernel writes a value for another one: not if that computes it again, or both are one."""
        before = value.defining_op
        assert before is not None
        kind = type(before)
        if self._moved and (before in self._moved or user in self._moved):
            return True
        if _ends(kind) and not (self._one_hots and before in self._one_hots):
            return True
        if not self._pads or before in self._free or kind is ConvertOp:
            return False
        return type(user) is ConcatenateOp or (not value.has_one_use and _is_move(type(user)))

    def _is_moved(self, op: Op) -> bool:
        """Whether a reshape moves elements to other vectors, and no product reads or writes it so."""
        if type(op) is not ReshapeOp or not self._pads:
            return False
        before, after = self._shapes.shape(op.operand_at(0)), self._shapes.shape(op.results[0])
        if before is None or after is None or DYNAMIC in before or _has_same_vectors(before, after):
            return False
        producer = op.operand_at(0).defining_op
        if (
            producer is None
            or type(producer) in FLOPS
            or is_constant(type(producer))
            or producer in self._free
        ):
            return False
        if any(type(user) in FLOPS for user in op.results[0].users):
            return False
        self._moved.add(op)
        return True

    def _is_one_hot(self, op: Op) -> bool:
        """Whether a scatter sets few elements of a constant, which is computed where it is used."""
        if self._one_hots is None or type(op) is not ScatterOp or len(op.results) != 1:
            return False
        before = op.operand_at(0).defining_op
        is_constant_set = before is not None and (before in self._free or is_constant(type(before)))
        updates = op.operand_at(len(op.operands) - 1)
        if not is_constant_set or self._bytes(updates) * FEW_UPDATES > self._bytes(op.results[0]):
            return False
        self._one_hots.add(op)
        return True

    def _is_free(self, op: Op) -> bool:
        kind, free = type(op), self._free
        if kind is BroadcastInDimOp and self._bytes(op.operand_at(0)) * _SMALL < self._bytes(op.results[0]):
            return True
        if kind is ReduceOp:
            return False
        for use in op.operand_uses:
            before = use.value.defining_op
            if before is None or not (before in free or is_constant(type(before))):
                return False
        return True

    def _add_custom(self, op: Op) -> None:
        """Adds a kernel of Pallas, whose `cost_estimate` says what it computes, reads and writes."""
        config, times = op.signature.attributes.get("backend_config"), self._counts.times(op)
        text = config.value if isinstance(config, StringAttr) else ""
        if times is None or '"cost_estimate"' not in text:
            return
        flops, size = (
            re.search(rf'"{key}":\s*([0-9]{{1,24}})\b', text) for key in ("flops", "bytes_accessed")
        )
        self._summed.custom_flops += times.high * int(flops[1] if flops else 0)
        self._summed.custom_bytes += times.high * int(size[1] if size else 0)
        self._summed.unsized += times.high

    def _add_slice(self, op: Op) -> None:
        """Adds the kernel that copies the shard of a device, and the one that looks up which it is."""
        times = self._counts.times(op)
        size = self._bytes(op.results[0])
        if times is not None and size and self._looks_up:
            self._summed.add(KernelSize(2 * size, self._elements(op.results[0]), False), times.high)
            self._summed.unsized += times.high

    def _add_narrowing(self, op: Op) -> None:
        """Adds the kernels that narrow what an operation moves, unless a kernel before computes it."""
        times = self._counts.times(op)
        for value in narrowed_by(op) if times is not None else ():
            before = value.defining_op
            is_computed = before in self._kernels and not _is_view(type(before))
            if times is not None and not is_computed and value not in self._narrowed:
                self._narrowed.add(value)
                size = KernelSize(self._bytes(value) * 3 // 2, self._elements(value), False)
                self._summed.add(size, times.high)

    def _add_blocks(self, op: Op) -> None:
        """Adds the kernels of a factorization, or of a triangular solution, which is of blocks of rows."""
        times, shape = self._counts.times(op), self._shapes.shape(op.operand_at(0))
        if times is not None and shape and DYNAMIC not in shape:
            self._summed.unsized += times.high * _BLOCK_KERNELS * -(-shape[-1] // _ROW)

    def _joined(self, first: _Kernel, second: _Kernel) -> _Kernel:
        """The union, in the larger kernel."""
        if first is second:
            return first
        if len(first.ops) > len(second.ops):
            first, second = second, first
        second.ops |= first.ops
        for op in first.ops:
            self._kernels[op] = second
        return second

    def _add(self, kernel: _Kernel) -> None:
        ops = kernel.ops
        first = next(iter(ops))
        length = sum(not _is_view(type(op)) or op in self._moved for op in ops)
        if not length and first not in self._free:
            return
        written = list(self._written(ops))
        if not written:
            return  # others compute it again
        times = self._counts.times(first)
        if times is None:
            return
        values = [*self._read(ops), *written]
        sizes = [self._bytes(value) for value in values]
        if (size := sum(sizes)) < _SCALARS:
            return
        elements = [
            self._elements(value) if value_size else 0
            for value, value_size in zip(values, sizes, strict=True)
        ]
        kind = KernelSize(size, max(*elements, sum(elements) // _STREAMS), self._is_of_product(ops))
        kernels = self._summed
        if self._pads and isinstance(first, ReduceWindowOp) and (levels := _levels(first)):
            # A scan: in rows of as many elements, over their sums, and with these added.
            kernels.add(kind, _PASSES * times.high)
            kernels.unsized += times.high * (_STEPS * levels - _PASSES)
            return
        last = len(self._shapes.shape(values[0]) or ()) - 1
        if self._pads and isinstance(first, SortOp) and first.dimension in (-1, last):
            # Along columns: what is sorted, and the results, are transposed.
            for value, value_size, count in zip(values, sizes, elements, strict=True):
                if value.defining_op not in self._free:
                    kernels.add(KernelSize(2 * value_size, count, False), times.high)
            return
        kernels.add(kind, times.high)
        kernels.unsized += 0 if kind.is_of_product else times.high * (length // _LONG)

    def _read(self, ops: set[Op]) -> Iterator[Value]:
        """What a kernel reads; the result of a slice for what it slices."""
        whole: dict[Value, None] = {}
        for op in ops:
            kind = type(op)
            for use in op.operand_uses:
                value = use.value
                if value.defining_op in ops:
                    continue
                if use.index == 0 and _is_slice(kind):
                    yield op.results[0]
                elif use.index or kind is not DynamicUpdateSliceOp:
                    whole[self._computed_from(value)] = None
        yield from whole

    def _written(self, ops: set[Op]) -> Iterator[Value]:
        """What other kernels do not compute again; the update for what it is a part of."""
        kernels = self._kernels
        for op in ops:
            for value in op.results:
                for user in value.users:
                    if user not in ops and (user not in kernels or self._is_written_for(value, user)):
                        yield op.operand_at(1) if type(op) is DynamicUpdateSliceOp else value
                        break

    def _is_of_product(self, ops: set[Op]) -> bool:
        """Whether products compute all that a kernel would write, or it begins with the result of one."""
        kernels = self._kernels
        writers = [
            user
            for op in ops
            for value in op.results
            for user in value.users
            if user not in ops and (user not in kernels or self._is_written_for(value, user))
        ]
        if all(type(user) in FLOPS for user in writers):
            return True
        is_sum = self._pads and any(type(op) is ReduceOp for op in ops)
        return any(
            (before := use.value.defining_op) is not None
            and type(before) in FLOPS
            and (use.value.has_one_use or (is_sum and self._is_first(op, use.value)))
            for op in ops
            for use in op.operand_uses
        )

    def _is_first(self, op: Op, value: Value) -> bool:
        """Whether no kernel before that of an operation reads a value."""
        return all(self._depths.get(user, 0) >= self._depths[op] for user in value.users)

    def _computed_from(self, value: Value) -> Value:
        """The value that a kernel reads to compute another one again: through the largest operands."""
        for _ in range(_MAX_STEPS):
            op = value.defining_op
            if op is None or op not in self._kernels or _is_stored(type(op)) or not op.operand_uses:
                return value
            value = max(op.operands, key=self._bytes)
        return value

    def _elements(self, value: Value) -> int:
        """The elements of whole tiles, where vectors are tiles."""
        shape = self._shapes.shape(value)
        if shape is None or DYNAMIC in shape:
            return 0
        return elements_of_tiles(shape) if self._pads else prod(shape)

    def _bytes(self, value: Value) -> int:
        size = self._sizes.get(value)
        if size is None:
            op = value.defining_op
            is_computed = op is None or not is_constant(type(op))
            size = self._sizes[value] = (self._shapes.bytes(value) or 0) if is_computed else 0
        return size


def kernel_of_product(product: Op, shapes: LocalShapes, compiler: str) -> ProductKernel:
    """How a compiler computes a product."""
    arguments = [_argument(use.value) for use in product.operand_uses]
    return ProductKernel(
        _is_narrow(product),
        _is_returned(product),
        _vector_elements(product, shapes, compiler),
        sum(shapes.bytes(argument) or 0 for argument in dict.fromkeys(arguments) if argument is not None),
        None not in arguments,
    )


def _is_narrow(product: Op) -> bool:
    """Whether the elements that a product, and what follows it in its kernel, write have 16 bits or less."""
    value: Value = product.results[0]
    for _ in range(_MAX_STEPS):
        element = value.type.element if isinstance(value.type, RankedShapedType) else None
        if isinstance(element, FloatType) and element.width <= _NARROW:
            return True
        user = next(iter(value.users)) if value.has_one_use else None
        if user is None or not user.signature.cached(_is_member) or _ends(type(user)) or _is_move(type(user)):
            break
        value = user.results[0]
    # What only products read is written as they read it.
    return is_for_products(value)


def _vector_elements(product: Op, shapes: LocalShapes, compiler: str) -> int:
    """The elements of the tiles that a vector unit multiplies and sums; 0 for the products of other units."""
    # The only operand of a Fourier transform stands for both.
    values = product.operand_at(0), product.operands[:2][-1], product.results[0]
    lhs, rhs, out = (shapes.shape(value) for value in values)
    if lhs is None or rhs is None or out is None or not is_multiplied(product, lhs, rhs, out, compiler):
        return 0
    return max(elements_of_tiles(shape) for shape in (lhs, rhs, out))


def _argument(value: Value) -> Value | None:
    """The argument of a function that a value is, converted or as a view; None for others."""
    for _ in range(_MAX_STEPS):
        if isinstance(value, BlockArgument):
            parent = value.block.parent_op
            if not isinstance(parent, ManualComputationOp):
                return value if isinstance(parent, FuncOp) else None
            value = parent.operand_at(value.index)
            continue
        op = value.defining_op
        if op is None or not op.operand_uses or not (_is_view(type(op)) or isinstance(op, ConvertOp)):
            return None
        value = op.operand_at(0)
    return None


def _is_returned(product: Op) -> bool:
    """Whether a program returns the result of a product, converted or as a view."""
    values = list(product.results)
    while values:
        for user in values.pop().users:
            if isinstance(user, ReturnOp):
                return True
            if _is_view(type(user)) or isinstance(user, ConvertOp):
                values += user.results
    return False


def _has_same_vectors(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    """Whether the elements of a reshape stay in the rows and the vectors where they are."""
    first, second = ([size for size in shape if size > 1] for shape in (before, after))
    if not first or not second or first == second or prod(first) < 1024:
        return True
    if first[-1] != second[-1]:
        return False
    rows = [(sizes[-2] if len(sizes) > 1 else 1) for sizes in (first, second)]
    return rows[0] == rows[1] or all(size % 8 == 0 for size in rows)


def _levels(window: ReduceWindowOp) -> int:
    """How often sums over a long window are summed up; 0 for a short one, which is a single kernel."""
    size, levels = max(window.window_dimensions, default=1), 0
    while size >= _ROW:
        size, levels = -(-size // _ROW), levels + 1
    return levels


@cache
def _is_view(kind: type[Op]) -> bool:
    return issubclass(kind, _VIEWS)


@cache
def _is_of_blocks(kind: type[Op]) -> bool:
    return issubclass(kind, (CholeskyOp, TriangularSolveOp))


@cache
def _is_slice(kind: type[Op]) -> bool:
    return issubclass(kind, _SLICES)


@cache
def _is_move(kind: type[Op]) -> bool:
    return issubclass(kind, _MOVES)


@cache
def _is_alone(kind: type[Op]) -> bool:
    return issubclass(kind, _ALONE)


@cache
def _is_stored(kind: type[Op]) -> bool:
    """Whether no other kernel computes the result of an operation again."""
    return _ends(kind) or issubclass(kind, (*_SLICES, ConcatenateOp, DynamicUpdateSliceOp))


@cache
def _ends(kind: type[Op]) -> bool:
    """Whether what uses the result of an operation is in a later kernel."""
    return issubclass(kind, (ReduceOp, *_ALONE))


def _is_joined(user: Op) -> bool:
    """Whether the kernel of what an operation reads may be its own."""
    return type(user) is not ConcatenateOp and user.signature.cached(_is_member)


def _is_member(signature: OpSignature) -> bool:
    """Whether an operation is in a kernel with others."""
    return len(signature.result_types) > 0 and (
        issubclass(signature.op_class, _MEMBERS) or is_elementwise(signature)
    )

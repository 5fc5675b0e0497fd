"""The kernels of all operations but products and collectives, as compilers fuse them, and their bytes.

Operations that follow each other are one kernel, up to and including reductions: what uses the result of
one is in a later kernel, as is what concatenates results, or takes several parts of one. A kernel reads
what comes from outside and writes what products, collectives and results use; other kernels compute it
again. Views, broadcasts and constants cost nothing; a slice reads no more than its result, and an update of
a slice writes no more than the slice. Sorts and such are kernels of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from math import prod

from sdyopt.analysis.figures.compiled_products import (
    computes_product,
    softmax_of,
    writes_exponentials,
)
from sdyopt.analysis.figures.execution_counts import ExecutionCounts, is_constant
from sdyopt.analysis.figures.figures import Kernels, KernelSize
from sdyopt.analysis.figures.flops import FLOPS
from sdyopt.analysis.figures.fusion import FEW_UPDATES
from sdyopt.analysis.figures.local_shapes import LocalShapes, elements_of_tiles
from sdyopt.analysis.figures.narrow_floats import MOVES_NARROWED, is_for_products, narrowed_by
from sdyopt.analysis.figures.product_collectives import COLLECTIVES
from sdyopt.analysis.figures.product_kernels import (
    ALONE,
    MAX_STEPS,
    argument_of,
    ends_kernel,
    has_narrow_floats,
    has_same_vectors,
    is_member,
    is_move,
    is_returned,
    is_slice,
    is_stored,
    is_view,
    readers_of,
    summed_later,
)
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.chlo.elementwise import ErfInvOp, ErfOp
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.elementwise import CosineOp, MaxOp, SineOp, TanOp
from sdyopt.mlir.dialects.stablehlo.numerics import CholeskyOp, TriangularSolveOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp, ReduceWindowOp, SortOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicUpdateSliceOp,
    SliceOp,
)
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

# Values that are smaller than this share of a result do not join the kernels of both.
_SMALL = 8
# The operations of a long chain, which is several kernels.
_LONG = 24
# Vectors of so many values pass through as fast as those of one.
_STREAMS = 3
# Long windows are summed up in rows of so many elements, in so many kernels, some of them of all elements.
_ROW = 128
_STEPS, _PASSES = 4, 3
# The kernels for each block of as many rows of a triangular matrix.
_BLOCK_KERNELS = 5
# The share of the time of a vector that each operation takes: the slope of libtpu's cycles in long chains.
_LEAST_WORK = 1 / 70
_WORK: dict[type[Op], float] = {SineOp: 2.2, CosineOp: 2.2, TanOp: 4.4, ErfOp: 0.25, ErfInvOp: 0.5}
# The operations of a kernel that are counted at most.
_MOST_COMPUTED = 500
# A kernel of fewer bytes is of the scalar unit.
_SCALARS = 32
# The rows of whole tiles.
_SUBLANES = 8


class _Kernel:
    """The operations of one kernel, in an order that does not depend on addresses."""

    def __init__(self, op: Op) -> None:
        self.ops: dict[Op, None] = {op: None}


def kernels_of(
    module: Op,
    shapes: LocalShapes,
    counts: ExecutionCounts,
    compiler: str,
    on_kernel: Callable[[Op, KernelSize, int], None] = lambda op, size, runs: None,
) -> Kernels:
    """The kernels of a program, over all runs. Those of unknown size or number do not count.

    `on_kernel` gets an operation of each kernel that has a size, the largest one, and the number of its runs.
    """
    return _Kernels(shapes, counts, compiler, on_kernel).of(module)


class _Kernels:
    """Joins the operations of a program to kernels.

    `_free` are those that every kernel computes, because they are of constants or of a much smaller value.
    """

    def __init__(
        self,
        shapes: LocalShapes,
        counts: ExecutionCounts,
        compiler: str,
        on_kernel: Callable[[Op, KernelSize, int], None],
    ) -> None:
        self._shapes, self._counts, self._on_kernel = shapes, counts, on_kernel
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
        self._returned: dict[Value, bool] = {}

    def of(self, module: Op) -> Kernels:
        kernels, free = self._kernels, self._free
        depths = self._depths
        slices: dict[tuple[Value, int], Op] = {}
        loops: list[Op] = []
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
                if kind is WhileOp:
                    loops.append(op)
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
            elif op.signature.cached(is_member) or kind is ScatterOp:
                kernel = kernels[op] = _Kernel(op)
                if self._is_free(op):
                    free.add(op)
                    continue
                # An update of a slice is computed with the slice.
                size = self._bytes(op.operand_at(1) if kind is DynamicUpdateSliceOp else op.results[0])
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
        for loop in loops:
            self._add_copies(loop)
        return self._summed

    def _is_written_for(self, value: Value, user: Op) -> bool:
        """Whether a kernel writes a value for another one: not if that computes it again, or both are one."""
        before = value.defining_op
        assert before is not None
        kind = type(before)
        if self._moved and (before in self._moved or user in self._moved):
            return True
        if ends_kernel(kind) and not (self._one_hots and before in self._one_hots):
            return not self._is_view_of_sums(before)
        if not self._pads or before in self._free:
            return False
        if type(user) is BroadcastInDimOp and self._is_small(user) and self._is_of_sums(before):
            return True  # not computed again for each element
        if kind is ConvertOp:
            return False
        if kind is DynamicUpdateSliceOp or (
            type(user) is DynamicUpdateSliceOp and user.operand_at(0) is value
        ):
            return True  # an update is in place
        return type(user) is ConcatenateOp or (not value.has_one_use and is_move(type(user)))

    def _is_moved(self, op: Op) -> bool:
        """Whether a reshape moves elements to other vectors, and no product reads or writes it so."""
        if type(op) is not ReshapeOp or not self._pads:
            return False
        before, after = (self._shapes.shape(value) or () for value in (op.operand_at(0), op.results[0]))
        if DYNAMIC in before or has_same_vectors(before, after):
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
        if kind is BroadcastInDimOp and self._is_small(op):
            return True
        if kind is ReduceOp:
            return False
        for use in op.operand_uses:
            before = use.value.defining_op
            if before is None or not (before in free or is_constant(type(before))):
                return False
        return True

    def _is_of_sums(self, op: Op) -> bool:
        """Whether an operation, or one before it in its kernel, computes something of earlier sums."""
        for _ in range(MAX_STEPS if self._depths[op] else 0):
            if op not in self._kernels or (ends_kernel(type(op)) and not self._is_view_of_sums(op)):
                break
            if not is_view(type(op)) and not isinstance(op, ConvertOp | MaxOp | ReduceOp):
                return True
            # The largest of a tensor and a constant is that of the tensor.
            before = max(op.operands, key=self._bytes).defining_op
            if before is None:
                break
            op = before
        return False

    def _is_view_of_sums(self, op: Op) -> bool:
        """Whether a reduction is along dimensions of size 1, as gradients of broadcasts are."""
        return type(op) is ReduceOp and self._bytes(op.operand_at(0)) == self._bytes(op.results[0])

    def _is_small(self, broadcast: Op) -> bool:
        """Whether what is broadcast is much smaller than the result."""
        return self._bytes(broadcast.operand_at(0)) * _SMALL < self._bytes(broadcast.results[0])

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
            self._count(op, KernelSize(2 * size, self._elements(op.results[0]), False), times.high)
            self._summed.unsized += times.high

    def _add_narrowing(self, op: Op) -> None:
        """Adds the kernels that narrow what an operation moves, unless a kernel before computes it."""
        times = self._counts.times(op)
        for value in narrowed_by(op) if times is not None else ():
            before = value.defining_op
            is_computed = before in self._kernels and not is_view(type(before))
            if times is not None and not is_computed and value not in self._narrowed:
                self._narrowed.add(value)
                size = KernelSize(self._bytes(value) * 3 // 2, self._elements(value), False)
                self._count(op, size, times.high)

    def _add_blocks(self, op: Op) -> None:
        """Adds the kernels of a factorization, or of a triangular solution, which is of blocks of rows."""
        times, shape = self._counts.times(op), self._shapes.shape(op.operand_at(0))
        if times is not None and shape and DYNAMIC not in shape:
            self._summed.unsized += times.high * _BLOCK_KERNELS * -(-shape[-1] // _ROW)

    def _add_copies(self, loop: Op) -> None:
        """Adds the kernels that copy what a loop carries and cannot be replaced where it is.

        One kernel reads it and computes that of the next run: with a product, or with an update of a slice.
        Whole tiles of 32 bits are copied beside others.
        """
        (block,) = loop.regions[1].blocks
        last = block.last
        times = None if last is None else self._counts.times(last)
        if last is None or times is None:
            return
        for argument in block.arguments:
            value = last.operand_at(argument.index)
            kernel = None if value.defining_op is None else self._kernels.get(value.defining_op)
            if kernel is None or value is argument or _is_updated(value, argument):
                continue
            readers = set(readers_of(argument))
            reads_product = any(
                type(before) in FLOPS and before in readers
                for op in kernel.ops
                for before in (use.value.defining_op for use in op.operand_uses)
            )
            updates = any(
                type(op) is DynamicUpdateSliceOp and op is not value.defining_op for op in kernel.ops
            )
            if not reads_product and not (updates and not readers.isdisjoint(kernel.ops)):
                continue
            shape = self._shapes.shape(argument) or ()
            result = loop.results[argument.index]
            is_kept = result.has_uses and not is_for_products(result)
            is_narrow = has_narrow_floats(argument) or (is_for_products(argument) and not is_kept)
            if len(shape) > 1 and DYNAMIC not in shape and (is_narrow or shape[-2] % _SUBLANES):
                size = self._bytes(argument)
                self._count(loop, KernelSize(2 * size, self._elements(argument), False), times.high)

    def _count(self, op: Op, size: KernelSize, runs: int) -> None:
        self._summed.add(size, runs)
        self._on_kernel(op, size, runs)

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
        length = sum(
            (not is_view(type(op)) and not self._is_view_of_sums(op)) or op in self._moved for op in ops
        )
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
        if self._pads:
            # A reduction passes through all that it sums up, faster if it is computed of less.
            elements += [self._elements(op.operand_at(0)) * 2 // 3 for op in ops if isinstance(op, ReduceOp)]
        # What is concatenated is not at the places of vectors, and passes through one after another.
        streams = _STREAMS - any(type(op) is ConcatenateOp for op in ops)
        most = max(*elements, sum(elements[: len(sizes)]) // streams)
        if self._pads:
            most += self._computed(ops)
        outside = 0
        if self._pads and times.high == 1:
            outside = sum(
                value_size
                for value, value_size in zip(values, sizes, strict=True)
                if argument_of(value) is not None or self._is_returned(value)
            )
        kind = KernelSize(size, most, self._is_of_product(ops), outside)
        kernels = self._summed
        if kind.is_of_product and any(type(op) is DynamicUpdateSliceOp for op in ops):
            kernels.unsized += times.high
        if self._pads and isinstance(first, ReduceWindowOp) and (levels := _levels(first)):
            # A scan: in rows of as many elements, over their sums, and with these added.
            self._count(first, kind, _PASSES * times.high)
            kernels.unsized += times.high * (_STEPS * levels - _PASSES)
            return
        last = len(self._shapes.shape(values[0]) or ()) - 1
        if self._pads and isinstance(first, SortOp) and first.dimension in (-1, last):
            # Along columns: what is sorted, and the results, are transposed.
            for value, value_size, count in zip(values, sizes, elements, strict=True):
                if value.defining_op not in self._free:
                    self._count(first, KernelSize(2 * value_size, count, False), times.high)
            return
        largest = max(ops, key=lambda op: max(map(self._bytes, (*op.operands, *op.results)), default=0))
        self._count(largest, kind, times.high)
        kernels.unsized += 0 if kind.is_of_product else times.high * (length // _LONG)

    def _computed(self, ops: Collection[Op]) -> int:
        """The elements that vectors pass through in the time of what a kernel computes of each."""
        work, pending, visited = 0.0, list(ops), set(ops)
        while pending and len(visited) < _MOST_COMPUTED:
            op = pending.pop()
            if len(op.results) == 1 and op.signature.cached(is_elementwise):
                work += self._elements(op.results[0]) * _WORK.get(type(op), _LEAST_WORK)
            for use in op.operand_uses:
                before = use.value.defining_op
                if before is not None and before in self._free and before not in visited:
                    visited.add(before)
                    pending.append(before)
        return int(work) if len(visited) > 1 else 0

    def _read(self, ops: Collection[Op]) -> Iterator[Value]:
        """What a kernel reads; the result of a slice for what it slices."""
        whole: dict[Value, None] = {}
        for op in ops:
            kind = type(op)
            for use in op.operand_uses:
                value = use.value
                if value.defining_op in ops:
                    continue
                if use.index == 0 and is_slice(kind):
                    yield op.results[0]
                elif use.index or kind is not DynamicUpdateSliceOp:
                    whole[self._computed_from(value)] = None
        yield from whole

    def _written(self, ops: Collection[Op]) -> Iterator[Value]:
        """What other kernels do not compute again; the update for what it is a part of."""
        kernels = self._kernels
        for op in ops:
            is_free = self._pads and op in self._free
            is_constant = is_free and type(op) is BroadcastInDimOp
            for value in op.results:
                for user in value.users:
                    # The first run of a loop selects a constant in place of what it carries. Each device
                    # computes its shard of one.
                    if (is_constant and isinstance(user, WhileOp)) or (
                        is_free and isinstance(user, AllSliceOp | ManualComputationOp)
                    ):
                        continue
                    if user not in ops and (user not in kernels or self._is_written_for(value, user)):
                        yield op.operand_at(1) if type(op) is DynamicUpdateSliceOp else value
                        break

    def _is_of_product(self, ops: Collection[Op]) -> bool:
        """Whether products compute all that a kernel would write, or it begins with the result of one."""
        kernels = self._kernels
        users = [
            (value, user) for op in ops for value in op.results for user in value.users if user not in ops
        ]
        writers = [user for value, user in users if user not in kernels or self._is_written_for(value, user)]
        if all(type(user) in FLOPS for user in writers):
            # Several compute it again, unless they read more so: of what is received, and another value.
            is_received = self._pads and any(map(_is_received, _operands(ops)))
            return len(users) == 1 or not is_received or not self._reads_more(ops)
        if self._pads and any(self._is_in_softmax(op) for op in ops):
            return True
        is_sum = self._pads and any(type(op) is ReduceOp for op in ops)
        return any(
            type(summed_later(use.value).defining_op) in FLOPS
            and (all(user in ops for user in use.value.users) or (is_sum and self._is_first(op, use.value)))
            for op in ops
            for use in op.operand_uses
        )

    def _reads_more(self, ops: Collection[Op]) -> bool:
        """Whether operations read more bytes than they compute."""
        computed = max(self._bytes(value) for op in ops for value in op.results)
        return sum(map(self._bytes, self._read(ops))) > computed * 3 // 2

    def _is_in_softmax(self, op: Op) -> bool:
        """Whether an operation is that of a softmax which computes its product, too: of 16 bits, in 32."""
        softmax, shape_of = softmax_of(op), self._shapes.shape
        return (
            softmax is not None
            and has_narrow_floats(softmax.product.results[0])
            and not has_narrow_floats(op.results[0])
            and writes_exponentials(softmax, shape_of)
            and computes_product(softmax, shape_of)
        )

    def _is_first(self, op: Op, value: Value) -> bool:
        """Whether no kernel before that of an operation reads a value."""
        return all(self._depths.get(user, 0) >= self._depths[op] for user in value.users)

    def _computed_from(self, value: Value) -> Value:
        """The value that a kernel reads to compute another one again: through the largest operands."""
        for _ in range(MAX_STEPS):
            op = value.defining_op
            if op is None or op not in self._kernels or is_stored(type(op)) or not op.operand_uses:
                return value
            value = max(op.operands, key=self._bytes)
        return value

    def _elements(self, value: Value) -> int:
        """The elements of whole tiles, where vectors are tiles."""
        shape = self._shapes.shape(value)
        if shape is None or DYNAMIC in shape:
            return 0
        return elements_of_tiles(shape, has_narrow_floats(value)) if self._pads else prod(shape)

    def _is_returned(self, value: Value) -> bool:
        if (known := self._returned.get(value)) is None:
            known = self._returned[value] = is_returned(value)
        return known

    def _bytes(self, value: Value) -> int:
        size = self._sizes.get(value)
        if size is None:
            op = value.defining_op
            is_computed = op is None or not is_constant(type(op))
            size = self._sizes[value] = (self._shapes.bytes(value) or 0) if is_computed else 0
        return size


def _operands(ops: Collection[Op]) -> Iterator[Value]:
    for op in ops:
        yield from op.operands


def _is_received(value: Value) -> bool:
    return isinstance(value.defining_op, COLLECTIVES) and not isinstance(value.defining_op, AllSliceOp)


def _is_updated(value: Value, argument: Value) -> bool:
    """Whether a value is what a loop carries with a slice of it updated, which is done where it is."""
    update = value.defining_op
    return type(update) is DynamicUpdateSliceOp and update.operand_at(0) is argument


def _levels(window: ReduceWindowOp) -> int:
    """How often sums over a long window are summed up; 0 for a short one, which is a single kernel."""
    size, levels = max(window.window_dimensions, default=1), 0
    while size >= _ROW:
        size, levels = -(-size // _ROW), levels + 1
    return levels


@cache
def _is_of_blocks(kind: type[Op]) -> bool:
    return issubclass(kind, (CholeskyOp, TriangularSolveOp))


@cache
def _is_alone(kind: type[Op]) -> bool:
    return issubclass(kind, ALONE)


def _is_joined(user: Op) -> bool:
    """Whether the kernel of what an operation reads may be its own."""
    return type(user) is not ConcatenateOp and user.signature.cached(is_member)

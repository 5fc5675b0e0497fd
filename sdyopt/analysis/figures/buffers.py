"""The buffers of a block and their lifetimes, as a compiler assigns them, and operations for dead results.

`fusion.py` says which values are written to memory at all. Of those, a view has the buffer of another one:
the result of a reshape or of an optimization barrier. Others may share a buffer. A `dynamic_update_slice` or
`scatter` writes into its operand, and an elementwise operation into an operand of the same size, if that is
not used afterwards. A loop carries a value in one buffer: its operand's, if that is not used afterwards.

    %0:2 = call @f(%a) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    return %0#0

If this is the only call of `@f`, its second result is dead, and so is what only that result depends on. A
compiler that inlines the call does not compute it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sdyopt.analysis.figures.execution_counts import ExecutionCounts, is_passed_on
from sdyopt.analysis.figures.fusion import (
    ALL_REDUCES,
    FEW_UPDATES,
    PRODUCTS,
    VIEWS,
    Fusion,
    is_elementwise_op,
    is_fusible,
    is_view,
)
from sdyopt.analysis.figures.narrow_floats import is_for_products, narrower_beside
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.collectives import CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.interfaces import would_be_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import F32, FloatType, RankedShapedType, element_of
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value

# They write into their first operand.
_UPDATES = (DynamicUpdateSliceOp, ScatterOp)
# XLA aligns buffers to this many bytes.
ALIGNMENT = 64
# XLA for GPUs combines all-reduces of up to so many bytes (`xla_gpu_all_reduce_combine_threshold_bytes`).
_COMBINED = 30 << 20
# At most this many operands of fused operations are considered for the buffer of a result.
_MAX_LEAVES = 32


def aligned(size: int) -> int:
    """The bytes of a buffer for a value of so many bytes."""
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass(slots=True)
class Buffer:
    """A buffer that a block allocates: the value that is first in it, and the positions where it is live."""

    value: Value
    start: int
    end: int
    bytes: int

    # Programs have many of these: the method of dataclasses takes three times as long.
    def __init__(self, value: Value, start: int, end: int, bytes: int) -> None:
        self.value, self.start, self.end, self.bytes = value, start, end, bytes


class BlockBuffers:
    """The buffers of the values of a block, by the positions of its operations `ops`.

    `may_write` are the arguments whose buffers may be overwritten after their last use. Those of the other
    arguments belong to the caller and hold their values to the end.
    """

    def __init__(
        self,
        block: Block,
        ops: Sequence[Op],
        may_write: set[int],
        bytes_of: Callable[[Value], int],
        behaviors: frozenset[CompilerBehavior],
        fusion: Fusion,
    ) -> None:
        self._ops = ops
        self._bytes = bytes_of
        self._narrows = CompilerBehavior.PRODUCTS_OF_BF16 in behaviors
        self._converts_before_sending = CompilerBehavior.CONVERTS_BEFORE_SENDING in behaviors
        self._looks_up_late = CompilerBehavior.LOOKS_UP_LATE in behaviors
        self._sums_in_place = CompilerBehavior.SUMS_IN_PLACE in behaviors
        self._may_write = may_write
        self._of: dict[Value, Buffer] = {}
        self.allocated: list[Buffer] = []
        self._fusion = fusion
        self._free, self._fused, self._last = fusion.free, fusion.fused, fusion.last
        for argument in block.arguments:
            fusion.look_at_argument(argument)
            self._of[argument] = Buffer(argument, -1, self._last[argument], bytes_of(argument))
        for position, op in enumerate(ops):
            self._assign(op, position)

    def buffer(self, value: Value) -> Buffer | None:
        """The buffer of a value; None if it has none."""
        return self._of.get(value)

    def may_replace(self, new: Buffer, old: Buffer) -> bool:
        """Whether a buffer may be where another one was: it starts later, or where both are fused."""
        return new.start > old.end or (new.start == old.end and is_fusible(self._ops[new.start]))

    def _assign(self, op: Op, position: int) -> None:
        if op in self._fused:
            if op.results[0] in self._fusion.written:
                self._write(op.results[0])
            return
        if is_view(op):
            for viewed, result in zip(op.operands, op.results, strict=False):
                if result not in self._free:
                    self._share(result, viewed)
                elif result in self._fusion.written:
                    self._write(result)
            return
        if isinstance(op, TransposeOp) and _is_sum_of_products(op.operand_at(0)):
            self._share(op.results[0], op.operand_at(0))
            return
        taken: set[int] = set()
        for result in op.results:
            if result in self._free:
                if result in self._fusion.written and not any(is_view(user) for user in result.users):
                    self._write(result)
            elif isinstance(op, WhileOp) and self._fusion.is_computed_in(op, result.index):
                continue
            elif (operand := self._written_into(op, result.index, position)) is not None and (
                id(self._of[operand]) not in taken
            ):
                taken.add(id(self._of[operand]))
                self._share(result, operand)
            else:
                self._allocate(result, position, self._last[result])
                self._take_over(op, result, position)

    def _share(self, value: Value, other: Value) -> None:
        buffer = self._of.get(other)
        if buffer is not None:
            self._of[value] = buffer
            buffer.end = max(buffer.end, self._last[value])

    def _write(self, value: Value) -> None:
        """Allocates a buffer for the uses that a value cannot be fused with."""
        self._allocate(value, *self._fusion.written[value])

    def _allocate(self, value: Value, start: int, end: int) -> None:
        if self._looks_up_late and any(self._looks_up_few(use.owner, value) for use in value.uses):
            op = value.defining_op
            leaves = [] if op is None or not is_fusible(op) else map(self._of.get, self._leaves(op))
            end = max([end, *(leaf.end for leaf in leaves if leaf is not None)])
        buffer = Buffer(value, start, max(start, end), aligned(self._size(value)))
        self._of[value] = buffer
        self.allocated.append(buffer)

    def _looks_up_few(self, user: Op, table: Value) -> bool:
        """Whether an operation looks up few elements of a value, as a loss does in logarithms."""
        if not isinstance(user, GatherOp) or user.operand is not table:
            return False
        return self._bytes(user.results[0]) * FEW_UPDATES <= self._bytes(table)

    def _size(self, value: Value) -> int:
        """The bytes of a new buffer of a value, in the type in which it is written."""
        size = self._bytes(value)
        if self._converts_before_sending and isinstance(value.defining_op, CollectiveOp):
            narrow, wide = narrower_beside(value.defining_op), element_of(value.type)
            return size * narrow.width // wide.width if narrow and isinstance(wide, FloatType) else size
        if not self._narrows:
            return size
        end = _computed_by(value) if isinstance(value, OpResult) and type(value.op) in PRODUCTS else value
        if end in self._fusion.logits:
            return self._bytes(end)
        size = min(size, self._bytes(end))
        # It is written in the shape in which it is read.
        while end.has_one_use and is_view(user := next(iter(end.users))) and len(user.results) == 1:
            end = user.results[0]
            size = min(size, self._bytes(end))
        return size // 2 if _is_narrowed(end) else size

    def _take_over(self, op: Op, result: Value, position: int) -> None:
        """Ends the buffer of an operand where that of a result of the same size begins."""
        if not is_elementwise_op(op):
            return
        size = self._bytes(result)
        for leaf in self._leaves(op):
            buffer = self._of.get(leaf)
            if (
                buffer is not None
                and buffer.end == position
                and self._bytes(leaf) == size
                and buffer.bytes == self._of[result].bytes
                and buffer.start < position
            ):
                buffer.end = position - 1
                return

    def _leaves(self, op: Op) -> Iterator[Value]:
        """The values with buffers that an elementwise operation reads, with the operations fused into it."""
        pending: list[Value] = list(op.operands)
        count = 0
        while pending and count < _MAX_LEAVES:
            value = pending.pop()
            count += 1
            inner = value.op if isinstance(value, OpResult) else None
            if inner is not None and inner in self._fused:
                if is_elementwise_op(inner):
                    pending += inner.operands
            else:
                yield value

    def _written_into(self, op: Op, index: int, position: int) -> Value | None:
        """The operand whose buffer a result has; None if the result has its own."""
        operand: Value | None = None
        if isinstance(op, _UPDATES) and index == 0:
            operand = op.operand_at(0)
        elif self._sums_in_place and isinstance(op, ALL_REDUCES):
            operand = op.operand_at(index) if self._bytes(op.results[index]) > _COMBINED else None
        elif isinstance(op, WhileOp):
            operand = op.operand_at(index)
            if is_passed_on(op, index):
                return operand if operand in self._of else None
        elif isinstance(op, CallOp | ManualComputationOp | NamedComputationOp):
            source = argument_written_into(op, index)
            operand = None if source is None else op.operand_at(source.index)
            if source is not None and source is _viewed(returned_by(op, index)):
                return operand if operand in self._of else None
        buffer = None if operand is None else self._of.get(operand)
        if buffer is None or buffer.end > position or not self._is_writable(buffer):
            return None
        return operand

    def _is_writable(self, buffer: Buffer) -> bool:
        return not isinstance(buffer.value, BlockArgument) or (
            buffer.value.index in self._may_write and buffer.value in self._of
        )


def _computed_by(product: Value) -> Value:
    """What a product's operation writes: the end of a chain of elementwise operations with one use each.

    A transpose is but another layout.
    """
    value = product
    while value.has_one_use:
        user = next(iter(value.users))
        if not (is_elementwise_op(user) or isinstance(user, TransposeOp)):
            break
        value = user.results[0]
    return value


def _is_sum_of_products(value: Value) -> bool:
    """Whether one operation reads a value, which is a product or what devices sum up of one."""
    while value.has_one_use and (op := value.defining_op) is not None:
        if type(op) in PRODUCTS:
            return True
        if not isinstance(op, (*ALL_REDUCES, ReduceScatterOp)):
            return False
        value = op.operand_at(0)
    return False


def _is_narrowed(value: Value) -> bool:
    """Whether a value of 32 bits has 16 in memory, because that is all that products read of it.

    What a collective sends is converted before it, if one product reads it.
    """
    if not isinstance(value.type, RankedShapedType) or value.type.element is not F32:
        return False
    if isinstance(value.defining_op, CollectiveOp) and not value.has_one_use:
        return False
    return is_for_products(value)


def body_of(op: Op) -> Block | None:
    """The block that an operation runs once: of a function that is called, or of a computation."""
    if isinstance(op, CallOp):
        callee = lookup_symbol(op, op.callee)
        is_defined = isinstance(callee, FuncOp) and not callee.is_declaration
        return callee.entry if isinstance(callee, FuncOp) and is_defined else None
    return op.regions[0].blocks[0]


def returned_by(op: Op, index: int) -> Value | None:
    """The value in the body of an operation that becomes a result."""
    body = body_of(op)
    return None if body is None or body.last is None else body.last.operand_at(index)


def _viewed(value: Value | None) -> Value | None:
    """The value whose buffer a value has as a view of it."""
    while isinstance(value, OpResult) and is_view(value.op):
        value = value.op.operand_at(value.index)
    return value


def argument_written_into(op: Op, index: int, around: tuple[Block, ...] = ()) -> BlockArgument | None:
    """The argument of the body whose buffer a result has, if that of the argument may be overwritten.

    `around` are the bodies whose results are followed; None in a function that calls itself.
    """
    body = body_of(op)
    if body is None or body in around:
        return None
    value = returned_by(op, index)
    while isinstance(value, OpResult):
        inner = value.op
        if isinstance(inner, (*VIEWS, WhileOp)):
            value = inner.operand_at(value.index)
        elif isinstance(inner, _UPDATES) and value.index == 0:
            value = inner.operand_at(0)
        elif isinstance(inner, CallOp | ManualComputationOp | NamedComputationOp):
            source = argument_written_into(inner, value.index, (*around, body))
            value = None if source is None else inner.operand_at(source.index)
        else:
            return None
    return value if isinstance(value, BlockArgument) and value.block is body else None


class DeadResults:
    """The dead results of calls, and the values and operations of the functions that compute only them."""

    def __init__(self, module: Op, counts: ExecutionCounts) -> None:
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self._counts = counts
        self._pending: list[Value] = []
        for op in module.walk():
            if isinstance(op, CallOp):
                for result in op.results:
                    if result.first_use is None:
                        self._add(result)
        while self._pending:
            self._visit(self._pending.pop())

    def contains(self, op: Op) -> bool:
        """Whether an operation, or one that it is nested in, is dead."""
        return bool(self.ops) and any(ancestor in self.ops for ancestor in (op, *op.ancestors()))

    def _add(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self._pending.append(value)

    def _visit(self, value: Value) -> None:
        """Looks at what a dead value is computed from."""
        if isinstance(value, OpResult):
            op = value.op
            if isinstance(op, CallOp):
                self._visit_callee(op, value.index)
            elif would_be_dead(op) and all(result in self.values for result in op.results):
                self.ops.add(op)
                for operand in op.operands:
                    self._check(operand)
        elif isinstance(value, BlockArgument) and isinstance(function := value.block.parent_op, FuncOp):
            for call in self._counts.call_sites(function):
                self._check(call.operand_at(value.index))

    def _visit_callee(self, call: CallOp, index: int) -> None:
        callee = lookup_symbol(call, call.callee)
        if not isinstance(callee, FuncOp) or not self._is_unused(callee, index):
            return
        for block in callee.body.blocks:
            if isinstance(block.last, ReturnOp):
                self._check(block.last.operand_at(index))

    def _is_unused(self, function: FuncOp, index: int) -> bool:
        """Whether no one needs a result of a function."""
        calls = self._counts.call_sites(function)
        return not self._counts.is_entry(function) and all(
            call.results[index] in self.values for call in calls
        )

    def _check(self, value: Value) -> None:
        """Adds a value of which a use is dead, if all of them are."""
        if all(self._is_dead_use(user, value) for user in value.users):
            self._add(value)

    def _is_dead_use(self, user: Op, value: Value) -> bool:
        if user in self.ops:
            return True
        used = [index for index, operand in enumerate(user.operands) if operand is value]
        if isinstance(user, ReturnOp):
            function = user.parent_op
            return isinstance(function, FuncOp) and all(self._is_unused(function, index) for index in used)
        callee = lookup_symbol(user, user.callee) if isinstance(user, CallOp) else None
        if not isinstance(callee, FuncOp) or callee.is_declaration:
            return False
        return all(callee.entry.arguments[index] in self.values for index in used)

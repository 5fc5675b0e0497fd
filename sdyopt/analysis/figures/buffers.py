"""The buffers of a block, and their lifetimes: as a compiler such as XLA assigns buffers.

A value has no buffer of its own if

- it is *free*: a constant, an iota, or computed from such values alone by operations that can be fused. It
  is computed again where it is used, and written only for a use that cannot be fused with it;
- it is *fused*: computed elementwise, or by moving or repeating elements, and used by one operation that can
  be fused with it. Then its operands are live until that operation. A broadcast may have several such uses;
- it is a view of another one: the result of a reshape or of an optimization barrier.

Other values may share a buffer. A `dynamic_update_slice` or `scatter` writes into its operand, and an
elementwise operation into an operand of the same size, if that is not used afterwards. A loop carries a value
in one buffer: its operand's, if that is not used afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from sdyopt.analysis.figures.execution_counts import is_constant, is_passed_on
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.chlo.elementwise import MulhiOp, NextAfterOp, PolygammaOp, ZetaOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllSliceOp, ReplicatedToUnreducedOp, ShardedToUnreducedOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.broadcast import BroadcastInDimOp, BroadcastOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp, PartitionIdOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp, ReverseOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.sharding.elementwise import is_elementwise

_VIEWS = (
    OptimizationBarrierOp,
    PropagationBarrierOp,
    ReplicatedToUnreducedOp,
    ReshapeOp,
    ShardedToUnreducedOp,
    ShardingConstraintOp,
)
# Operations that compute nothing, but move or repeat elements.
_MOVES = (
    AllSliceOp,
    BroadcastInDimOp,
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    PadOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
_NOT_FUSED = (*_VIEWS, ReshardOp)
_SOURCES = (IotaOp, PartitionIdOp)
_BROADCASTS = (BroadcastInDimOp, BroadcastOp)
# Operations of chlo without the trait that others have.
_ELEMENTWISE_WITHOUT_TRAIT = (MulhiOp, NextAfterOp, PolygammaOp, ZetaOp)
# They fuse their operands, but are not fused themselves.
_SINKS = (DynamicUpdateSliceOp, ReduceOp)
# They write into their first operand.
_UPDATES = (DynamicUpdateSliceOp, ScatterOp)
# XLA aligns buffers to this many bytes.
ALIGNMENT = 64
# At most this many operands of fused operations are considered for the buffer of a result.
_MAX_LEAVES = 16


@dataclass(slots=True)
class Buffer:
    """A buffer that a block allocates: the value that is first in it, and the positions where it is live."""

    value: Value
    start: int
    end: int
    bytes: int


class BlockBuffers:
    """The buffers of the values of a block, by the positions of its operations `ops`.

    `may_write` are the arguments whose buffers may be overwritten after their last use. Those of the other
    arguments belong to the caller and hold their values to the end.
    """

    def __init__(
        self, block: Block, ops: Sequence[Op], may_write: set[int], bytes_of: Callable[[Value], int]
    ) -> None:
        self._ops = ops
        self._positions = {op: position for position, op in enumerate(ops)}
        self._bytes = bytes_of
        self._may_write = may_write
        self._fused: set[Op] = set()
        self._free: set[Value] = set()
        # The last position at which a value is needed, and whether all its uses can be fused with it.
        self._last: dict[Value, int] = {}
        self._uses: dict[Value, set[Op] | None] = {}
        # Where a free value is written.
        self._written: dict[Value, int] = {}
        self._of: dict[Value, Buffer] = {}
        self.allocated: list[Buffer] = []
        for argument in block.arguments:
            self._of[argument] = Buffer(argument, -1, 0, bytes_of(argument))
        self._find_free()
        for position in range(len(ops) - 1, -1, -1):
            self._visit_uses(ops[position], position)
        for argument in block.arguments:
            self._look_at_uses(argument, 0)
            self._of[argument].end = self._last[argument]
        for position, op in enumerate(ops):
            self._assign(op, position)

    def buffer(self, value: Value) -> Buffer | None:
        """The buffer of a value; None if it has none."""
        return self._of.get(value)

    # --- Uses ---------------------------------------------------------------------------------

    def _find_free(self) -> None:
        free = self._free
        for op in self._ops:
            signature = op.signature
            if signature.cached(_is_free) or (
                op._operands
                and signature.cached(_is_free_of_free)
                and all(use.value in free for use in op._operands)
            ):
                free.update(op.results)

    def _visit_uses(self, op: Op, position: int) -> None:
        for result in op.results:
            self._look_at_uses(result, position)
        if len(op.results) != 1 or not _is_fusible(op) or op.results[0] in self._free:
            return
        users = self._uses[op.results[0]]
        if users and (len(users) == 1 or isinstance(op, _BROADCASTS)):
            self._fused.add(op)

    def _look_at_uses(self, value: Value, position: int) -> None:
        last, users = position, set[Op]()
        fuses = True
        written: int | None = None
        for use in value.uses:
            user: Op | None = use.owner
            while user is not None and user not in self._positions:
                user = user.parent_op
            if user is None:
                continue  # a dead operation
            here = self._positions[user]
            if user is not use.owner:
                fuses = False
            elif _is_view(type(user)):
                seen = user.results[use.index]
                here, inner = self._last[seen], self._uses[seen]
                if inner is None:
                    fuses = False
                    if seen in self._written:
                        written = min(self._written[seen], here if written is None else written)
                else:
                    users |= inner
            elif user in self._fused or (user.results and user.results[0] in self._free):
                here = max(here, self._last[user.results[0]])
                users.add(user)
            elif _is_fusible(user) or _is_sink(type(user)):
                users.add(user)
            else:
                fuses = False
                written = here if written is None else min(written, here)
            last = max(last, here)
        self._last[value] = last
        self._uses[value] = users if fuses else None
        if written is not None:
            self._written[value] = written

    # --- Buffers ------------------------------------------------------------------------------

    def _assign(self, op: Op, position: int) -> None:
        if op in self._fused:
            return
        if _is_view(type(op)):
            for viewed, result in zip(op.operands, op.results, strict=False):
                if result not in self._free:
                    self._share(result, viewed)
                elif result in self._written:
                    self._allocate(result, self._written[result])
            return
        taken: set[int] = set()
        for result in op.results:
            if result in self._free:
                if result in self._written and not any(_is_view(type(user)) for user in result.users):
                    self._allocate(result, self._written[result])
            elif (operand := self._written_into(op, result.index, position)) is not None and (
                id(self._of[operand]) not in taken
            ):
                taken.add(id(self._of[operand]))
                self._share(result, operand)
            else:
                self._allocate(result, position)
                self._take_over(op, result, position)

    def _share(self, value: Value, other: Value) -> None:
        buffer = self._of.get(other)
        if buffer is not None:
            self._of[value] = buffer
            buffer.end = max(buffer.end, self._last[value])

    def _allocate(self, value: Value, start: int) -> None:
        size = -(-self._bytes(value) // ALIGNMENT) * ALIGNMENT
        buffer = Buffer(value, start, max(start, self._last[value]), size)
        self._of[value] = buffer
        self.allocated.append(buffer)

    def _take_over(self, op: Op, result: Value, position: int) -> None:
        """Ends the buffer of an operand where that of a result of the same size begins."""
        if not _is_elementwise(op):
            return
        size = self._bytes(result)
        for leaf in self._leaves(op):
            buffer = self._of.get(leaf)
            if (
                buffer is not None
                and buffer.end == position
                and self._bytes(leaf) == size
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
                if _is_elementwise(inner):
                    pending += inner.operands
            else:
                yield value

    def _written_into(self, op: Op, index: int, position: int) -> Value | None:
        """The operand whose buffer a result has; None if the result has its own."""
        operand: Value | None = None
        if isinstance(op, _UPDATES) and index == 0:
            operand = op.operand_at(0)
        elif isinstance(op, WhileOp):
            operand = op.operand_at(index)
            if is_passed_on(op, index):
                return operand if operand in self._of else None
        elif isinstance(op, CallOp | ManualComputationOp | NamedComputationOp):
            source = argument_written_into(op, index)
            operand = None if source is None else op.operand_at(source.index)
            if source is not None and source is returned_by(op, index):
                return operand if operand in self._of else None
        buffer = None if operand is None else self._of.get(operand)
        if buffer is None or buffer.end > position or not self._is_writable(buffer):
            return None
        return operand

    def _is_writable(self, buffer: Buffer) -> bool:
        return not isinstance(buffer.value, BlockArgument) or (
            buffer.value.index in self._may_write and buffer.value in self._of
        )


def _is_elementwise(op: Op) -> bool:
    """Whether every element of the result depends on one element of each operand."""
    return op.signature.cached(_is_elementwise_signature)


def _is_elementwise_signature(signature: OpSignature) -> bool:
    return issubclass(signature.op_class, _ELEMENTWISE_WITHOUT_TRAIT) or is_elementwise(signature)


def _is_fusible(op: Op) -> bool:
    """Whether an operation computes its result elementwise, or only moves or repeats elements."""
    return op.signature.cached(_is_fusible_signature)


def _is_fusible_signature(signature: OpSignature) -> bool:
    if issubclass(signature.op_class, _MOVES):
        return True
    has_one_result = len(signature.result_types) == 1
    is_fused = has_one_result and not issubclass(signature.op_class, _NOT_FUSED)
    return is_fused and signature.cached(_is_elementwise_signature)


def _is_free(signature: OpSignature) -> bool:
    """Whether the results need no buffer, because each use computes what it reads of them."""
    return is_constant(signature.op_class) or issubclass(signature.op_class, _SOURCES)


def _is_free_of_free(signature: OpSignature) -> bool:
    """Whether the results need no buffer if the operands need none."""
    return signature.cached(_is_fusible_signature) or _is_view(signature.op_class)


# `isinstance` is slow with many classes, and there are few classes of operations.
@cache
def _is_view(kind: type[Op]) -> bool:
    return issubclass(kind, _VIEWS)


@cache
def _is_sink(kind: type[Op]) -> bool:
    return issubclass(kind, _SINKS)


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
        if isinstance(inner, (*_VIEWS, WhileOp)):
            value = inner.operand_at(value.index)
        elif isinstance(inner, _UPDATES) and value.index == 0:
            value = inner.operand_at(0)
        elif isinstance(inner, CallOp | ManualComputationOp | NamedComputationOp):
            source = argument_written_into(inner, value.index, (*around, body))
            value = None if source is None else inner.operand_at(source.index)
        else:
            return None
    return value if isinstance(value, BlockArgument) and value.owner is body else None

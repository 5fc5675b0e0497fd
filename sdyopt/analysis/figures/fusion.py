"""Which values of a block a compiler never writes to memory, because what uses them computes them.

A value is

- *free*: a constant, an iota, or computed from such values alone by operations that can be fused. It is
  computed again where it is used, and written only for a use that cannot be fused with it;
- *fused*: computed elementwise, or by moving or repeating elements, and used by one operation that can be
  fused with it. Then its operands are live until that operation. A broadcast may have several such uses;
- *recomputed*: fused with several uses, as the gelu of a product is in the forward and in the backward pass.
  That pays if what it is computed from is no larger, or live until its last use anyway.

For TPU, what is read whole and as the shard that a device keeps is written, if it is too large for on-chip
memory. The exponentials of some softmaxes are written once, by the operation that sums them up
(`compiled_products.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cache

from sdyopt.analysis.figures.compiled_products import (
    computes_product,
    softmax_of,
    writes_exponentials,
    writes_logits,
)
from sdyopt.analysis.figures.execution_counts import is_constant, is_passed_on
from sdyopt.analysis.figures.loop_invariants import sum_over_iterations
from sdyopt.base.compilers import CompilerBehavior
from sdyopt.mlir.dialects.chlo.elementwise import MulhiOp, NextAfterOp, PolygammaOp, ZetaOp
from sdyopt.mlir.dialects.sdy.collectives import (
    AllReduceOp,
    AllSliceOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.compare_select import ConvertOp
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.convolution import ConvolutionOp
from sdyopt.mlir.dialects.stablehlo.elementwise import DivOp, PowOp, TranscendentalOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp, PartitionIdOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.dialects.stablehlo.shapes import (
    BroadcastInDimOp,
    BroadcastOp,
    ReshapeOp,
    ReverseOp,
    TransposeOp,
)
from sdyopt.mlir.dialects.stablehlo.slicing import (
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    SliceOp,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise

VIEWS = (
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
_NOT_FUSED = (*VIEWS, ReshardOp)
_SOURCES = (IotaOp, PartitionIdOp)
_BROADCASTS = (BroadcastInDimOp, BroadcastOp)
# Operations of chlo without the trait that others have.
_ELEMENTWISE_WITHOUT_TRAIT = (MulhiOp, NextAfterOp, PolygammaOp, ZetaOp)
# They fuse their operands, but are not fused themselves.
_SINKS = frozenset((DynamicUpdateSliceOp, ReduceOp))
_DOTS = (DotGeneralOp, DotOp)
ALL_REDUCES = (AllReduceOp, stablehlo.AllReduceOp, stablehlo.CrossReplicaSumOp)
# What a product's operation does with its result, at no cost.
_LAYOUTS = (ReshapeOp, TransposeOp)
_INTRICATE = (TranscendentalOp, DivOp, PowOp)
PRODUCTS = frozenset((ConvolutionOp, *_DOTS))
_SINKS_WITH_PRODUCTS = frozenset((*_SINKS, *PRODUCTS))

# At most this many values are considered that one is recomputed from; those of less than a share are ignored.
_MAX_LEAVES = 8
_SMALL = 16
# What is recomputed is at least this share of what it is computed from.
_SHARE = 0.8
# The minor dimensions that are in tiles.
_TILED = 2
# A scatter of so many times fewer elements than its result sets single ones of a constant, as one_hot does.
FEW_UPDATES = 64
# Temporaries of so many bytes are in the on-chip memory of a TPU. It has 128 MiB; operations need the rest.
ON_CHIP = 108 << 20


# The behaviours of compilers on which fusion depends, those of sizes and of reduce-scatters included.
_BEHAVIORS = frozenset(
    (
        CompilerBehavior.CONSTANTS_IN_LOOPS,
        CompilerBehavior.FUSES_INTO_PRODUCTS,
        CompilerBehavior.FUSES_SIMPLE_INTO_PRODUCTS,
        CompilerBehavior.KEEPS_SOFTMAX,
        CompilerBehavior.ONE_HOT_SCATTERS,
        CompilerBehavior.OVERLAPS_SCATTERS,
        CompilerBehavior.PADS_TO_TILES,
        CompilerBehavior.RECOMPUTES_TRANSCENDENTALS,
        CompilerBehavior.SUMS_AFTER_LOOPS,
        CompilerBehavior.SUMS_IN_PRODUCTS,
        CompilerBehavior.WRITES_FOR_MOVES,
    )
)


def is_same_fusion(behaviors: Set[CompilerBehavior], others: Set[CompilerBehavior]) -> bool:
    """Whether two compilers fuse alike."""
    return behaviors & _BEHAVIORS == others & _BEHAVIORS


class Fusion:
    """What becomes of the values of a block, by the positions of its operations `ops`.

    `is_held` says whether an argument is live to the end of the block, `is_late` whether a reduce-scatter
    ends when its result is read.
    """

    def __init__(
        self,
        ops: Sequence[Op],
        bytes_of: Callable[[Value], int],
        shape_of: Callable[[Value], tuple[int, ...] | None],
        is_held: Callable[[BlockArgument], bool],
        behaviors: frozenset[CompilerBehavior],
        is_late: Callable[[ReduceScatterOp], bool],
    ) -> None:
        behaviors &= _BEHAVIORS
        self._ops = ops
        self._positions = {op: position for position, op in enumerate(ops)}
        self._bytes = bytes_of
        self._shape = shape_of
        self._is_held = is_held
        fuses_all = CompilerBehavior.FUSES_INTO_PRODUCTS in behaviors
        self._sinks = _SINKS_WITH_PRODUCTS if fuses_all else _SINKS
        self._fuses_simple = CompilerBehavior.FUSES_SIMPLE_INTO_PRODUCTS in behaviors
        self._sinks_constants = CompilerBehavior.CONSTANTS_IN_LOOPS in behaviors
        self._is_late = is_late
        self._first_uses: dict[Value, int] = {}
        self._keeps_softmax = CompilerBehavior.KEEPS_SOFTMAX in behaviors
        self._sums_in_products = CompilerBehavior.SUMS_IN_PRODUCTS in behaviors
        self._recomputes_transcendentals = CompilerBehavior.RECOMPUTES_TRANSCENDENTALS in behaviors
        self.free: set[Value] = set()
        self._fusible = {op for op in ops if is_fusible(op)}
        self._writes_for_moves = CompilerBehavior.WRITES_FOR_MOVES in behaviors
        if self._writes_for_moves:
            self._fusible = {op for op in self._fusible if not op.signature.cached(_is_alone)}
        # The operations whose results have no buffer, or one for the uses in `written` only.
        self.fused: set[Op] = set()
        # The last position at which a value is needed, and the operations that it can be fused with.
        self.last: dict[Value, int] = {}
        self._fusing: dict[Value, set[Op]] = {}
        # The operation that reads a value in the end, and all that is computed from it; None for several.
        self._reader: dict[Value, Op | None] = {}
        # The first and the last position of a use that a value cannot be fused with.
        self.written: dict[Value, tuple[int, int]] = {}
        # The values from which one is computed if it is, and those from which it could be recomputed.
        self._leaves: dict[Value, dict[Value, int]] = {}
        self._candidates: dict[Value, dict[Value, int]] = {}
        self._recomputed: set[Op] = set()
        # What is written for a softmax as it is, and products that are computed in one.
        self.logits: set[Value] = set()
        self._in_softmax: set[Op] = set()
        # Operations that compute a product, too.
        self._with_product: set[Op] = set()
        # All-reduces that are done after the loop.
        self._after_loop: set[Op] = set()
        # Values that are computed for the shard that a device keeps; those that are read whole, too.
        self._sharded_later: set[Value] = set()
        self._also_read_whole: set[Value] = set()
        # Values that take more than simple arithmetic to compute again.
        self._intricate: set[Value] = set()
        self._find_free()
        if CompilerBehavior.ONE_HOT_SCATTERS in behaviors:
            self._fusible |= {op for op in ops if isinstance(op, ScatterOp) and self._is_one_hot(op)}
        if CompilerBehavior.SUMS_AFTER_LOOPS in behaviors:
            # There is nothing in the loop but what is summed up.
            self._after_loop = {op for op in ops if isinstance(op, ALL_REDUCES) and _is_after_loop(op)}
            self._fusible |= self._after_loop
        self._find_recomputed()
        for position in range(len(ops) - 1, -1, -1):
            self._visit(ops[position], position)

    def look_at_argument(self, argument: BlockArgument) -> None:
        """Finds the uses of an argument of the block."""
        self._look_at_uses(argument, 0)

    def is_computed_in(self, loop: WhileOp, index: int) -> bool:
        """Whether a loop computes what it carries, because it is free and does not change."""
        return self._sinks_constants and loop.operand_at(index) in self.free and is_passed_on(loop, index)

    def _find_free(self) -> None:
        free = self.free
        for op in self._ops:
            signature = op.signature
            if signature.cached(_is_free) or (
                op._operands
                and signature.cached(_is_free_of_free)
                and all(use.value in free for use in op._operands)
            ):
                free.update(op.results)

    def _is_one_hot(self, op: ScatterOp) -> bool:
        """Whether a scatter into a constant sets few elements of it, which is computed where it is used.

        It is if one index says which element of a row is set, not which of several dimensions.
        """
        if len(op.results) != 1 or op.operand_at(0) not in self.free:
            return False
        if len(op.scatter_dimension_numbers.scatter_dims_to_operand_dims) != 1:
            return False
        updates = op.operand_at(len(op.operands) - 1)
        return self._bytes(updates) * FEW_UPDATES <= self._bytes(op.results[0])

    # --- Recomputation ------------------------------------------------------------------------

    def _find_recomputed(self) -> None:
        """Finds the operations whose results are no smaller than what they are computed from."""
        leaves_of, free, intricate = self._leaves, self.free, self._intricate
        for op in self._ops:
            is_view_of_one = op not in self._fusible
            if is_view_of_one and not (_is_view(type(op)) and len(op.results) == 1):
                continue
            result = op.results[0]
            if result in free:
                continue
            if len(op._operands) == 1 or is_view_of_one:
                operand = op.operand_at(0)
                leaves = leaves_of.get(operand)
                if leaves is None:
                    leaves = {operand: self._bytes(operand)}
            else:
                leaves = self._merged_leaves(op)
            if op.signature.cached(_is_intricate):
                intricate.add(result)
            elif intricate:
                for use in op._operands:
                    if use.value in intricate:
                        intricate.add(result)
                        break
            if is_view_of_one:
                leaves_of[result] = leaves
                continue
            if result.has_one_use:
                if len(leaves) <= _MAX_LEAVES:
                    leaves_of[result] = leaves
            elif self._is_kept(op) or self._is_sliced(result):
                continue
            elif _SHARE * sum(leaves.values()) <= self._bytes(result):
                self._recomputed.add(op)
                leaves_of[result] = leaves
            elif len(leaves) <= _MAX_LEAVES:
                self._candidates[result] = leaves

    def _merged_leaves(self, op: Op) -> dict[Value, int]:
        """The values that the operands are computed from, except small ones."""
        smallest = self._bytes(op.results[0]) // _SMALL
        merged: dict[Value, int] = {}
        for use in op._operands:
            value = use.value
            if value in self.free:
                continue
            leaves = self._leaves.get(value)
            if leaves is not None:
                merged.update((leaf, size) for leaf, size in leaves.items() if size > smallest)
            elif isinstance(value, OpResult) and value.op not in self._positions:
                continue  # of an outer block, where it is live during all of this one
            elif (size := self._bytes(value)) > smallest:
                merged[value] = size
        return merged

    def _is_kept(self, op: Op) -> bool:
        """Whether a compiler writes the result of an operation with several uses, whatever it is of."""
        if not isinstance(op, TranscendentalOp):
            return False
        if self._keeps_softmax and (softmax := softmax_of(op)) is not None:
            if not writes_exponentials(softmax, self._shape):
                return False
            if computes_product(softmax, self._shape):
                self._in_softmax.add(softmax.product)
            elif writes_logits(softmax, self._shape):
                self.logits.add(softmax.logits)
            return True
        return not self._recomputes_transcendentals

    def _is_sliced(self, value: Value) -> bool:
        """Whether a value of several uses is written because one of them takes a slice of it."""
        return (
            self._writes_for_moves
            and not value.has_one_use
            and any(isinstance(user, SliceOp) for user in value.users)
        )

    def _leaves_live_on(self, op: Op) -> bool:
        """Whether what a result could be recomputed from is live until its last use anyway."""
        result = op.results[0]
        leaves = self._candidates.get(result)
        if leaves is None:
            return False
        start, last = self._positions[op], self.last[result]
        return all(self._lives_until(leaf, start, last) for leaf in leaves)

    def _lives_until(self, leaf: Value, start: int, last: int) -> bool:
        """Whether a value has a use at `last` or later, as far as the uses after `start` show."""
        if isinstance(leaf, BlockArgument) and self._is_held(leaf):
            return True
        for use in leaf.uses:
            position = self._positions.get(use.owner, -1)
            if position >= last:
                return True
            if position > start and use.owner in self.fused and self.last[use.owner.results[0]] >= last:
                return True
        return False

    # --- Uses ---------------------------------------------------------------------------------

    def _visit(self, op: Op, position: int) -> None:
        for result in op.results:
            self._look_at_uses(result, position)
        is_product = self._sums_in_products and type(op) in PRODUCTS
        if not (is_product or op in self._fusible) or op.results[0] in self.free:
            return
        result = op.results[0]
        users = self._fusing[result]
        if not users:
            return
        if is_product:
            if (
                op in self._in_softmax
                or isinstance(self._reader[result], ReduceOp)
                or self._is_written_by_next(result)
            ):
                self.fused.add(op)
            return
        if result in self._also_read_whole and not self._widens(op) and self._bytes(result) > ON_CHIP:
            return
        is_single = len(users) == 1 or isinstance(op, _BROADCASTS) or self._reader[result] is not None
        is_single = is_single and not self._is_sliced(result)
        if (is_single and result not in self.written) or op in self._recomputed or self._leaves_live_on(op):
            self.fused.add(op)

    def _widens(self, op: Op) -> bool:
        """Whether an operation converts to a wider type, before which less is written."""
        return isinstance(op, ConvertOp) and self._bytes(op.operand) < self._bytes(op.out)

    def _is_written_by_next(self, product: Value) -> bool:
        """Whether an operation after a product computes it, and no other product."""
        value = product
        while value.has_one_use:
            user = next(iter(value.users))
            if user not in self._positions or not (
                is_elementwise_op(user) or isinstance(user, _LAYOUTS) or user in self._after_loop
            ):
                return False
            value = user.results[0]
            if user not in self.fused and not is_view(user):
                if user in self._with_product:
                    return False
                self._with_product.add(user)
                return True
        return False

    def _look_at_uses(self, value: Value, position: int) -> None:
        last, first_written, last_written = position, -1, -1
        # Not `set[Op]()`, which takes fifteen times longer.
        users: set[Op] = set()
        readers: set[Op | None] = set()
        is_sharded_later = is_read_whole = False
        for use in value.uses:
            user: Op | None = use.owner
            while user is not None and user not in self._positions:
                user = user.parent_op
            if user is None:
                continue  # a dead operation
            here = self._positions[user]
            if self._writes_for_moves:
                if isinstance(user, AllSliceOp) or (
                    (user in self.fused or _is_view(type(user))) and user.results[0] in self._sharded_later
                ):
                    is_sharded_later = True
                    is_read_whole |= self._widens(user) and user.results[0] in self._also_read_whole
                else:
                    is_read_whole = True
            first, final = here, here
            if user is not use.owner:
                if self._sinks_constants and value in self.free:
                    # It is computed in the region.
                    users.add(user)
                    first = -1
            elif _is_view(type(user)):
                seen = user.results[use.index]
                here = self.last[seen]
                users |= self._fusing[seen]
                readers.add(self._reader[seen])
                first, final = self.written.get(seen, (-1, -1))
            elif self._writes_for_moves and value not in self.free and user.signature.cached(_reads_memory):
                if user in self.fused:
                    here = final = max(here, self.last[user.results[0]])
            elif user in self.fused or (user.results and user.results[0] in self.free):
                here = max(here, self.last[user.results[0]])
                users.add(user)
                readers.add(user if type(user) in PRODUCTS else self._reader[user.results[0]])
                first = -1
            elif user in self._fusible or self._is_computed_by(user, value, use.index):
                users.add(user)
                readers.add(user)
                first = -1
            if isinstance(user, ReduceScatterOp) and self._is_late(user):
                here = final = max(here, self._first_use(user.results[0]))
            last = max(last, here)
            if first >= 0:
                first_written = first if first_written < 0 else min(first, first_written)
                last_written = max(final, last_written)
        if is_sharded_later:
            self._sharded_later.add(value)
            if is_read_whole:
                self._also_read_whole.add(value)
        self.last[value] = last
        self._fusing[value] = users
        self._reader[value] = next(iter(readers)) if len(readers) == 1 and first_written < 0 else None
        if first_written >= 0:
            self.written[value] = first_written, last_written

    def _first_use(self, value: Value) -> int:
        """The first position of an operation that reads a value; -1 if there is none in the block."""
        first, pending = self._first_uses, [value]
        while pending:
            here = pending[-1]
            # What is computed where it is used is read there.
            passed = {user for user in here.users if _is_view(type(user)) or user in self.fused}
            unknown = [user.results[0] for user in passed if user.results[0] not in first]
            if here in first or not unknown:
                pending.pop()
                positions = (
                    first[user.results[0]] if user in passed else self._positions.get(user, -1)
                    for user in here.users
                )
                first.setdefault(here, min(positions, default=-1))
            else:
                pending += unknown
        return first[value]

    def _is_computed_by(self, user: Op, value: Value, index: int) -> bool:
        """Whether an operation that is not fused itself computes an operand."""
        kind = type(user)
        if kind in self._sinks:
            return True
        if isinstance(user, WhileOp):
            return self.is_computed_in(user, index)
        return self._fuses_simple and kind in PRODUCTS and value not in self._intricate


def _is_after_loop(op: Op) -> bool:
    """Whether an all-reduce is done after the loop that sums up its results."""
    loop = op.parent_op
    return isinstance(loop, WhileOp) and sum_over_iterations(op.results[0], loop) is not None


def is_elementwise_op(op: Op) -> bool:
    """Whether every element of the result depends on one element of each operand."""
    return op.signature.cached(_is_elementwise_signature)


def _is_elementwise_signature(signature: OpSignature) -> bool:
    return issubclass(signature.op_class, _ELEMENTWISE_WITHOUT_TRAIT) or is_elementwise(signature)


def is_fusible(op: Op) -> bool:
    """Whether an operation computes its result elementwise, or only moves or repeats elements."""
    return op.signature.cached(_is_fusible_signature)


def _is_fusible_signature(signature: OpSignature) -> bool:
    if issubclass(signature.op_class, _MOVES):
        return True
    has_one_result = len(signature.result_types) == 1
    is_fused = has_one_result and not issubclass(signature.op_class, _NOT_FUSED)
    return is_fused and signature.cached(_is_elementwise_signature)


def _is_alone(signature: OpSignature) -> bool:
    """Whether an operation puts elements between others, or leaves some out in a tiled dimension."""
    if issubclass(signature.op_class, PadOp):
        return any(signature[PadOp.interior_padding])
    if issubclass(signature.op_class, SliceOp):
        return any(stride > 1 for stride in signature[SliceOp.strides][-_TILED:])
    return False


def _reads_memory(signature: OpSignature) -> bool:
    """Whether an operation reads its operands from memory where it is computed with what uses it."""
    if issubclass(signature.op_class, SliceOp):
        return any(stride > 1 for stride in signature[SliceOp.strides])
    return issubclass(signature.op_class, (ConcatenateOp, PadOp, ReverseOp))


def _is_intricate(signature: OpSignature) -> bool:
    """Whether an operation takes more than simple arithmetic."""
    return issubclass(signature.op_class, _INTRICATE)


def _is_free(signature: OpSignature) -> bool:
    """Whether the results need no buffer, because each use computes what it reads of them."""
    return is_constant(signature.op_class) or issubclass(signature.op_class, _SOURCES)


def _is_free_of_free(signature: OpSignature) -> bool:
    """Whether the results need no buffer if the operands need none."""
    return signature.cached(_is_fusible_signature) or _is_view(signature.op_class)


# `isinstance` is slow with many classes, and there are few classes of operations.
@cache
def _is_view(kind: type[Op]) -> bool:
    return issubclass(kind, VIEWS)


def is_view(op: Op) -> bool:
    """Whether the results of an operation are in the buffers of its operands."""
    return _is_view(type(op))

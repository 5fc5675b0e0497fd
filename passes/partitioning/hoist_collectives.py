"""sdy-hoist-collectives: hoist loop-invariant collectives out of loops, where memory allows.

    %r:2 = stablehlo.while(%i = %zero, %w = %shard) : tensor<i32>, tensor<64x256xf32>
     …
    do {
      %1 = "stablehlo.all_gather"(%w) … : (tensor<64x256xf32>) -> tensor<256x256xf32>
      …
      stablehlo.return %next, %w : tensor<i32>, tensor<64x256xf32>
    }
becomes
    %1 = "stablehlo.all_gather"(%shard) … : (tensor<64x256xf32>) -> tensor<256x256xf32>
    %r:2 = stablehlo.while(%i = %zero, %w = %shard) : tensor<i32>, tensor<64x256xf32>
     …

A collective is invariant if it depends only on values from outside of the loop, and on loop-carried values
that the body returns unchanged. Operations between such values and the collective are hoisted with it, if
they have no memory effects and no regions. Inner loops come first, so a collective may leave several loops.

The result of a hoisted collective is live through the loop. The pass therefore computes the bytes that are
live at each operation of the body, with loop-carried values, those from outside that are used in the loop or
after it, and the arguments of the function. A collective is hoisted if their maximum does not exceed the one
before the pass by more than `memory-growth` percent. A single gathered weight is live anyway when it is used,
and its gather is hoisted; of many, only as many as fit. Values in nested regions are not counted.

Types must be local, as after `sdy-convert-global-to-local`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import IndexType, RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.pipeline import Pass, Unsigned, option
from sdyopt.mlir.registry import register

from .merge_collectives import STABLEHLO_COLLECTIVES


@register("sdy-hoist-collectives")
class HoistCollectives(Pass):
    memory_growth: Unsigned = option(
        default=25, help="percent by which the bytes that are live in a loop may grow, at most"
    )

    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        for op in list(module.walk_post_order()):
            if isinstance(op, WhileOp):
                self._hoist(op, rewriter)
        return rewriter.changed

    def _hoist(self, loop: WhileOp, rewriter: Rewriter) -> None:
        body = loop.body.blocks[0]
        if not any(isinstance(op, STABLEHLO_COLLECTIVES) for op in body.ops):
            return
        invariants = _Invariants(loop, body)
        hoisted: dict[Op, None] = {}
        memory: _Memory | None = None
        for op in body.ops:
            if not isinstance(op, STABLEHLO_COLLECTIVES):
                continue
            needed = invariants.ops_of(op)
            if needed is None:
                continue
            memory = memory or _Memory(loop, body)
            more = {**hoisted, **dict.fromkeys(needed)}
            if memory.peak(more) * 100 <= memory.peak({}) * (100 + self.memory_growth):
                hoisted = more
        for op in [op for op in body.ops if op in hoisted]:
            for use in op.operand_uses:
                value = use.value
                if isinstance(value, BlockArgument) and value.block is body:
                    rewriter.set_operand(use, loop.operands[value.index])
            rewriter.move(op, before=loop)


class _Invariants:
    """The operations of the body of a loop that compute the same in each iteration."""

    def __init__(self, loop: WhileOp, body: Block) -> None:
        self._loop = loop
        self._body = body
        returned = body.last
        assert returned is not None
        self._passed_on = [
            value is argument for value, argument in zip(returned.operands, body.arguments, strict=True)
        ]
        self._are_invariant: dict[Op, bool] = {}

    def ops_of(self, op: Op) -> list[Op] | None:
        """An invariant operation with those in the body that it depends on; None if it is not invariant."""
        hoisted: dict[Op, None] = {}
        pending = [op]
        while pending:
            reached = pending.pop()
            if reached in hoisted:
                continue
            if not self._may_be_hoisted(reached):
                return None
            hoisted[reached] = None
            definitions = (value.defining_op for value in reached.operands)
            pending += [
                definition
                for definition in definitions
                if definition is not None and definition.parent is self._body
            ]
        return list(hoisted)

    def _may_be_hoisted(self, op: Op) -> bool:
        """Whether an operation computes the same in each iteration, if its operands from the body do."""
        if op not in self._are_invariant:
            is_pure = isinstance(op, STABLEHLO_COLLECTIVES) or (not op.regions and is_memory_effect_free(op))
            self._are_invariant[op] = is_pure and all(
                self._passed_on[value.index]
                for value in op.operands
                if isinstance(value, BlockArgument) and value.block is self._body
            )
        return self._are_invariant[op]


class _Memory:
    """The bytes of the values that are live in the body of a loop."""

    def __init__(self, loop: WhileOp, body: Block) -> None:
        self._ops = list(body.ops)
        positions = {op: position for position, op in enumerate(self._ops)}
        self._last_uses = [
            max((positions[_op_in(body, user)] for user in _users(op)), default=position)
            for position, op in enumerate(self._ops)
        ]
        self._sizes = [sum(_bytes(result) for result in op.results) for op in self._ops]
        outside = dict.fromkeys(_live_outside(loop))
        self._constant = sum(map(_bytes, [*body.arguments, *outside]))

    def peak(self, hoisted: dict[Op, None]) -> int:
        """The largest sum, if some operations are before the loop; those are live if the body uses them."""
        changes = [0] * (len(self._ops) + 1)
        always = self._constant
        for position, (op, last, size) in enumerate(
            zip(self._ops, self._last_uses, self._sizes, strict=True)
        ):
            if op not in hoisted:
                changes[position] += size
                changes[last + 1] -= size
            elif any(user not in hoisted for user in _users(op)):
                always += size
        live = largest = 0
        for change in changes:
            live += change
            largest = max(largest, live)
        return always + largest


def _users(op: Op) -> Iterator[Op]:
    return (use.owner for result in op.results for use in result.uses)


def _op_in(block: Block, op: Op) -> Op:
    """The operation of a block that is or contains another one."""
    return next(ancestor for ancestor in (op, *op.ancestors()) if ancestor.parent is block)


def _live_outside(loop: WhileOp) -> Iterator[Value]:
    """The values from outside that are used in the loop or later, and the arguments of blocks around it."""
    around: Op = loop
    while (block := around.parent) is not None:
        yield from block.arguments
        for op in block.ops:
            if op is around:
                break
            for result in op.results:
                if any(not _op_in(block, use.owner).is_before(around) for use in result.uses):
                    yield result
        parent = block.parent_op
        assert parent is not None
        around = parent


def _bytes(value: Value) -> int:
    type = value.type
    if not isinstance(type, RankedTensor):
        return 0
    width = 64 if isinstance(type.element, IndexType) else bit_width(type.element)
    return -(-prod(max(size, 0) for size in type.shape) * width // 8)

"""cse: of several pure operations that compute the same, keep the first.

    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %1
becomes
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    return %0, %0

Two operations are the same if name, attributes (discardable ones, shardings among them, included),
types, operands and regions are; the operands of a commutative one may come in any order. An
operation finds its like before it in its block, or in a block around it.
"""

from __future__ import annotations

from collections.abc import Hashable

from sdyopt.diagnostics.location import UnknownLoc
from sdyopt.ir.block import Block, Region
from sdyopt.ir.dominance import Dominance
from sdyopt.ir.effects import is_memory_effect_free, is_trivially_dead
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import COMMUTATIVE, ISOLATED
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass, Statistic
from sdyopt.registry import register

Key = Hashable


@register("cse")
class CSE(Pass):
    anchor = None

    merged = Statistic("num-cse'd", "Number of operations CSE'd")
    removed = Statistic("num-dce'd", "Number of operations DCE'd")

    def run(self, op: Op) -> bool:
        merging = _Merging()
        for region in op.regions:
            merging.region(region)
        rewriter = Rewriter()
        for dead in merging.dead:
            rewriter.erase(dead)
        self.count(self.merged, merging.merged)
        self.count(self.removed, len(merging.dead) - merging.merged)
        return rewriter.changed


class _Merging:
    """Finds equal operations. `known` maps what is computed to where, for all that is in scope."""

    def __init__(self) -> None:
        self.dead: list[Op] = []
        self.merged = 0
        self._known: dict[Key, Op] = {}
        self._rewriter = Rewriter()

    def region(self, region: Region) -> None:
        if len(region.blocks) == 1:
            self._scope(region.blocks[0])
            return
        dominance = Dominance()
        reachable = [block for block in region.blocks if dominance.is_reachable(block)]
        for block in reachable:
            # What is known in a block is known in those that it dominates; here each starts anew.
            self._scope(block)

    def _scope(self, block: Block) -> None:
        mark = len(self._known)
        for op in block.ops:
            self._op(op)
        while len(self._known) > mark:
            self._known.popitem()

    def _op(self, op: Op) -> None:
        if op.regions:
            outer = self._known
            if ISOLATED in op.traits:
                self._known = {}
            for region in op.regions:
                self.region(region)
            self._known = outer
        if op.is_terminator:
            return
        if is_trivially_dead(op):
            self.dead.append(op)
            return
        if any(len(region.blocks) > 1 for region in op.regions) or not is_memory_effect_free(op):
            return
        first = self._known.setdefault(_key(op, {}), op)
        if first is not op:
            for old, new in zip(op.results, first.results, strict=True):
                self._rewriter.replace_all_uses(old, new)
            if isinstance(first.location, UnknownLoc):
                self._rewriter.set_location(first, op.location)
            self.dead.append(op)
            self.merged += 1


def _key(op: Op, numbers: dict[Value, int]) -> Key:
    """Equal for operations that compute the same. `numbers` are the values defined on the way."""
    operands: list[Key] = [numbers.get(value, value) for value in op.operands]
    if COMMUTATIVE in op.traits:
        operands.sort(key=id)
    regions = tuple([_region_key(region, numbers) for region in op.regions])
    for result in op.results if numbers or op.regions else ():
        numbers[result] = len(numbers)
    return (op.form, op.attributes, tuple(operands), regions)


def _region_key(region: Region, numbers: dict[Value, int]) -> Key:
    parts: list[Key] = []
    for block in region.blocks:
        for argument in block.arguments:
            numbers[argument] = len(numbers)
            parts.append(argument.type)
        parts += [_key(op, numbers) for op in block.ops]
    return tuple(parts)

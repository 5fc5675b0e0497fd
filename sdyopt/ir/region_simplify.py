"""Region simplification: blocks that nothing reaches and values that nothing needs are removed."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.ir.block import Region
from sdyopt.ir.dominance import Dominance
from sdyopt.ir.effects import would_be_dead
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter


def simplify_region(rewriter: Rewriter, region: Region) -> bool:
    """Whether anything was removed from the region or those inside it."""
    unreachable = _erase_unreachable(rewriter, region)
    return _erase_dead(rewriter, region) or unreachable


def _erase_unreachable(rewriter: Rewriter, region: Region) -> bool:
    changed = False
    if len(region.blocks) > 1:
        dominance = Dominance()
        gone = [block for block in region.blocks if not dominance.is_reachable(block)]
        for block in gone:
            rewriter.erase_block(block)
            changed = True
    for op in _ops(region):
        for inner in op.regions:
            changed |= _erase_unreachable(rewriter, inner)
    return changed


def _erase_dead(rewriter: Rewriter, region: Region) -> bool:
    """Removes operations that are needed only by each other, which counting uses does not find."""
    live: set[Op] = set()
    pending = [op for op in _all_ops(region) if not would_be_dead(op)]
    while pending:
        op = pending.pop()
        if op in live:
            continue
        live.add(op)
        pending += [definition for value in op.operands if (definition := value.defining_op) is not None]
        parent = op.parent_op
        if parent is not None and parent is not region.parent:
            pending.append(parent)
        pending += [child for inner in op.regions for child in _ops(inner) if child.is_terminator]
    dead = [op for op in _all_ops(region) if op not in live and not _is_inside_dead(op, live, region)]
    for op in reversed(dead):
        for result in op.results:
            for use in list(result.uses):
                use.unlink()
        rewriter.erase(op)
    return bool(dead)


def _is_inside_dead(op: Op, live: set[Op], region: Region) -> bool:
    parent = op.parent_op
    return parent is not None and parent is not region.parent and parent not in live


def _ops(region: Region) -> Iterator[Op]:
    for block in region.blocks:
        yield from block.ops


def _all_ops(region: Region) -> Iterator[Op]:
    for op in _ops(region):
        yield from op.walk()

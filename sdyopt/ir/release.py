"""Frees erased operations.

An operation and its results, uses, regions and blocks refer to each other, so Python frees them only by
cyclic garbage collection, which is off while a program is processed.
"""

from __future__ import annotations

from sdyopt.ir.operation import Op


def release(op: Op) -> None:
    """Removes the references inside an erased operation and everything nested in it. It has no parts then."""
    for region in op.regions:
        for block in region.blocks:
            child = block.first
            while child is not None:
                following = child.next
                child.parent = child.prev = child.next = None
                release(child)
                child = following
            block.first = block.last = block.parent = None
            block.arguments = []
        region.blocks = []
        region.parent = None
    op._operands = op.results = op.regions = op.successors = ()

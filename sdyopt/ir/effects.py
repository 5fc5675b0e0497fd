"""Memory effects, as needed for dead code elimination and CSE."""

from __future__ import annotations

from sdyopt.ir.operation import Op
from sdyopt.ir.traits import NO_MEMORY_EFFECT, PURE, RECURSIVE_EFFECTS, SYMBOL, TERMINATOR


def is_trivially_dead(op: Op) -> bool:
    """Whether the operation is unused and can be erased (`isOpTriviallyDead`)."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return would_be_dead(op)


def would_be_dead(op: Op) -> bool:
    """Whether the operation can be erased once it is unused (`wouldOpBeTriviallyDead`)."""
    traits = op.traits
    if TERMINATOR in traits or (SYMBOL in traits and op.attribute("sym_name") is not None):
        return False
    return is_memory_effect_free(op)


def is_memory_effect_free(op: Op) -> bool:
    """Whether the operation is known to have no memory effects (`isMemoryEffectFree`).

    The operations in its regions count only if it has the trait RECURSIVE_EFFECTS.
    """
    traits = op.traits
    if RECURSIVE_EFFECTS in traits:
        return all(
            is_memory_effect_free(child)
            for region in op.regions
            for block in region.blocks
            for child in block.ops
        )
    check = type(op).is_effect_free
    if check is not None:
        return check(op.signature)
    return PURE in traits or NO_MEMORY_EFFECT in traits

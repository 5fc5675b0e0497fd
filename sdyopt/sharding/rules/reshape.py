"""The sharding rule of reshape: dimensions that are split up, joined, or both.

Both shapes are the same elements in the same order, so from the major end on they agree as long as
the products of their factors do. A factor that both sides have there is common, and carries shardings
over. Where they have none, each gets factors of its own until the products agree again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.sharding.op_sharding_rule_builder import OpShardingRuleBuilder
from sdyopt.sharding.op_sharding_rule_registry import NoRule, sharding_rule


@sharding_rule(ReshapeOp)
def reshape(signature: OpSignature, rule: OpShardingRuleBuilder) -> NoRule | None:
    """([ij])->([i, j]), or with dimensions that do not fit together, ([i, k])->([j, l])"""
    operand, result = signature.operand, signature.out
    if not operand.has_static_shape or not result.has_static_shape:
        return NoRule()
    if not operand.num_elements == result.num_elements > 0:
        return NoRule()
    old, new = _Side(operand.shape), _Side(result.shape)
    while not (old.is_done and new.is_done):
        if old.is_at_one:
            rule.add_factor(1, [old.pass_by()], [None])
        elif new.is_at_one:
            rule.add_factor(1, [None], [new.pass_by()])
        elif old.product != new.product:
            behind, ahead = (old, new) if old.product < new.product else (new, old)
            size = behind.factor_towards(ahead)
            dim = behind.take(size)
            rule.add_factor(size, *(([dim], [None]) if behind is old else ([None], [dim])))
        elif (size := gcd(old.left, new.left)) > 1:
            rule.add_factor(size, [old.take(size)], [new.take(size)])
        else:
            size, new_size = old.left, new.left
            rule.add_factor(size, [old.take(size)], [None])
            rule.add_factor(new_size, [None], [new.take(new_size)])
    return None


class _Side:
    """One of the shapes, and how far it has been taken apart.

    `product` is that of all factors so far, `left` what is left of the dimension that is next.
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = shape
        self._dim = 0
        self.product = 1
        self.left = shape[0] if shape else 1

    @property
    def is_done(self) -> bool:
        return self._dim == len(self._shape)

    @property
    def is_at_one(self) -> bool:
        """Whether the next dimension is of size 1, and so has no part in it."""
        return not self.is_done and self._shape[self._dim] == 1

    def pass_by(self) -> int:
        """Goes on to the next dimension. Returns the one that is done."""
        self._dim += 1
        self.left = 1 if self.is_done else self._shape[self._dim]
        return self._dim - 1

    def take(self, size: int) -> int:
        """Takes a factor from the next dimension. Returns that dimension."""
        self.product *= size
        self.left //= size
        return self.pass_by() if self.left == 1 else self._dim

    def factor_towards(self, other: _Side) -> int:
        """The factor to take next, given that the other side is ahead.

        Best is one with which both products agree; else all that the other side can not use.
        """
        missing, rest = divmod(other.product, self.product)
        if rest == 0 and self.left % missing == 0:
            return missing
        common = gcd(self.left, other.left)
        return self.left // common if self.left > common else self.left

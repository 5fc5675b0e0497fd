"""Building the sharding rule of an operation, factor by factor.

    rule.add_factor(8, [0, None], [0])
    rule.add_factor(16, [None, 1], [1])
    rule.add_factor(32, [1, 0], [None], FactorType.REDUCTION)

is a matrix product, `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.ir.types import RankedShape, Type


class FactorType(Enum):
    """What it takes to compute with a factor that is split over devices."""

    # Nothing.
    PASS_THROUGH = auto()
    # The devices' results have to be put together.
    REDUCTION = auto()
    # All devices need all of it first.
    NEED_REPLICATION = auto()
    # Elements move from device to device.
    PERMUTATION = auto()


# The dimension of each operand or result that a factor is of.
Dims = Sequence[int | None]
_Tensor = list[list[int]]


class OpShardingRuleBuilder:
    """The factors found so far, and which of them each dimension is made of, major to minor.

    `is_conservative` asks for a rule by which no dimension is split into parts of different sizes.
    """

    def __init__(
        self, operand_types: Sequence[Type], result_types: Sequence[Type], is_conservative: bool = False
    ) -> None:
        self.is_conservative = is_conservative
        self._sizes: list[int] = []
        self._operands = [_without_factors(type) for type in operand_types]
        self._results = [_without_factors(type) for type in result_types]
        self._special: dict[FactorType, list[int]] = {factor_type: [] for factor_type in FactorType}
        self._blocked: list[int] = []

    # --- Adding factors ---------------------------------------------------------------------------

    def add_factor(
        self,
        size: int,
        operand_dims: Dims,
        result_dims: Dims,
        factor_type: FactorType = FactorType.PASS_THROUGH,
        is_blocked: bool = False,
    ) -> None:
        """Adds a factor to one dimension, or none, of each operand and each result.

        A dimension that has factors already does not need one of size 1. Shardings do not propagate
        along a blocked factor.
        """
        factor = self._new_factor(size, factor_type, is_blocked)
        tensors = [*self._operands, *self._results]
        for tensor, dim in zip(tensors, [*operand_dims, *result_dims], strict=True):
            if dim is not None and (size != 1 or not tensor[dim]):
                tensor[dim].append(factor)

    def add_common_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH, is_blocked: bool = False
    ) -> None:
        """Adds a factor to the same dimension of all tensors that have it."""
        self._distribute(
            [*self._operands, *self._results], dim, self._new_factor(size, factor_type, is_blocked)
        )

    def add_operand_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH
    ) -> None:
        """Adds a factor to the same dimension of all operands that have it."""
        self._distribute(self._operands, dim, self._new_factor(size, factor_type))

    def add_result_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH
    ) -> None:
        """Adds a factor to the same dimension of all results that have it."""
        self._distribute(self._results, dim, self._new_factor(size, factor_type))

    def add_pointwise(self, shape: Sequence[int]) -> None:
        """Adds a common factor for each dimension of `shape`."""
        for dim, size in enumerate(shape):
            self.add_common_factor(dim, size)

    def add_pointwise_with_type_for_mismatch(
        self, before: Sequence[int], after: Sequence[int], otherwise: FactorType, is_blocked: bool = False
    ) -> None:
        """Adds a common factor for each dimension, `otherwise` where its size before and after differ."""
        for dim, (size, result_size) in enumerate(zip(before, after, strict=True)):
            if size == result_size:
                self.add_common_factor(dim, size)
            else:
                self.add_common_factor(dim, size, otherwise, is_blocked)

    def set_pointwise(self, type: Type) -> None:
        """Makes dimension number n of everything factor number n, with the sizes that `type` has.

        Where there are more dimensions, they have factors that do not exist, which the verifier of
        rules reports: who says that these tensors are alike must not pass ones that are not.
        """
        assert not self._sizes and isinstance(type, RankedShape)
        self._sizes.extend(type.shape)
        for tensor in (*self._operands, *self._results):
            for dim, factors in enumerate(tensor):
                factors.append(dim)

    # --- The rule ---------------------------------------------------------------------------------

    def build(self) -> OpShardingRule:
        """The rule. A dimension without factors has one of size 1 to itself."""
        sizes = list(self._sizes)
        mappings = [
            TensorMapping(tuple([DimMapping(_factors_or_new_one(dim, sizes)) for dim in tensor]))
            for tensor in (*self._operands, *self._results)
        ]
        return OpShardingRule(
            tuple(sizes),
            tuple(mappings[: len(self._operands)]),
            tuple(mappings[len(self._operands) :]),
            tuple(self._special[FactorType.REDUCTION]),
            tuple(self._special[FactorType.NEED_REPLICATION]),
            tuple(self._special[FactorType.PERMUTATION]),
            tuple(self._blocked),
        )

    def _new_factor(self, size: int, factor_type: FactorType, is_blocked: bool = False) -> int:
        factor = len(self._sizes)
        self._sizes.append(size)
        self._special[factor_type].append(factor)
        if is_blocked:
            self._blocked.append(factor)
        return factor

    def _distribute(self, tensors: Sequence[_Tensor], dim: int, factor: int) -> None:
        for tensor in tensors:
            if dim < len(tensor):
                tensor[dim].append(factor)


def _without_factors(type: Type) -> _Tensor:
    """A tensor of which nothing is known yet; what is no tensor, such as a token, has no dimensions."""
    return [[] for _ in range(type.rank)] if isinstance(type, RankedShape) else []


def _factors_or_new_one(factors: Sequence[int], sizes: list[int]) -> tuple[int, ...]:
    if not factors:
        sizes.append(1)
        return (len(sizes) - 1,)
    return tuple(factors)

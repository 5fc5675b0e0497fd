"""Builds the sharding rule of an operation, factor by factor; the table that modules of rules fill.

    builder.add_factor(8, [0, None], [0])
    builder.add_factor(16, [None, 1], [1])
    builder.add_factor(32, [1, 0], [None], FactorType.REDUCTION)

builds the rule of a matrix product, `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`.

Operations with an elementwise trait are elementwise, and so are `sdy.propagation_barrier`,
`sdy.sharding_constraint`, `sdy.reshard`, and a `bitcast_convert` that keeps the shape.

    @sharding_rule(TransposeOp)
    def transpose(signature: OpSignature, builder: OpShardingRuleBuilder) -> None:
        shape = signature[TransposeOp.operand].shape
        for result_dim, dim in enumerate(signature[TransposeOp.permutation]):
            builder.add_factor(shape[dim], [dim], [result_dim])

A derived rule is cached per signature. A rule that also depends on the operands, uses or regions of the
operation declares a `context`: the function gets `context(op)` as a third argument, and the cache has one
rule per signature and context.

A rule with reduction factors declares how partial results are combined, such as `reduction=Reduction.MAX`.
If it does not, its reduction factors need replication, because no collective is known to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import Any, TypeVar

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.stablehlo.compare_select import BitcastConvertOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import BROADCASTING_ELEMENTWISE
from sdyopt.mlir.ir.dialect import check_parameters
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.mlir.ir.types import RankedShapedType, Type


class FactorType(Enum):
    """The communication that an operation needs if the factor is sharded."""

    # No communication.
    PASS_THROUGH = auto()
    # An all-reduce of the results, by the `Reduction` that the rule declares.
    REDUCTION = auto()
    # An all-gather of the operands first.
    NEED_REPLICATION = auto()
    # Communication between devices, such as a collective-permute.
    PERMUTATION = auto()

    __hash__ = object.__hash__


class Reduction(Enum):
    """The combination of partial results if a reduction factor is sharded."""

    ADD = auto()
    MAX = auto()
    MIN = auto()
    MUL = auto()
    AND = auto()
    OR = auto()
    # As the region of the operation combines elements.
    REGION = auto()


# For each operand or result, the dimension that a factor belongs to, or None.
Dims = Sequence[int | None]
# The factors of each dimension.
_Tensor = list[list[int]]


class OpShardingRuleBuilder:
    """The factors of a rule under construction, and the factors of each dimension, major to minor.

    With `is_conservative`, rule functions leave out or block the factors of sliced, padded, concatenated and
    windowed dimensions, along which the shards of operands and results can differ in size.
    """

    def __init__(
        self, operand_types: Sequence[Type], result_types: Sequence[Type], is_conservative: bool = False
    ) -> None:
        self.is_conservative = is_conservative
        self._sizes: list[int] = []
        self._operands = [_dims_without_factors(type) for type in operand_types]
        self._results = [_dims_without_factors(type) for type in result_types]
        # Those that are not pass-through factors.
        self._factors_by_type: dict[FactorType, list[int]] = {}
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
        """Adds a factor to at most one dimension of each operand and result.

        `operand_dims` and `result_dims` have the dimension of each operand and each result, None for those
        without the factor. A factor of size 1 is only added to dimensions that have no factors yet. Shardings
        do not propagate along a blocked factor. Raises ValueError for another number of dimensions.
        """
        counts = len(operand_dims), len(result_dims)
        if counts != (len(self._operands), len(self._results)):
            operands, results = len(self._operands), len(self._results)
            raise ValueError(
                f"a factor with {counts[0]} operand dims and {counts[1]} result dims, of an operation with "
                f"{operands} operands and {results} results"
            )
        factor = self._new_factor(size, factor_type, is_blocked)
        tensors = [*self._operands, *self._results]
        for number, (tensor, dim) in enumerate(zip(tensors, [*operand_dims, *result_dims], strict=True)):
            if dim is not None and not 0 <= dim < len(tensor):
                kind, index = ("operand", number)
                if number >= len(self._operands):
                    kind, index = "result", number - len(self._operands)
                raise ValueError(f"{kind} {index} has {len(tensor)} dimensions: there is no dimension {dim}")
            if dim is not None and (size != 1 or not tensor[dim]):
                tensor[dim].append(factor)

    def add_common_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH, is_blocked: bool = False
    ) -> None:
        """Adds a factor to this dimension of every operand and result that has it."""
        self._append([*self._operands, *self._results], dim, self._new_factor(size, factor_type, is_blocked))

    def add_operand_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH
    ) -> None:
        """Adds a factor to this dimension of every operand that has it."""
        self._append(self._operands, dim, self._new_factor(size, factor_type))

    def add_result_factor(
        self, dim: int, size: int, factor_type: FactorType = FactorType.PASS_THROUGH
    ) -> None:
        """Adds a factor to this dimension of every result that has it."""
        self._append(self._results, dim, self._new_factor(size, factor_type))

    def add_pointwise(self, shape: Sequence[int]) -> None:
        """Adds a common factor for each dimension of `shape`."""
        for dim, size in enumerate(shape):
            self.add_common_factor(dim, size)

    def add_pointwise_with_type_for_mismatch(
        self,
        operand_shape: Sequence[int],
        result_shape: Sequence[int],
        mismatch_type: FactorType,
        is_mismatch_blocked: bool = False,
    ) -> None:
        """Adds a common factor for each dimension, of `mismatch_type` where the two sizes differ."""
        for dim, (size, result_size) in enumerate(zip(operand_shape, result_shape, strict=True)):
            if size == result_size:
                self.add_common_factor(dim, size)
            else:
                self.add_common_factor(dim, size, mismatch_type, is_mismatch_blocked)

    def set_pointwise(self, type: Type) -> None:
        """Maps dimension n of every operand and result to factor n, with the sizes of `type`.

        Must be the only call that adds factors. Dimensions beyond the rank of `type` get factor indices
        that do not exist, which the verifier of the rule reports.
        """
        assert not self._sizes and isinstance(type, RankedShapedType)
        self._sizes.extend(type.shape)
        for tensor in (*self._operands, *self._results):
            for dim, factors in enumerate(tensor):
                factors.append(dim)

    def replicate_reductions(self) -> None:
        """Makes need-replication factors of the reduction factors: operands are gathered along them."""
        reductions = self._factors_by_type.pop(FactorType.REDUCTION, None)
        if reductions is not None:
            replicated = self._factors_by_type.get(FactorType.NEED_REPLICATION, [])
            self._factors_by_type[FactorType.NEED_REPLICATION] = sorted([*replicated, *reductions])

    # --- The rule ---------------------------------------------------------------------------------

    def build(self) -> OpShardingRule:
        """The rule. A dimension without factors gets a factor of size 1 of its own."""
        sizes = list(self._sizes)
        mappings = [
            _tensor_mapping(tuple([_factors_or_new_factor(dim, sizes) for dim in tensor]))
            for tensor in (*self._operands, *self._results)
        ]
        special = self._factors_by_type
        return OpShardingRule(
            tuple(sizes),
            tuple(mappings[: len(self._operands)]),
            tuple(mappings[len(self._operands) :]),
            tuple(special.get(FactorType.REDUCTION, ())),
            tuple(special.get(FactorType.NEED_REPLICATION, ())),
            tuple(special.get(FactorType.PERMUTATION, ())),
            tuple(self._blocked),
        )

    def _new_factor(self, size: int, factor_type: FactorType, is_blocked: bool = False) -> int:
        factor = len(self._sizes)
        self._sizes.append(size)
        if factor_type is not FactorType.PASS_THROUGH:
            self._factors_by_type.setdefault(factor_type, []).append(factor)
        if is_blocked:
            self._blocked.append(factor)
        return factor

    def _append(self, tensors: Sequence[_Tensor], dim: int, factor: int) -> None:
        for tensor in tensors:
            if dim < len(tensor):
                tensor[dim].append(factor)


def _dims_without_factors(type: Type) -> _Tensor:
    """An empty list per dimension; no dimensions if the type is not a tensor, such as a token."""
    return [[] for _ in range(type.rank)] if isinstance(type, RankedShapedType) else []


@lru_cache(maxsize=4096)
def _tensor_mapping(factors: tuple[tuple[int, ...], ...]) -> TensorMapping:
    """The mapping of a tensor whose dimensions have these factors. Operations have few distinct ones."""
    return TensorMapping(tuple([DimMapping(factor) for factor in factors]))


def _factors_or_new_factor(factors: Sequence[int], sizes: list[int]) -> tuple[int, ...]:
    if not factors:
        sizes.append(1)
        return (len(sizes) - 1,)
    return tuple(factors)


_ELEMENTWISE_SDY_OPS = (PropagationBarrierOp, ShardingConstraintOp, ReshardOp)


def is_elementwise(signature: OpSignature) -> bool:
    """Whether every element of the results depends on one element of each operand."""
    if issubclass(signature.op_class, BitcastConvertOp):
        return _shape(signature.operand_types[0]) == _shape(signature.result_types[0])
    traits = signature.op_class.traits
    return (
        ELEMENTWISE in traits
        or BROADCASTING_ELEMENTWISE in traits
        or issubclass(signature.op_class, _ELEMENTWISE_SDY_OPS)
    )


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShapedType) else ()


class NoRule(NamedTuple):
    """The result for a signature without a rule.

    If `kind` is set, the operation is unknown, and a warning names `kind` and `name`.
    """

    kind: str = ""
    name: str = ""


# (signature, builder) or (signature, builder, context) -> NoRule, or None if the builder has the factors
RuleFunction = Callable[..., NoRule | None]
# A context function only takes operations of the classes that it is registered for.
Context = Callable[[Any], Hashable]
F = TypeVar("F", bound=RuleFunction)


class RuleEntry(NamedTuple):
    function: RuleFunction
    context: Context | None = None
    reduction: Reduction | None = None


rule_entries: dict[type[Op], RuleEntry] = {}


def sharding_rule(
    *op_classes: type[Op], context: Context | None = None, reduction: Reduction | None = None
) -> Callable[[F], F]:
    """Registers the function that derives the rules of operations of these classes.

    `reduction` says how partial results along reduction factors are combined; by default, it is unknown.
    """

    def register(function: F) -> F:
        check_parameters(function, 2 if context is None else 3, "sharding_rule")
        for op_class in op_classes:
            assert op_class not in rule_entries, f"{op_class.name} has two sharding rules"
            rule_entries[op_class] = RuleEntry(function, context, reduction)
        return function

    return register

"""The constraints that JAX derives from a weight if axes are explicit: they change with its sharding.

A weight, its gradient and its moments, in each layer of a loop, are tied by operations that keep its
dimensions. JAX gives the results of these operations the axes of the weight. A product does not keep them: if
JAX derives its sharding, too, activations follow from a change of the weight, and no edit says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.analysis.changes.edits import AnnotationEdit, annotation_of, is_input
from sdyopt.analysis.figures.source_locations import GRADIENTS, source_location
from sdyopt.analysis.figures.user_lines import is_derived
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

_KEEPING = (BroadcastInDimOp, ReshapeOp, TransposeOp, DynamicSliceOp, DynamicUpdateSliceOp, SliceOp)
# The dimension of the weight that each dimension of a value is; None if it is none, such as that of layers.
_Dims = tuple[int | None, ...]


class _Tied(NamedTuple):
    """A derived constraint with the dimensions of the weight."""

    output: OpResult
    dims: _Dims


class DerivedConstraints:
    """The derived constraints of a program, by the argument that they follow."""

    def __init__(self, module: Op) -> None:
        self._is_explicit = any(
            isinstance(op, ShardingConstraintOp) and is_derived(op) for op in module.walk()
        )
        self._of: dict[BlockArgument, list[_Tied] | None] = {}

    def following(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """What JAX changes with edits of arguments; None if it is not known."""
        if not self._is_explicit:
            return []
        followers: dict[OpResult, AnnotationEdit] = {}
        for edit in edits:
            argument = edit.subject
            if not isinstance(argument, BlockArgument) or not is_input(argument) or edit.is_removal:
                continue
            if argument not in self._of:
                self._of[argument] = self._tied(argument)
            tied = self._of[argument]
            if tied is None:
                return None
            for output, dims in tied:
                current = annotation_of(output)
                if current is None or output in followers:
                    continue
                pairs = zip(current.dims, dims, strict=True)
                new = [own if dim is None else edit.sharding.dims[dim] for own, dim in pairs]
                followers[output] = edit._replace(subject=output, sharding=current.with_dims(tuple(new)))
        return list(followers.values())

    def _tied(self, argument: BlockArgument) -> list[_Tied] | None:
        tied: list[_Tied] = []
        rank = argument.type.rank if isinstance(argument.type, RankedTensor) else 0
        todo: list[tuple[OpResult | BlockArgument, _Dims]] = [(argument, tuple(range(rank)))]
        seen: set[Value] = {argument}
        while todo:
            value, dims = todo.pop()
            if any(_is_other(op, value, dims) and _is_derived_from(op) for op in dict.fromkeys(value.users)):
                return None
            if isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp):
                tied.append(_Tied(value, dims))
            for other, of_other in _beside(value, dims):
                if other not in seen and isinstance(other, OpResult | BlockArgument):
                    seen.add(other)
                    todo.append((other, of_other))
        return tied


def _beside(value: OpResult | BlockArgument, dims: _Dims) -> Iterator[tuple[Value, _Dims]]:
    """The values that operations tie to a value, with their dimensions."""
    for op in (*dict.fromkeys(value.users), *([value.op] if isinstance(value, OpResult) else [])):
        if isinstance(op, ShardingConstraintOp):
            if is_derived(op):
                yield op.output if op.input is value else op.input, dims
        elif _keeps(op):
            for other in (*op.operands, *op.results):
                of_other = None if other is value else _mapped(op, value, dims, other)
                if of_other is not None:
                    yield other, of_other
    yield from ((other, dims) for other in _flows(value))


def _flows(value: OpResult | BlockArgument) -> Iterator[Value]:
    """The values that loops and branches tie to a value."""
    ops = [owning_op(value), *dict.fromkeys(value.users)]
    ops += [parent for op in ops if op.is_terminator and (parent := op.parent_op) is not None]
    for op in ops:
        if op.data_flow is None or isinstance(op, FuncOp):
            continue
        for owner in op.data_flow.owners(op):
            sources = (source.value for source in op.data_flow.sources(op, owner))
            tied = [owner, *sources, *op.data_flow.other_targets(op, owner)]
            if any(other is value for other in tied):
                yield from (other for other in tied if other is not value)


def _mapped(op: Op, value: Value, dims: _Dims, other: Value) -> _Dims | None:
    """The dimensions of another value of an operation; None if it does not keep those of the weight."""
    if not isinstance(other.type, RankedTensor) or not isinstance(value.type, RankedTensor):
        return None
    with handling(lambda _: None):
        rule = sharding_rule_of(op)
    if rule is None:
        return None
    values = [*op.operands, *op.results]
    numbers = [next(i for i, item in enumerate(values) if item is one) for one in (value, other)]
    source, target = (rule.tensors[number].dims for number in numbers)
    sizes = rule.factor_sizes
    dim_of = {
        factor: dim
        for mapping, dim in zip(source, dims, strict=True)
        for factor in mapping.factors
        if sizes[factor] > 1 and len(mapping.factors) == 1
    }
    mapped = []
    for mapping, size in zip(target, other.type.shape, strict=True):
        factors = [factor for factor in mapping.factors if sizes[factor] > 1]
        known = len(factors) == 1 and factors[0] in dim_of
        if not known and size > 1 and not isinstance(op, DynamicSliceOp | DynamicUpdateSliceOp):
            return None
        mapped.append(dim_of[factors[0]] if known else None)
    kept = {dim for dim in mapped if dim is not None}
    return tuple(mapped) if kept else None


def _keeps(op: Op) -> bool:
    return isinstance(op, _KEEPING) or is_elementwise(op.signature)


def _is_other(op: Op, value: Value, dims: _Dims) -> bool:
    """Whether what an operation computes from a value has other dimensions, such as a product."""
    if isinstance(op, ShardingConstraintOp) or op.is_terminator or op.data_flow is not None:
        return False
    return not _keeps(op) or any(_mapped(op, value, dims, result) is None for result in op.results)


def _is_derived_from(op: Op) -> bool:
    """Whether JAX derives the sharding of a result from those of operands; not for a gradient."""
    if source_location(op.location).phase in GRADIENTS:
        return False
    users = [user for result in op.results for user in result.users]
    return any(isinstance(user, ShardingConstraintOp) and is_derived(user) for user in users)

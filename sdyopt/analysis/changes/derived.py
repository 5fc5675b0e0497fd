"""Constraints that JAX derives, with explicit axes, from those that a change writes.

Of a weight: its gradient and its moments, in each layer of a loop, are tied by operations that keep its
dimensions, and JAX gives their results the axes of the weight. A product does not keep them: if JAX derives
its sharding, too, no edit of a weight says how.

Of a statement, such as a reshard: what is computed from it, up to the next statement, and gradients. JAX
rejects a program in which an axis would shard two dimensions of what it derives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from sdyopt.analysis.changes.edits import AnnotationEdit, annotation_of, is_input
from sdyopt.analysis.changes.originals import is_backward, line_of, transposed
from sdyopt.analysis.changes.roles import is_uniform
from sdyopt.analysis.figures.source_locations import GRADIENTS, Phase, is_derived, source_location
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject
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
        self._module = module
        self.is_explicit = any(
            isinstance(op, ShardingConstraintOp) and is_derived(op) for op in module.walk()
        )
        self._of: dict[BlockArgument, tuple[list[_Tied], bool]] = {}

    def following(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """What JAX changes with edits; None if that is not known, or if it rejects an operation then."""
        if not self.is_explicit:
            return []
        followers: dict[OpResult, AnnotationEdit] = {}
        for edit in edits:
            argument = edit.subject
            if not isinstance(argument, BlockArgument) or not is_input(argument) or edit.is_removal:
                continue
            tied, is_known = self._tied(argument)
            if not is_known:
                return None
            for output, dims in tied:
                current = annotation_of(output)
                if current is None or output in followers:
                    continue
                pairs = zip(current.dims, dims, strict=True)
                new = [own if dim is None else edit.sharding.dims[dim] for own, dim in pairs]
                followers[output] = edit._replace(subject=output, sharding=current.with_dims(tuple(new)))
        forward = self._derived([*edits, *followers.values()])
        return None if forward is None else [*followers.values(), *forward]

    def _derived(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """The constraints that JAX derives from those of edits, and of their gradients."""
        followers: dict[Subject, AnnotationEdit] = {}
        after: dict[Value, TensorSharding] = {}
        todo: list[tuple[AnnotationEdit, OpResult, TensorSharding]] = []

        def add(
            edit: AnnotationEdit, value: OpResult, sharding: TensorSharding, before: TensorSharding
        ) -> None:
            if value not in after and sharding != before:
                after[value] = sharding
                todo.append((edit, value, before))

        for edit in edits:
            if isinstance(edit.subject, BlockArgument) and is_input(edit.subject):
                after[edit.subject] = edit.sharding
            elif edit.replaced is not None and not edit.is_removal and isinstance(edit.subject, OpResult):
                add(edit, edit.subject, edit.sharding, edit.replaced.sharding)
        given = set(after)

        def follow(edit: AnnotationEdit, op: Op, value: OpResult, before: TensorSharding) -> bool:
            derived = _derived_at(op, value, before, after)
            if derived is None:
                return False
            # Literals and gradients have the type of the value.
            shape = _shape(value)
            for other in op.operands:
                if not isinstance(other, OpResult) or not _is_literal(other) or _shape(other) != shape:
                    continue
                if annotation_of(other) == before:
                    derived.append((other, after[value]))
            gradients = self._of_backward.get((line_of(op), shape, before), ())
            derived.extend((other, after[value]) for other in gradients)
            for output, sharding in derived:
                # It is known already, with what it transposes: gradients are derived anew for all of a line.
                if output in followers and output in after:
                    continue
                add(edit, output, sharding, annotation_of(output) or before)
                if not isinstance(output.op, ShardingConstraintOp) or output in given:
                    continue
                following = edit._replace(subject=output, sharding=after.get(output, sharding), how="")
                for item in transposed(following) if is_backward(output.op) else [following]:
                    if annotation_of(item.subject) != item.sharding:
                        followers.setdefault(item.subject, item)
            return True

        rejected: list[tuple[AnnotationEdit, Op, OpResult, TensorSharding]] = []
        for edit, value, before in todo:
            for op in dict.fromkeys(() if is_backward(value.op) else value.users):
                if not (is_backward(op) or op.is_terminator or op.data_flow is not None):
                    rejected += [] if follow(edit, op, value, before) else [(edit, op, value, before)]
        # Operands of an operation may have changed one after the other.
        if not all(follow(*item) for item in rejected):
            return None
        return list(followers.values())

    @cached_property
    def _of_backward(self) -> dict[tuple[object, object, TensorSharding], list[OpResult]]:
        """What a backward pass reshards, as the program does: by line, shape and sharding."""
        by_line: dict[tuple[object, object, TensorSharding], list[OpResult]] = {}
        for op in self._module.walk():
            if isinstance(op, ShardingConstraintOp) and is_backward(op):
                (result,) = op.results
                by_line.setdefault((line_of(op), _shape(result), op.sharding), []).append(result)
        return by_line

    def whole(self, arguments: Iterable[Subject]) -> set[OpResult]:
        """The derived constraints of all dimensions of arguments, such as of what updates a parameter.

        They change with these arguments only.
        """
        return {
            output
            for argument in (arguments if self.is_explicit else ())
            if isinstance(argument, BlockArgument) and is_input(argument)
            for output, dims in self._tied(argument)[0]
            if None not in dims and is_derived(output.op)
        }

    def _tied(self, argument: BlockArgument) -> tuple[list[_Tied], bool]:
        """The constraints of what has dimensions of an argument, and whether no others follow from it."""
        if argument not in self._of:
            self._of[argument] = self._follow(argument)
        return self._of[argument]

    def _follow(self, argument: BlockArgument) -> tuple[list[_Tied], bool]:
        tied: list[_Tied] = []
        is_known = True
        rank = argument.type.rank if isinstance(argument.type, RankedTensor) else 0
        todo: list[tuple[OpResult | BlockArgument, _Dims]] = [(argument, tuple(range(rank)))]
        seen: set[Value] = {argument}
        while todo:
            value, dims = todo.pop()
            users = dict.fromkeys(value.users)
            is_known = is_known and not any(
                _is_other(op, value, dims) and _is_derived_from(op) for op in users
            )
            if isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp):
                tied.append(_Tied(value, dims))
            for other, of_other in _beside(value, dims):
                if other not in seen and isinstance(other, OpResult | BlockArgument):
                    seen.add(other)
                    todo.append((other, of_other))
        return tied, is_known


def _is_literal(value: Value) -> bool:
    """Whether a value is a scalar that JAX broadcasts for an operation, with its constraint."""
    op = value.defining_op
    return isinstance(op, ShardingConstraintOp) and is_derived(op) and is_uniform(op.input)


def _annotation(value: Value) -> TensorSharding | None:
    return annotation_of(value) if isinstance(value, OpResult | BlockArgument) else None


def _shape(value: Value) -> object:
    return value.type.shape if isinstance(value.type, RankedTensor) else None


def _derived_at(
    op: Op, value: OpResult, current: TensorSharding, shardings: Mapping[Value, TensorSharding]
) -> list[tuple[OpResult, TensorSharding]] | None:
    """What JAX derives for the results of an operation; None if it rejects the operands then.

    An `out_sharding` is written if it differs from what JAX derives without a change.
    """
    if isinstance(op, ShardingConstraintOp):
        return [(op.results[0], shardings[value])] if is_derived(op) else []
    if len(op.results) != 1 or not isinstance(result := op.results[0], OpResult) or isinstance(op, ReshapeOp):
        return []
    users = dict.fromkeys(result.users)
    constraints = [user for user in users if isinstance(user, ShardingConstraintOp)]
    derived: list[tuple[OpResult, TensorSharding]] = []
    if is_elementwise(op.signature) and len(constraints) < len(users) and _shape(result) == _shape(value):
        # JAX lowers one operation to several, such as a power.
        derived.append((result, shardings[value]))
    with handling(lambda _: None):
        rule = sharding_rule_of(op)
    if rule is None:
        return derived
    # Literals follow the other operands.
    before = [current if item is value else _annotation(item) for item in op.operands]
    before = [None if _is_literal(item) else old for item, old in zip(op.operands, before, strict=True)]
    after = [old and shardings.get(item, old) for item, old in zip(op.operands, before, strict=True)]
    is_product = isinstance(op, DotGeneralOp)
    is_summed = is_product and _is_summed(rule, after)
    for constraint in constraints:
        stated = constraint.sharding
        is_recomputed = source_location(constraint.location).phase is Phase.REMATERIALIZED
        is_sure = is_derived(constraint) and not is_recomputed
        if is_summed and not is_sure:
            # Partial sums need an out_sharding, and what it says is the same.
            continue
        if is_sure or _by_rule(rule, before, stated, is_product) == stated:
            sharding = _by_rule(rule, after, stated, is_product)
            if sharding is None:
                return None
            derived.append((constraint.results[0], sharding))
    return derived


def _axes_of_factors(
    rule: OpShardingRule, operands: Sequence[TensorSharding | None]
) -> dict[int, list[tuple[AxisRef, ...]]]:
    """The axes of each dimension of operands, by its factor."""
    given: dict[int, list[tuple[AxisRef, ...]]] = {}
    for sharding, mapping in zip(operands, rule.operands, strict=True):
        if sharding is not None and sharding.rank == len(mapping.dims):
            for dim, item in zip(sharding.dims, mapping.dims, strict=True):
                if len(item.factors) == 1:
                    given.setdefault(item.factors[0], []).append(tuple(dim.axes))
    return given


def _is_summed(rule: OpShardingRule, operands: Sequence[TensorSharding | None]) -> bool:
    """Whether both operands of a product are sharded where it contracts them."""
    free = {factor for dim in rule.results[0].dims for factor in dim.factors}
    return any(
        factor not in free and len(axes) > 1 and all(axes)
        for factor, axes in _axes_of_factors(rule, operands).items()
    )


def _by_rule(
    rule: OpShardingRule, operands: Sequence[TensorSharding | None], stated: TensorSharding, is_product: bool
) -> TensorSharding | None:
    """The sharding of a result from those of operands; None if JAX rejects them.

    That is so if an axis would shard two dimensions, if operands have other axes in what is one dimension, or
    if both have some where a product contracts them. `stated` has the dimensions that no operand has.
    """
    given = _axes_of_factors(rule, operands)
    free = {factor for dim in rule.results[0].dims for factor in dim.factors}
    if is_product and _is_summed(rule, operands):
        return None
    for factor, axes in given.items():
        if factor in free and len(set(axes if is_product else filter(None, axes))) > 1:
            return None
    axes_of = {factor: next(filter(None, axes), ()) for factor, axes in given.items()}
    dims = [
        DimensionSharding(axes_of[item.factors[0]])
        if len(item.factors) == 1 and item.factors[0] in axes_of
        else dim
        for dim, item in zip(stated.dims, rule.results[0].dims, strict=True)
    ]
    names = [axis.name for dim in dims for axis in dim.axes]
    return stated.with_dims(tuple(dims)) if len(names) == len(set(names)) else None


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

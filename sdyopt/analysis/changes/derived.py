"""Constraints that JAX derives, with explicit axes, from those that a change writes.

Of a weight: its gradient and its moments, in each layer of a loop, are tied by operations that keep its
dimensions, and JAX gives their results the axes of the weight.

Of a weight and of a statement, such as a reshard: what is computed from it, up to the next statement, and
gradients. JAX rejects a program in which an axis would shard two dimensions of what it derives, or in which
a loop would carry on what it does not begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from sdyopt.analysis.changes.edits import AnnotationEdit, annotation_of, is_input
from sdyopt.analysis.changes.originals import SourceText, is_backward, is_of_loop, line_of, transposed
from sdyopt.analysis.changes.roles import is_uniform
from sdyopt.analysis.figures.source_locations import Phase, is_derived, source_location
from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import handling
from sdyopt.base.diagnostics.location import Location, resolve_file_location
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import owning_op
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import OptimizationBarrierOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp, SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import Subject
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

_OUT_SHARDING = "out_sharding"
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
        self._of: dict[BlockArgument, list[_Tied]] = {}
        self._source = SourceText()
        self._stated: dict[Location | None, bool] = {}

    def following(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """What JAX changes with edits; None if that is not known, or if it rejects an operation then."""
        if not self.is_explicit:
            return []
        followers: dict[OpResult, AnnotationEdit] = {}
        for edit in edits:
            argument = edit.subject
            if not isinstance(argument, BlockArgument) or not is_input(argument) or edit.is_removal:
                continue
            for output, dims in self._tied(argument):
                current = annotation_of(output)
                if current is None or output in followers:
                    continue
                pairs = zip(current.dims, dims, strict=True)
                new = [own if dim is None else edit.sharding.dims[dim] for own, dim in pairs]
                if (sharding := current.with_dims(tuple(new))) == current:
                    continue
                lost = {*current.axis_refs} - {*sharding.axis_refs}
                others = (dim for index, dim in enumerate(edit.sharding.dims) if index not in dims)
                lacks_dimension = bool(lost) and lost <= {axis for dim in others for axis in dim.axes}
                followers[output] = edit._replace(
                    subject=output, sharding=sharding, lacks_dimension=lacks_dimension
                )
        known = {edit.subject: edit.sharding for edit in (*edits, *followers.values())}
        if any(_lacks_axes(follower, known) for follower in followers.values()):
            return None
        forward = self._derived([*edits, *followers.values()])
        return None if forward is None else [*followers.values(), *forward]

    def _derived(self, edits: Sequence[AnnotationEdit]) -> list[AnnotationEdit] | None:
        """The constraints that JAX derives from those of edits, and of their gradients."""
        followers: dict[Subject, AnnotationEdit] = {}
        after: dict[Value, TensorSharding] = {}
        todo: list[tuple[AnnotationEdit, OpResult | BlockArgument, TensorSharding]] = []

        def add(
            edit: AnnotationEdit,
            value: OpResult | BlockArgument,
            sharding: TensorSharding,
            before: TensorSharding,
        ) -> None:
            if value not in after and sharding != before:
                after[value] = sharding
                todo.append((edit, value, before))

        for edit in (edit for edit in edits if not edit.is_removal):
            if isinstance(edit.subject, BlockArgument) and is_input(edit.subject):
                before = annotation_of(edit.subject) or _replicated(edit.sharding)
                add(edit, edit.subject, edit.sharding, before)
            elif edit.replaced is not None and isinstance(edit.subject, OpResult):
                add(edit, edit.subject, edit.sharding, edit.replaced.sharding)
        given = set(after)

        def follow(
            edit: AnnotationEdit, op: Op, value: OpResult | BlockArgument, before: TensorSharding
        ) -> bool:
            derived = _derived_at(op, value, before, after, self._states)
            if derived is None:
                return False
            # Literals and gradients have the type of the value.
            shape = _shape(value)
            for other in op.operands:
                if not isinstance(other, OpResult) or _shape(other) != shape:
                    continue
                if (_is_literal(other) or _is_broadcast_for(op, other)) and annotation_of(other) == before:
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

        def carry(
            edit: AnnotationEdit, value: OpResult | BlockArgument, other: Value, before: TensorSharding
        ) -> None:
            """What a loop or a branch ties to a value has its sharding, or is one that it begins with."""
            assert isinstance(other, OpResult | BlockArgument)
            current = annotation_of(other)
            if current is None:
                add(edit, other, after[value], before)
            elif _is_filled(other) and other not in after:
                after[other] = after[value]
                followers.setdefault(other, edit._replace(subject=other, sharding=after[value], how=""))
            carried.append((value, other, current or after[value]))

        rejected: list[tuple[AnnotationEdit, Op, OpResult | BlockArgument, TensorSharding]] = []
        carried: list[tuple[Value, Value, TensorSharding]] = []
        for edit, value, before in todo:
            if is_backward(owning_op(value)) and not _is_recomputed_from(value):
                continue
            for op in dict.fromkeys(value.users):
                if isinstance(op, ManualComputationOp) and not _is_taken(op, value, after[value]):
                    return None
                if not (is_backward(op) or op.is_terminator or op.data_flow is not None):
                    rejected += [] if follow(edit, op, value, before) else [(edit, op, value, before)]
            for other in _flows(value):
                carry(edit, value, other, before)
        # Operands of an operation may have changed one after the other.
        if not all(follow(*item) for item in rejected):
            return None
        if any(after[value] != after.get(other, current) for value, other, current in carried):
            return None
        return list(followers.values())

    def _states(self, op: ShardingConstraintOp) -> bool:
        """Whether the text of a program has an `out_sharding` for an operation; False without the text."""
        point = resolve_file_location(op.location)
        if point not in self._stated:
            self._stated[point] = _OUT_SHARDING in self._source.text(point)
        return self._stated[point]

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
            for output, dims in self._tied(argument)
            if None not in dims and is_derived(output.op)
        }

    def _tied(self, argument: BlockArgument) -> list[_Tied]:
        """The constraints of what has dimensions of an argument."""
        if argument not in self._of:
            self._of[argument] = list(_tied(argument))
        return self._of[argument]


def _tied(argument: BlockArgument) -> Iterator[_Tied]:
    rank = argument.type.rank if isinstance(argument.type, RankedTensor) else 0
    todo: list[tuple[OpResult | BlockArgument, _Dims]] = [(argument, tuple(range(rank)))]
    seen: set[Value] = {argument}
    while todo:
        value, dims = todo.pop()
        if isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp):
            yield _Tied(value, dims)
        if _is_literal(value):
            # Other values may use it, too.
            continue
        for other, of_other in _beside(value, dims):
            if other not in seen and isinstance(other, OpResult | BlockArgument):
                seen.add(other)
                todo.append((other, of_other))


def _replicated(like: TensorSharding) -> TensorSharding:
    return like.with_dims((DimensionSharding(()),) * like.rank)


def _is_literal(value: Value) -> bool:
    """Whether a value is a scalar that JAX broadcasts for an operation, with its constraint."""
    op = value.defining_op
    return isinstance(op, ShardingConstraintOp) and is_derived(op) and is_uniform(op.input)


def _is_taken(op: ManualComputationOp, value: Value, sharding: TensorSharding) -> bool:
    """Whether the in_specs of a shard_map are those of a value."""
    pairs = zip(op.operands, op.in_shardings, strict=True)
    return all(taken.dims == sharding.dims for operand, taken in pairs if operand is value)


def _is_recomputed_from(value: OpResult | BlockArgument) -> bool:
    """Whether a value is what a recomputation begins with: one after a barrier."""
    op = owning_op(value)
    source = op.input.defining_op if isinstance(op, ShardingConstraintOp) else op
    return isinstance(source, OptimizationBarrierOp)


def _is_broadcast_for(op: Op, value: OpResult) -> bool:
    """Whether JAX broadcasts an operand of an operation to the shape of the others."""
    constraint = value.op
    is_of_broadcast = isinstance(constraint, ShardingConstraintOp) and isinstance(
        constraint.input.defining_op, BroadcastInDimOp
    )
    return is_of_broadcast and constraint.location is op.location


def _is_filled(value: Value) -> bool:
    """Whether a value is what a loop begins with that fills it, such as zeros for what a scan returns."""
    op = value.defining_op
    is_uniform_value = isinstance(op, ShardingConstraintOp) and is_uniform(op.input)
    return is_uniform_value and isinstance(value, OpResult) and (is_derived(value.op) or is_of_loop(value))


def _annotation(value: Value) -> TensorSharding | None:
    return annotation_of(value) if isinstance(value, OpResult | BlockArgument) else None


def _shape(value: Value) -> object:
    return value.type.shape if isinstance(value.type, RankedTensor) else None


def _derived_at(
    op: Op,
    value: OpResult | BlockArgument,
    current: TensorSharding,
    shardings: Mapping[Value, TensorSharding],
    states: Callable[[ShardingConstraintOp], bool],
) -> list[tuple[OpResult, TensorSharding]] | None:
    """What JAX derives for the results of an operation; None if it rejects the operands then.

    An `out_sharding` is written if it differs from what JAX derives without a change, or if `states` says so.
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
    if isinstance(op, DynamicSliceOp) and value is op.operands[0] and _slices_shards(op, shardings[value]):
        return None
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
        if is_sure or (_by_rule(rule, before, stated, is_product) == stated and not states(constraint)):
            known = shardings.get(constraint.results[0])
            if (
                isinstance(op, BroadcastInDimOp)
                and known is not None
                and _is_broadcast_to(op, after[0], known)
            ):
                # Dimensions that the operand lacks have the axes of what it is broadcast for.
                continue
            sharding = _by_rule(rule, after, stated, is_product)
            if sharding is None:
                return None
            derived.append((constraint.results[0], sharding))
    return derived


def _lacks_axes(edit: AnnotationEdit, known: Mapping[Subject, TensorSharding]) -> bool:
    """Whether what is broadcast has an annotation that stays, and lacks axes that its result gets."""
    constraint = edit.replaced
    op = None if constraint is None else constraint.input.defining_op
    if not isinstance(op, BroadcastInDimOp) or not isinstance(
        operand := op.operand, OpResult | BlockArgument
    ):
        return False
    stays = operand not in known and (isinstance(operand, BlockArgument) or not is_derived(operand.op))
    current = annotation_of(operand)
    return stays and current is not None and not _is_broadcast_to(op, current, edit.sharding)


def _is_broadcast_to(op: BroadcastInDimOp, operand: TensorSharding | None, result: TensorSharding) -> bool:
    """Whether a broadcast gives an operand dimensions and axes, and changes none of its own."""
    pairs = zip(op.broadcast_dimensions, operand.dims if operand is not None else (), strict=False)
    shape, of_result = _shape(op.operand), _shape(op.results[0])
    assert isinstance(shape, tuple) and isinstance(of_result, tuple)
    return all(
        dim.axes == result.dims[index].axes
        for size, (index, dim) in zip(shape, pairs, strict=False)
        if size == of_result[index]
    )


def _slices_shards(op: DynamicSliceOp, sharding: TensorSharding) -> bool:
    """Whether one index of a dimension is taken that is sharded, such as that of the layers of a scan."""
    shape = _shape(op.results[0])
    assert isinstance(shape, tuple)
    return any(size == 1 and dim.axes for size, dim in zip(shape, sharding.dims, strict=True))


def _axes_of_factors(
    rule: OpShardingRule, operands: Sequence[TensorSharding | None]
) -> dict[tuple[int, ...], list[tuple[AxisRef, ...]]]:
    """The axes of each dimension of operands that is of one factor, by that."""
    given: dict[tuple[int, ...], list[tuple[AxisRef, ...]]] = {}
    for sharding, mapping in zip(operands, rule.operands, strict=True):
        if sharding is not None and sharding.rank == len(mapping.dims):
            for dim, item in zip(sharding.dims, mapping.dims, strict=True):
                if len(item.factors) == 1:
                    given.setdefault(item.factors, []).append(tuple(dim.axes))
    return given


def _is_summed(rule: OpShardingRule, operands: Sequence[TensorSharding | None]) -> bool:
    """Whether both operands of a product are sharded where it contracts them."""
    free = _free_factors(rule)
    return any(
        free.isdisjoint(factors) and len(axes) > 1 and all(axes)
        for factors, axes in _axes_of_factors(rule, operands).items()
    )


def _free_factors(rule: OpShardingRule) -> set[int]:
    """The factors of the only result."""
    (result,) = rule.results
    return {factor for dim in result.dims for factor in dim.factors}


def _by_rule(
    rule: OpShardingRule, operands: Sequence[TensorSharding | None], stated: TensorSharding, is_product: bool
) -> TensorSharding | None:
    """The sharding of a result from those of operands; None if JAX rejects them.

    That is so if an axis would shard two dimensions, if operands have other axes in what is one dimension, or
    if both have some where a product contracts them. `stated` has the dimensions that no operand has.
    """
    given = _axes_of_factors(rule, operands)
    free = _free_factors(rule)
    if is_product and _is_summed(rule, operands):
        return None
    for factors, axes in given.items():
        if not free.isdisjoint(factors) and len(set(axes if is_product else filter(None, axes))) > 1:
            return None
    axes_of = {factors: next(filter(None, axes), ()) for factors, axes in given.items()}
    (result,) = rule.results
    dims = [
        DimensionSharding(axes_of[item.factors]) if item.factors in axes_of else dim
        for dim, item in zip(stated.dims, result.dims, strict=True)
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
        if op.data_flow is None or isinstance(op, FuncOp | ManualComputationOp):
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

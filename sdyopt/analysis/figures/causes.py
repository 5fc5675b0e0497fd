"""The cause of a collective, as far as the program shows it.

A reduction is necessary where the operand is the partial result of an operation whose reduction factors are
sharded. Every other collective is necessary for what uses its result: an operation in which another dimension
is sharded along the axes, or a boundary such as a call or the results of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from sdyopt.analysis.figures.figures import Report
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.source_locations import (
    GRADIENTS,
    Frame,
    Phase,
    SourceLocation,
    UserLines,
    constraint_text,
    is_shard_map,
    location_within,
    source_location,
)
from sdyopt.analysis.figures.tensor_origins import TensorOrigins
from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import REPLACES, SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, NamedComputationOp, ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp
from sdyopt.mlir.dialects.stablehlo.control_flow import WhileOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.mlir.value_names import name_of, result_text
from sdyopt.shardy.sharding.axis_lists import overlap
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of

# The causes of collectives that no sharding needs: those of the program, and those in the backward pass of a
# shard_map, for values that do not vary along an axis and are used with others that do.
WRITTEN = "written in the program"
TRANSPOSED_PVARY = "the transpose of an implicit pvary"
_BACKWARD_OF = "the backward of "
# The reason for the sharding of a result that the program states: in the program of each device, in JAX.
_ANNOTATED, _OUT_SHARDINGS = "the program states it", "out_shardings state it"
_PSUMS = ("psum", "psum_invariant")
_REDUCTIONS = (AllReduceOp, ReduceScatterOp)
_LOCAL_REDUCTIONS = (stablehlo.AllReduceOp, stablehlo.CrossReplicaSumOp, stablehlo.ReduceScatterOp)


# Of a collective in the backward pass: what JAX transposes into it, as an operation and as it is called.
_TRANSPOSED: dict[type[Op], tuple[type[Op], str]] = {
    stablehlo.ReduceScatterOp: (stablehlo.AllGatherOp, "all_gather"),
    stablehlo.AllGatherOp: (stablehlo.ReduceScatterOp, "psum_scatter"),
    stablehlo.AllToAllOp: (stablehlo.AllToAllOp, "all_to_all"),
    stablehlo.CollectivePermuteOp: (stablehlo.CollectivePermuteOp, "ppermute"),
    stablehlo.AllReduceOp: (stablehlo.AllReduceOp, "psum"),
}
# The collectives of the forward pass, by what they are and their lines.
Written = set[tuple[type[Op], tuple[Frame, ...]]]


def producer(op: Op) -> Value:
    """The value that a collective changes, directly or through the collectives before it."""
    value = op.operand_at(0)
    while isinstance(value, OpResult) and isinstance(value.op, CollectiveOp):
        value = value.op.operand_at(0)
    return value


def consumers(op: Op) -> list[Op]:
    """The operations that use the result of a collective, directly or through other collectives.

    They are in the order of the program, so that the first is in the phase that the collective is for.
    """
    ops: dict[Op, None] = {}
    pending = [op]
    while pending:
        user = pending.pop()
        if user is op or isinstance(user, CollectiveOp):
            pending.extend(user.results[0].users)  # the oldest last, which is popped first
        else:
            ops[user] = None
    return sorted(ops, key=lambda user: _order(user, op.parent)) if len(ops) > 1 else list(ops)


def _order(op: Op, block: Block | None) -> int:
    """The position of an operation, or of the one around it that is in a block."""
    here = next(ancestor for ancestor in (op, *op.ancestors()) if ancestor.parent is block)
    if block is not None and not block.is_ordered:
        block.number()
    return here.order


def location_of(op: Op, origins: TensorOrigins) -> SourceLocation:
    """The location of a collective.

    If that has no line, or the collective changes an argument of the program or a part of one, it is that of
    the first consumer with a line. Otherwise, for a reshard, it is in the function of that consumer.
    """
    location = source_location(op.location)
    is_computed = origins.argument(producer(op)) is None
    if location.line and is_computed and isinstance(op, _REDUCTIONS):
        return location
    locations = ((user, source_location(user.location)) for user in consumers(op))
    # In a program of JAX, a return has the line that lowers the program.
    users = [place for user, place in locations if not (isinstance(user, FuncReturnOp) and place.name_stack)]
    # A line of the text of the program is worse than any line that it states, which has a name stack.
    stated = [user for user in users if user.line and user.name_stack]
    if location.line and is_computed and (location.name_stack or not stated):
        # The location at the line that calls the function whose result is resharded, in the user's function.
        # That is where a person would write the sharding of the value.
        functions = {
            (frame.file, frame.function) for user in stated[:1] for frame in user.frames if frame.function
        }
        for number, frame in enumerate(location.frames):
            if (frame.file, frame.function) in functions:
                return location.at(frame)._replace(frames=location.frames[number:])
        return location
    for of_user in (*stated, *users):
        if of_user.line:
            return of_user._replace(name_stack=of_user.name_stack or location.name_stack)
    return location


class Updates:
    """The operations of the update in a training step: not differentiated, and computed from gradients."""

    def __init__(self) -> None:
        self._known: dict[Op, bool] = {}

    def __contains__(self, op: Op) -> bool:
        """Whether an operation is of the update, or a collective is for one that is."""
        if isinstance(op, CollectiveOp) and not self._is_found(op):
            return any(self._is_found(user) for user in consumers(op)[:1])
        return self._is_found(op)

    def _is_found(self, op: Op) -> bool:
        if op not in self._known and _is_differentiated(op):
            self._known[op] = False
        elif op not in self._known:
            visited = {op: None}
            pending = [op]
            is_true = False
            while pending and not is_true:
                for source in _sources(pending.pop()):
                    if self._known.get(source, False) or _is_gradient(source):
                        is_true = True
                    elif (
                        source not in visited and source not in self._known and not _is_differentiated(source)
                    ):
                        visited[source] = None
                        pending.append(source)
            # What a gradient does not reach has no source that it reaches.
            self._known |= {op: True} if is_true else dict.fromkeys(visited, False)
        return self._known[op]


def _is_gradient(op: Op) -> bool:
    return not isinstance(op, CollectiveOp) and location_within(op).phase is Phase.BACKWARD


def _is_differentiated(op: Op) -> bool:
    return not isinstance(op, CollectiveOp) and location_within(op).is_differentiated


def _sources(op: Op) -> Iterator[Op]:
    """The operations that compute the operands of one, or what its regions return."""
    blocks = (block for region in op.regions for block in region.blocks)
    returned = [block.terminator for block in blocks if block.terminator is not None]
    for item in (op, *returned):
        for value in item.operands:
            if (source := value.defining_op) is not None:
                yield source
            elif isinstance(value, BlockArgument) and item is op and (around := op.parent_op) is not None:
                yield from (
                    defining_op for outer in around.operands if (defining_op := outer.defining_op) is not None
                )


def cause_of(op: CollectiveOp, shapes: LocalShapes, origins: TensorOrigins, lines: UserLines) -> str:
    """The reason for an sdy collective, in a sentence without a full stop."""
    if isinstance(op, _REDUCTIONS) and (reason := _reduction_cause(op, _reduced_axes(op), shapes, origins)):
        return reason
    return _consumer_cause(op, shapes, origins, lines)


def is_of_program(cause: str) -> bool:
    """Whether the program calls a collective, or JAX derives it from one: no annotation changes it."""
    return cause in (WRITTEN, TRANSPOSED_PVARY) or cause.startswith(_BACKWARD_OF)


def written_collectives(module: Op) -> Written:
    """The collectives that the program calls in a shard_map."""
    types = {op_class for op_class, _ in _TRANSPOSED.values()}
    ops = ((op, location_within(op)) for op in module.walk() if type(op) in types)
    return {(type(op), at.frames) for op, at in ops if at.frames and at.phase not in GRADIENTS}


def cause_of_local(op: Op, is_partitioned: bool, written: Callable[[], Written]) -> str:
    """The reason for a StableHLO collective, in a sentence without a full stop.

    The partitioner inserts such collectives in place of an operation that needs elements of other shards. In
    a partitioned program, it is the operation whose partial results it combines, or that uses its result.
    """
    if name := replaced_by(op.parent_op):
        return f"{name.rpartition('.')[2]} needs elements of other shards"
    if not is_partitioned:
        return _written_cause(op, written)
    value = op.operand_at(0) if op.operands else None
    if isinstance(op, _LOCAL_REDUCTIONS) and isinstance(value, OpResult):
        return f"combines the partial results of {op_text(value.op)}"
    users = list(op.results[0].users) if op.results else []
    if not users:
        return "its result is unused"
    more = f" and {len(users) - 1} more need" if len(users) > 1 else " needs"
    is_returned = isinstance(users[0], FuncReturnOp)
    return f"{'a result of the program' if is_returned else op_text(users[0])}{more} its result"


def _written_cause(op: Op, written: Callable[[], Written]) -> str:
    if is_transposed_pvary(op):
        return TRANSPOSED_PVARY
    location = location_within(op)
    if location.phase is Phase.BACKWARD and type(op) in _TRANSPOSED:
        source, name = _TRANSPOSED[type(op)]
        if (source, location.frames) in written():
            return f"{_BACKWARD_OF}{name}"
    return WRITTEN


def is_transposed_pvary(op: Op) -> bool:
    """Whether JAX sums a gradient, because a shard_map uses a value that does not vary along an axis.

    The sum has the location of what computes the gradient. One that is written has a location of its own.
    """
    location = location_within(op)
    if location.phase is not Phase.BACKWARD or location.name_stack.rpartition("/")[2] not in _PSUMS:
        return False
    value = op.operand_at(0)
    source = source_location(value.op.location) if isinstance(value, OpResult) else None
    return source is not None and source.frames == location.frames and bool(source.frames)


def is_repeated_exchange(op: Op, keys: set[Hashable]) -> bool:
    """Whether the partitioner merges a collective with one of those in `found`; if not, it is added.

    That is so if both are in place of operations, and send the same elements of the same operand: the halos
    of two convolutions of one image are exchanged once.
    """
    if not replaced_by(op.parent_op):
        return False
    key = _exchange_key(op, op.parent_op)
    if key in keys:
        return True
    keys.add(key)
    return False


def replaced_by(parent: Op | None) -> str:
    """The name of the operation that a manual computation of the partitioner replaces; "" for others."""
    name = parent.attributes.get(REPLACES) if isinstance(parent, ManualComputationOp) else None
    return name.value if isinstance(name, StringAttr) else ""


def _exchange_key(op: Op, computation: Op | None) -> Hashable:
    """The results of a collective in a manual computation, from the operands of the computation."""
    if op.regions:
        return op
    operands: list[Hashable] = []
    for value in op.operands:
        if isinstance(value, BlockArgument) and computation is not None:
            operands.append(computation.operand_at(value.index))
        elif isinstance(value, OpResult):
            operands.append((_exchange_key(value.op, computation), value.index))
        else:
            operands.append(value)
    attributes = op.signature.attributes.without("channel_handle")
    return type(op), attributes, op.signature.result_types, tuple(operands)


def change_of(op: CollectiveOp, shapes: LocalShapes) -> str:
    """The shardings of `producer` and `last_of_chain`, as `[{"x"}, {}] → [{}, {}]`; "" if they are equal."""
    before, after = shapes.sharding(producer(op)), shapes.sharding(last_of_chain(op))
    if after is None:
        return ""
    old, new = dims_text(before, after.rank), dims_text(after, after.rank)
    return "" if old == new else f"{old} → {new}"


def last_of_chain(op: CollectiveOp) -> Value:
    """The last result of the chain that starts at `op`: each result's only use is the next collective."""
    while True:
        users = list(op.results[0].users)
        if len(users) != 1 or not isinstance(users[0], CollectiveOp):
            return op.results[0]
        op = users[0]


def dims_text(sharding: TensorSharding | None, rank: int) -> str:
    """`[{"x"}, {}]`: the axes of each dimension; `{}` for all dimensions of a value without a sharding."""
    dims = ["{}"] * rank
    if sharding is not None:
        dims = [f"{{{axis_refs_text(dim.axes)}}}" for dim in sharding.dims]
    return f"[{', '.join(dims)}]"


# --- Reductions ---------------------------------------------------------------------------------------


def _reduced_axes(op: Op) -> tuple[AxisRef, ...]:
    assert isinstance(op, _REDUCTIONS)
    return tuple(op.reduction_axes if isinstance(op, AllReduceOp) else op.reduce_scatter_axes.axes)


def _verb(op: Op, operand: Value, dim: int) -> str:
    """What an operation does along a dimension whose shards have partial results."""
    if isinstance(op, DotGeneralOp):
        return "contracts"
    if isinstance(op, GatherOp):
        indexed = op.dimension_numbers.start_index_map
        # A slice may begin at the start of a dimension, and be smaller.
        return "slices" if operand is op.operands[0] and dim not in indexed else "indexes"
    return "reduces over"


def _reduction_cause(op: Op, axes: tuple[AxisRef, ...], shapes: LocalShapes, origins: TensorOrigins) -> str:
    value = producer(op)
    if not isinstance(value, OpResult):
        return ""
    sharding, name = shapes.sharding(value), op_text(value.op)
    if sharding is not None and overlap(sharding.unreduced_axes, axes):
        weights = _weights_summed_up(value, axes, shapes, origins)
        more = f" and {len(weights) - 2} more" if len(weights) > 2 else ""
        of = f" over a dimension of {', '.join(weights[:2])}{more}" if weights else ""
        return f"the result of {name} is a partial sum along {axis_refs_text(axes)}{of}"
    if replaced := replaced_by(value.op):
        return f"combines the partial results of {replaced.removeprefix('stablehlo.')}"
    rows = list(_reduced(value.op, axes, shapes))
    if not rows:
        return ""
    named = [(weight, row) for row in rows if (weight := origins.name(row[0]))]
    if named:
        weight, (operand, dim, sharded) = named[-1]
        verb = _verb(value.op, operand, dim)
        return f"{name} {verb} a dimension of {weight} that is sharded along {axis_refs_text(sharded)}"
    operand, dim, sharded = rows[0]
    along = axis_refs_text(sharded)
    if len(rows) > 1 and isinstance(value.op, DotGeneralOp):
        return f"{name} contracts a dimension that is sharded along {along} on both sides"
    verb = _verb(value.op, operand, dim)
    return f"{name} {verb} dimension {dim} of an operand, which is sharded along {along}"


def _reduced(
    op: Op, axes: tuple[AxisRef, ...], shapes: LocalShapes
) -> Iterator[tuple[Value, int, tuple[AxisRef, ...]]]:
    """(operand, dimension, axes) of the dimensions that an operation reduces and that these axes shard."""
    if (rule := sharding_rule_of(op)) is None:
        return
    for operand, mapping in zip(op.operands, rule.operands, strict=False):
        for dim, factors, sharding in _dims(mapping, shapes.sharding(operand)):
            if overlap(sharding.axes, axes) and any(factor in rule.reduction for factor in factors):
                yield operand, dim, tuple(sharding.axes)


# Partial results are looked for among so many operations.
_MAX_TERMS = 64


def summed_over(op: CollectiveOp, shapes: LocalShapes, origins: TensorOrigins) -> list[str]:
    """The names of the weights over a dimension of which an sdy collective sums up, each once."""
    return (
        _weights_summed_up(producer(op), _reduced_axes(op), shapes, origins)
        if isinstance(op, _REDUCTIONS)
        else []
    )


def summed_dimensions(op: CollectiveOp, shapes: LocalShapes) -> list[tuple[Value, int, tuple[AxisRef, ...]]]:
    """(operand, dimension, axes) of the operations whose partial sums an sdy collective sums up."""
    if not isinstance(op, _REDUCTIONS):
        return []
    axes = _reduced_axes(op)
    terms = _terms(producer(op), axes, shapes)
    return [
        (operand, dim, tuple([axis for axis in sharded if overlap((axis,), axes)]))
        for term in terms
        for operand, dim, sharded in term
    ]


def _weights_summed_up(
    value: Value, axes: tuple[AxisRef, ...], shapes: LocalShapes, origins: TensorOrigins
) -> list[str]:
    texts = dict[str, None]()
    for reduced in _terms(value, axes, shapes):
        names = [name for operand, _, _ in reduced if (name := origins.name(operand))]
        texts |= dict.fromkeys(names[-1:])
    return list(texts)


def _terms(
    value: Value, axes: tuple[AxisRef, ...], shapes: LocalShapes
) -> Iterator[list[tuple[Value, int, tuple[AxisRef, ...]]]]:
    """What `_reduced` finds at each operation that computes a term of a partial sum."""
    pending, visited = [value], {value}
    while pending and len(visited) < _MAX_TERMS:
        value = pending.pop()
        if not isinstance(value, OpResult):
            continue
        reduced = list(_reduced(value.op, axes, shapes))
        yield reduced
        # Sums of partial results, and what is computed of one, are partial results, too.
        for operand in () if reduced else value.op.operands:
            sharding = shapes.sharding(operand)
            is_partial = sharding is not None and overlap(sharding.unreduced_axes, axes)
            if is_partial and operand not in visited:
                visited.add(operand)
                pending.append(operand)


# --- Uses ---------------------------------------------------------------------------------------------


def _consumer_cause(op: CollectiveOp, shapes: LocalShapes, origins: TensorOrigins, lines: UserLines) -> str:
    users = consumers(op)
    if not users:
        return "its result is unused"
    user = users[0]
    more = f" and {len(users) - 1} more" if len(users) > 1 else ""
    if isinstance(user, FuncReturnOp):
        return _returned_by(op, user, shapes, more)
    for kinds, text in _BOUNDARIES:
        if isinstance(user, kinds):
            return text(user) + more
    if user.is_terminator and user.parent_op is not None:
        return f"{op_text(user.parent_op)} yields a value with this sharding{more}"
    source = origins.argument(producer(op))
    origin = "" if source is None else f" of {name_of(source) or 'a function argument'}"
    reason = _conflict(op, user, shapes)
    location = lines.chosen(source_location(user.location))
    is_elsewhere = location.line and location.path_text != lines.chosen(location_of(op, origins)).path_text
    where = f" at {location.file_text}" if is_elsewhere else ""
    needs = "need" if more else "needs"
    return f"{op_text(user)}{where}{more} {needs} this sharding{origin}{f': {reason}' if reason else ''}"


def _returned_by(op: CollectiveOp, user: Op, shapes: LocalShapes, more: str) -> str:
    """The result that has a sharding, and why."""
    function = user.parent_op
    of = f" of @{function.sym_name}" if isinstance(function, FuncOp) else ""
    name, reason = returned_as(op) or f"a result{of}", _reason_of_result(op, shapes)
    because = f": {reason}" if reason else ""
    return f"{name}{more} {'need' if more else 'needs'} this sharding{because}"


def stated_reason(name: str) -> str:
    """The reason for the sharding of a result that the program states; JAX gives results names."""
    return _OUT_SHARDINGS if name.startswith("result") and "@" not in name else _ANNOTATED


def stated_results(module: Op) -> dict[str, str]:
    """By the name of a result, what states its sharding in a program that no pass has changed."""
    reasons: dict[str, str] = {}
    for function in module.nested(FuncOp):
        returned = function.body.blocks[-1].terminator if function.body.blocks else None
        for number, attributes in enumerate(function.result_attributes):
            name = result_text(function, number)
            value = returned.operand_at(number) if isinstance(returned, FuncReturnOp) else None
            if SHARDING in attributes:
                reasons[name] = stated_reason(name)
            elif isinstance(value, OpResult) and isinstance(value.op, ShardingConstraintOp):
                reasons[name] = f"the {constraint_text(value.op)} on it states it"
    return reasons


def with_stated_results(report: Report, stated: Mapping[str, str]) -> Report:
    """A report with what states the shardings of results, by their names in the program as it was written."""
    end = f" this sharding: {_ANNOTATED}"
    for number, collective in enumerate(report.collectives):
        if collective.cause.endswith(end) and (reason := stated.get(collective.cause.split(" need")[0])):
            cause = f"{collective.cause.removesuffix(_ANNOTATED)}{reason}"
            report.collectives[number] = replace(collective, cause=cause)
    return report


def returned_as(op: Op) -> str:
    """The name of the result that a collective returns, such as `result[0]['w']`; "" for any other use."""
    if not isinstance(op, CollectiveOp):
        return ""
    uses = list(last_of_chain(op).uses)
    function = uses[0].owner.parent_op if len(uses) == 1 and isinstance(uses[0].owner, FuncReturnOp) else None
    # A terminator of another dialect may have more operands than the function has results.
    is_result = isinstance(function, FuncOp) and uses[0].index < len(function.result_attributes)
    return result_text(function, uses[0].index) if isinstance(function, FuncOp) and is_result else ""


def _reason_of_result(op: CollectiveOp, shapes: LocalShapes) -> str:
    """Why a result of the program has another sharding than the value that it is; "" if that is unknown.

    Without an annotation, a result has as much of that sharding as it can have. An argument that is returned
    may have less.
    """
    value = last_of_chain(op)
    before, after = shapes.sharding(producer(op)), shapes.sharding(value)
    reason = ""
    if before is not None and after is not None and isinstance(value.type, RankedShapedType):
        for size, old, new, shards in zip(
            value.type.shape, before.dims, after.dims, shapes.shards(before), strict=True
        ):
            if old.axes == new.axes:
                continue
            # Whether all axes of a dimension sharding are axes, or parts of axes, of another one.
            is_part = all(any(axis.overlaps(other) for other in old.axes) for axis in new.axes)
            if not is_part:
                # The program states it, or an argument that is returned got less than the result.
                return ""
            if size > 0 and size % shards:
                reason = reason or f"{size} is not divisible by {shards}"
            elif any(axis.sub_axis is not None for axis in old.axes):
                reason = reason or "results are not sharded along sub-axes"
            else:
                return _ANNOTATED
    return reason or _ANNOTATED


def _taken_by_callee(op: Op) -> str:
    assert isinstance(op, CallOp)
    return f"@{op.callee} takes an argument with this sharding"


# Operations that need a value with a given sharding, whichever operation computes it.
_BOUNDARIES: tuple[tuple[tuple[type[Op], ...], Callable[[Op], str]], ...] = (
    ((CallOp,), _taken_by_callee),
    (
        (ManualComputationOp, NamedComputationOp),
        lambda op: f"{op_text(op)} takes an operand with this sharding",
    ),
    ((WhileOp,), lambda op: "the loop carries a value with this sharding"),
)


def _conflict(op: CollectiveOp, user: Op, shapes: LocalShapes) -> str:
    """The need of the user for another sharding: all of a dimension, or the axes for another one."""
    before, value = shapes.sharding(producer(op)), last_of_chain(op)
    after, rule = shapes.sharding(value), shapes.rule(user)
    if rule is None:
        return "it has no sharding rule"
    numbers = [use.index for use in value.uses if use.owner is user]
    if before is None or after is None or not numbers or before.rank != after.rank:
        return ""
    mapping = rule.operands[min(numbers)]
    for dim, factors, old in _dims(mapping, before):
        lost = tuple(axis for axis in old.axes if not overlap((axis,), after.dims[dim].axes))
        if not lost:
            continue
        if any(factor in rule.need_replication for factor in factors):
            return f"it needs all of dimension {dim}"
        if other := _other_dimension(user, value, rule, factors, lost, shapes):
            return f"{axis_refs_text(lost)} shards {other}"
    return ""


def _other_dimension(
    user: Op,
    operand: Value,
    rule: OpShardingRule,
    factors: Sequence[int],
    axes: tuple[AxisRef, ...],
    shapes: LocalShapes,
) -> str:
    """In words, a dimension with none of the factors that is sharded along some of the axes; "" for none.

    It is a dimension of a result of `user`, of `operand`, or of another operand.
    """
    tensors = [
        *((value, mapping, "its result") for value, mapping in zip(user.results, rule.results, strict=False)),
        *(
            (value, mapping, "this operand" if value is operand else "another operand")
            for value, mapping in zip(user.operands, rule.operands, strict=False)
        ),
    ]
    for value, mapping, name in tensors:
        for dim, others, sharded in _dims(mapping, shapes.sharding(value)):
            if overlap(sharded.axes, axes) and not any(factor in factors for factor in others):
                return f"dimension {dim} of {name}"
    return ""


def _dims(
    mapping: TensorMapping, sharding: TensorSharding | None
) -> Iterator[tuple[int, Sequence[int], DimensionSharding]]:
    """(number, factors, sharding) of each dimension of a tensor; none if it has no sharding."""
    if sharding is not None and sharding.rank == mapping.rank:
        for number, (factors, dim) in enumerate(zip(mapping.dims, sharding.dims, strict=True)):
            yield number, factors.factors, dim


def op_text(op: Op) -> str:
    """The name of an operation in reports: `dot_general`, `custom_call @name` or `shard_map`."""
    if is_shard_map(op):
        return "shard_map"
    name = op.signature.name.removeprefix("stablehlo.")
    return f"{name} @{op.call_target_name}" if isinstance(op, CustomCallOp) else name

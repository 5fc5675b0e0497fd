"""The canonicalizations of scf.if: unused results, selects, known conditions, and ifs that become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from sdyopt.mlir.dialects.arith.compare import SelectOp, make_constant
from sdyopt.mlir.dialects.arith.integers import AndIOp, XOrIOp
from sdyopt.mlir.dialects.scf.conditional import IfOp, YieldOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.interfaces import is_trivially_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import COMMUTATIVE, CONSTANT_LIKE
from sdyopt.mlir.ir.types import I1, Type
from sdyopt.mlir.ir.value import Value


def _block(region: Region) -> Block | None:
    return region.blocks[0] if region.blocks else None


def _yielded(region: Region) -> list[Value]:
    block = _block(region)
    return [] if block is None or block.last is None else block.last.operands


def _fill(
    region: Region, bodies: Sequence[Block | None], yielded: Sequence[Value], rewriter: Rewriter
) -> None:
    """Moves the operations of blocks to an empty region, which yields values; it stays so without blocks.

    The first block itself is moved; its terminator stays where it was. So ifs that are merged one after
    another take linear time.
    """
    blocks = [body for body in bodies if body is not None]
    if not blocks:
        return
    target, source, last = blocks[0], blocks[0].parent, blocks[-1].last
    assert source is not None and target.last is not None and last is not None
    rewriter.take_body(source, region)
    rewriter.move(target.last, at_end_of=source.add_block())
    for body in blocks[1:]:
        for inner in list(body.ops):
            if inner is not body.last:
                rewriter.move(inner, at_end_of=target)
    rewriter.create(YieldOp, yielded, (), at_end_of=target, location=last.location)


# The blocks with the operations of a branch, and what it yields.
_Branch = tuple[Sequence[Block | None], Sequence[Value]]


def _create(
    op: IfOp,
    types: Sequence[Type],
    condition: Value,
    branches: Sequence[_Branch],
    rewriter: Rewriter,
    keeps_attributes: bool = False,
) -> Op:
    regions = [Region(), Region()]
    new = rewriter.create(
        IfOp,
        [condition],
        types,
        dict(op.attributes.entries) if keeps_attributes else {},
        before=op,
        regions=regions,
        location=op.location,
    )
    for region, (bodies, yielded) in zip(regions, branches, strict=True):
        _fill(region, bodies, yielded, rewriter)
    return new


def _constant(value: int, op: Op, rewriter: Rewriter) -> Value:
    constant = make_constant(integer(value, I1), I1, op.location)
    assert constant is not None
    rewriter.insert(constant, before=op)
    return constant.results[0]


def _is_negation_of(value: Value, condition: Value) -> bool:
    """Whether a value is `condition xor true`."""
    op = value.defining_op
    if not isinstance(op, XOrIOp) or op.lhs is not condition:
        return False
    constant = constant_value(op.rhs.defining_op)
    return isinstance(constant, IntegerAttr) and bool(constant.value)


def _drop_unused_results(op: IfOp, rewriter: Rewriter) -> bool:
    kept = [index for index, result in enumerate(op.results) if result.has_uses]
    if len(kept) == len(op.results):
        return False
    new = _keep_results(op, kept, rewriter, keeps_attributes=True)
    for index, result in zip(kept, new.results, strict=True):
        rewriter.replace_all_uses(op.results[index], result)
    rewriter.erase(op)
    return True


def _keep_results(op: IfOp, kept: Sequence[int], rewriter: Rewriter, *, keeps_attributes: bool) -> Op:
    branches: list[_Branch] = []
    for region in op.regions:
        values = _yielded(region)
        branches.append(([_block(region)], [values[index] for index in kept]))
    types = [op.result_types[index] for index in kept]
    return _create(op, types, op.condition, branches, rewriter, keeps_attributes=keeps_attributes)


def _select_outer_values(op: IfOp, rewriter: Rewriter) -> bool:
    """Selects between values that both branches yield from outside."""
    then_values, else_values = _yielded(op.then_region), _yielded(op.else_region)
    pairs = list(zip(then_values, else_values, strict=False))
    inner = [
        index
        for index, (then_value, else_value) in enumerate(pairs)
        if _region_of(then_value) is op.then_region or _region_of(else_value) is op.else_region
    ]
    if not op.results or len(inner) == len(op.results):
        return False
    results: dict[int, Value] = {}
    for index, (then_value, else_value) in enumerate(pairs):
        if index in inner:
            continue
        if then_value is else_value:
            results[index] = then_value
            continue
        operands = [op.condition, then_value, else_value]
        select = rewriter.create(SelectOp, operands, [then_value.type], before=op, location=op.location)
        results[index] = select.results[0]
    new = _keep_results(op, inner, rewriter, keeps_attributes=False)
    results.update(zip(inner, new.results, strict=True))
    rewriter.replace(op, [results[index] for index in range(len(op.results))])
    return True


def _region_of(value: Value) -> Region | None:
    block = value.block
    return None if block is None else block.parent


# The operations of a small body, in which all uses of the condition are looked for.
_FEW = 64


def _propagate_condition(op: IfOp, rewriter: Rewriter) -> bool:
    """Replaces the condition in the branches with a constant."""
    if constant_value(op.condition.defining_op) is not None:
        return False
    # The condition may have many uses, such as those by other ifs.
    body = list(islice(op.walk(), _FEW))
    if len(body) < _FEW and not any(op.condition in inner.operands for inner in body if inner is not op):
        return False
    constants: dict[int, Value] = {}
    # Most uses are those by other ifs beside this one; they are passed quickly.
    use, block, nested = op.condition.first_use, op.parent, []
    while use is not None:
        if use.owner.parent is not block:
            nested.append(use)
        use = use.next_use
    for use in nested:
        region = use.owner.parent_region
        value = 1 if op.then_region.is_ancestor(region) else 0 if op.else_region.is_ancestor(region) else None
        if value is not None:
            if value not in constants:
                constants[value] = _constant(value, op, rewriter)
            rewriter.set_operand(use, constants[value])
    return bool(constants)


def _drop_empty_else(op: IfOp, rewriter: Rewriter) -> bool:
    block = _block(op.else_region)
    if op.results or block is None or block.first is not block.last:
        return False
    branches: list[_Branch] = [([_block(op.then_region)], ()), ((), ())]
    _create(op, (), op.condition, branches, rewriter, keeps_attributes=True)
    rewriter.erase(op)
    return True


def _use_condition(op: IfOp, rewriter: Rewriter) -> bool:
    """Replaces results that are equal in both branches, or the condition or its negation."""
    has_changed = False
    for then_value, else_value, result in zip(
        _yielded(op.then_region), _yielded(op.else_region), op.results, strict=False
    ):
        if not result.has_uses:
            continue
        replacement = then_value if then_value is else_value else None
        constants = [constant_value(value.defining_op) for value in (then_value, else_value)]
        if replacement is None and result.type is I1 and all(isinstance(c, IntegerAttr) for c in constants):
            numbers = [c.value for c in constants if isinstance(c, IntegerAttr)]
            if numbers == [0, 1]:
                operands = [op.condition, _constant(1, op, rewriter)]
                negation = rewriter.create(XOrIOp, operands, [I1], before=op, location=op.location)
                replacement = negation.results[0]
            elif numbers == [1, 0]:
                replacement = op.condition
        if replacement is not None:
            rewriter.replace_all_uses(result, replacement)
            has_changed = True
    return has_changed


def _merge_with_previous(op: IfOp, rewriter: Rewriter) -> bool:
    """Merges an if into the one before it, on the same condition or its negation, with those that follow.

    Each merged if has the results of all, so merging one after another would take quadratic time.
    """
    previous = op.prev
    if not isinstance(previous, IfOp):
        return False
    condition, regions = previous.condition, list(op.regions)
    if _is_negation_of(op.condition, condition) or _is_negation_of(condition, op.condition):
        regions.reverse()
    elif op.condition is not condition:
        return False
    merged = [previous, op, *_following(op, condition)]
    # The regions of each branch of the merged if.
    sides = list(zip(previous.regions, regions, *(other.regions for other in merged[2:]), strict=True))
    _use_yielded_values(merged, sides, rewriter)
    branches: list[_Branch] = [
        (list(map(_block, side)), list(chain.from_iterable(map(_yielded, side)))) for side in sides
    ]
    types = [type for merged_op in merged for type in merged_op.result_types]
    results = _create(merged[-1], types, condition, branches, rewriter).results
    end = len(results)
    for merged_op in reversed(merged):
        start = end - len(merged_op.results)
        rewriter.replace(merged_op, list(results[start:end]))
        end = start
    return True


def _following(op: IfOp, condition: Value) -> Iterator[IfOp]:
    """The ifs on a condition that follow `op`, as long as nothing in the merged ones is rewritten before."""
    following = op.next
    while (
        isinstance(following, IfOp)
        and following.condition is condition
        and not is_trivially_dead(following)
        and _is_inert(op, condition)
    ):
        yield following
        op, following = following, following.next


def _is_inert(op: IfOp, condition: Value) -> bool:
    """Whether no pattern matches an if once it is merged, or an operation in it."""
    for inner in op.walk():
        if inner is not op and (
            type(inner).fold is not None
            or type(inner).canonicalizations
            or not inner.traits.isdisjoint((COMMUTATIVE, CONSTANT_LIKE))
            or condition in inner.operands
        ):
            return False
    yielded = zip(*map(_yielded, op.regions), strict=False)
    return all(
        any(_region_of(value) is region for value, region in zip(values, op.regions, strict=True))
        for values in yielded
    )


def _use_yielded_values(ops: Sequence[IfOp], sides: Sequence[Sequence[Region]], rewriter: Rewriter) -> None:
    """Replaces the results of ifs in the branches of those after them by what the same branch yields."""
    side_of = {region: number for number, side in enumerate(sides) for region in side}
    for op, *regions in zip(ops, *sides, strict=True):
        for result, *values in zip(op.results, *map(_yielded, regions), strict=False):
            for use in list(result.uses):
                region = use.owner.parent_region
                while region is not None and region not in side_of:
                    region = None if region.parent is None else region.parent.parent_region
                if region is not None:
                    rewriter.set_operand(use, values[side_of[region]])


def _merge_nested(op: IfOp, rewriter: Rewriter) -> bool:
    """Merges an if that is all that another one does, if neither does anything else."""
    then_block, else_block = _block(op.then_region), _block(op.else_region)
    nested = None if then_block is None else then_block.first
    if then_block is None or not isinstance(nested, IfOp) or nested.next is not then_block.last:
        return False
    if any(
        block is not None and block.first is not block.last
        for block in (else_block, _block(nested.else_region))
    ):
        return False
    then_values, else_values = list(_yielded(op.then_region)), _yielded(op.else_region)
    selected = []
    for index, value in enumerate(then_values):
        if value.defining_op is nested:
            position = [result is value for result in nested.results].index(True)
            if _yielded(nested.else_region)[position] is not else_values[index]:
                return False
            then_values[index] = _yielded(nested.then_region)[position]
        elif _region_of(value) is op.then_region:
            return False
        else:
            selected.append(index)
    operands = [op.condition, nested.condition]
    both = rewriter.create(AndIOp, operands, [I1], before=op, location=op.location).results[0]
    selects: dict[int, Value] = {}
    for index in selected:
        operands = [op.condition, then_values[index], else_values[index]]
        select = rewriter.create(SelectOp, operands, [operands[1].type], before=op, location=op.location)
        selects[index] = select.results[0]
    branches: list[_Branch] = [
        ([_block(nested.then_region)], then_values),
        ([else_block] if else_values else (), else_values),
    ]
    merged = _create(op, op.result_types, both, branches, rewriter)
    for else_yield in [block.last for block in merged.regions[1].blocks if block.last is not None]:
        rewriter.set_location(else_yield, op.location)
    rewriter.replace(op, [selects.get(index, result) for index, result in enumerate(merged.results)])
    return True


def _swap_branches(op: IfOp, rewriter: Rewriter) -> bool:
    """Swaps the branches of an if on a negated condition."""
    negation = op.condition.defining_op
    if not op.else_region.blocks or not isinstance(negation, XOrIOp):
        return False
    if not _is_negation_of(op.condition, negation.lhs):
        return False
    branches: list[_Branch] = [([_block(region)], _yielded(region)) for region in reversed(op.regions)]
    new = _create(op, op.result_types, negation.lhs, branches, rewriter, keeps_attributes=True)
    rewriter.replace(op, new)
    return True


IfOp.canonicalizations = (
    Pattern(_swap_branches),
    Pattern(_merge_with_previous),
    Pattern(_merge_nested),
    Pattern(_propagate_condition),
    Pattern(_select_outer_values),
    Pattern(_drop_empty_else),
    *IfOp.canonicalizations,
    Pattern(_use_condition),
    Pattern(_drop_unused_results),
)

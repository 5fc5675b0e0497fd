"""The canonicalizations of scf.for and scf.while that follow values through them.

In scf.while, a value flows from the operands to the arguments of the first region, from scf.condition to
those of the second region and to the results, and from scf.yield back to the first region.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.arith.compare import CmpIOp, make_constant
from sdyopt.mlir.dialects.scf.conditional import YieldOp
from sdyopt.mlir.dialects.scf.loops import ConditionOp, ForOp, WhileOp, clone_body
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1
from sdyopt.mlir.ir.value import BlockArgument, Value

Flow = list[dict[Value, tuple[Value, ...]]]


def _flow(op: ForOp | WhileOp) -> Flow:
    """Of the arguments of each region, and of the results: the values that flow to each of them."""
    if isinstance(op, ForOp):
        block = op.body.blocks[0]
        assert block.last is not None
        carried = list(zip(op.inits, block.last.operands, strict=True))
        targets: tuple[Sequence[Value], ...] = (block.arguments[1:], op.results)
        return [dict(zip(values, carried, strict=True)) for values in targets]
    before, after = op.before.blocks[0], op.after.blocks[0]
    condition, last = before.last, after.last
    assert isinstance(condition, ConditionOp) and last is not None
    forwarded = [(value,) for value in condition.values]
    return [
        dict(zip(before.arguments, zip(op.inits, last.operands, strict=True), strict=True)),
        dict(zip(after.arguments, forwarded, strict=True)),
        dict(zip(op.results, forwarded, strict=True)),
    ]


def _forward_single_source(op: ForOp | WhileOp, rewriter: Rewriter) -> bool:
    """Replaces what always has the same value from outside the loop with that value."""
    flow = _flow(op)
    sources = {target: values for targets in flow for target, values in targets.items()}
    targets_of: dict[Value, list[Value]] = {}
    for target, values in sources.items():
        for value in values:
            targets_of.setdefault(value, []).append(target)
    # The one value from which each target comes, or None if there are several.
    origins: dict[Value, Value | None] = {value: value for value in targets_of if value not in sources}
    worklist = list(origins)
    while worklist:
        value = worklist.pop()
        for target in targets_of.get(value, ()):
            origin = origins[value] if origins.get(target, origins[value]) is origins[value] else None
            if target not in origins or origins[target] is not origin:
                origins[target] = origin
                worklist.append(target)
    has_changed = False
    for target in sources:
        single = origins.get(target)
        if single is not None and target.has_uses and _is_outside(single, op):
            rewriter.replace_all_uses(target, single)
            has_changed = True
    return has_changed


def _is_outside(value: Value, op: Op) -> bool:
    block = value.block
    while block is not None:
        parent = block.parent_op
        if parent is op:
            return False
        block = None if parent is None else parent.parent
    return True


def _merge_duplicates(op: ForOp | WhileOp, rewriter: Rewriter) -> bool:
    """Uses one of several arguments of a region, or results, to which the same values flow."""
    has_changed = False
    for targets in _flow(op):
        firsts: dict[tuple[Value, ...], Value] = {}
        for target, values in targets.items():
            first = firsts.setdefault(values, target)
            if first is not target and target.has_uses:
                rewriter.replace_all_uses(target, first)
                has_changed = True
    return has_changed


def _drop_unused(op: WhileOp, rewriter: Rewriter) -> bool:
    """Removes values that the loop does not change, or that neither a region nor a user of the loop needs."""
    before, after = op.before.blocks[0], op.after.blocks[0]
    condition, last = before.last, after.last
    assert isinstance(condition, ConditionOp) and last is not None
    forwarded, yielded = condition.operands[1:], last.operands
    # The initial values of what does not change: by argument of the first region, and by position after it.
    unchanged: dict[Value, Value] = {}
    invariant: dict[int, Value] = {}
    carried = dict(zip(before.arguments, zip(op.inits, yielded, strict=True), strict=True))
    for position, value in enumerate(forwarded):
        if isinstance(value, BlockArgument) and value in carried:
            init, next_value = carried[value]
            if next_value is after.arguments[position]:
                unchanged[value] = init
                invariant[position] = init
    kept_arguments = [
        number
        for number, argument in enumerate(before.arguments)
        if argument not in unchanged and argument.has_uses
    ]
    kept_results = [
        position
        for position, (argument, result) in enumerate(zip(after.arguments, op.results, strict=True))
        if position not in invariant and (argument.has_uses or result.has_uses)
    ]
    kept_positions = set(kept_results)
    if len(kept_arguments) == len(before.arguments) and len(kept_results) == len(op.results):
        return False
    new_before, new_after = Region(), Region()
    mapping: dict[Value, Value] = dict(unchanged)
    block = new_before.add_block()
    for number in kept_arguments:
        argument = before.arguments[number]
        mapping[argument] = rewriter.add_argument(block, argument.type, argument.location)
    clone_body(before, block, mapping, rewriter)
    kept = [condition.condition, *(forwarded[position] for position in kept_results)]
    operands = [mapping.get(value, value) for value in kept]
    rewriter.create(ConditionOp, operands, (), at_end_of=block, location=condition.location)
    block = new_after.add_block()
    for position, argument in enumerate(after.arguments):
        if position in invariant:
            mapping[argument] = invariant[position]
        elif position in kept_positions:
            mapping[argument] = rewriter.add_argument(block, argument.type, argument.location)
    clone_body(after, block, mapping, rewriter)
    operands = [mapping.get(yielded[number], yielded[number]) for number in kept_arguments]
    rewriter.create(YieldOp, operands, (), at_end_of=block, location=last.location)
    loop = rewriter.create(
        type(op),
        [op.inits[number] for number in kept_arguments],
        [op.result_types[position] for position in kept_results],
        dict(op.attributes.entries),
        before=op,
        regions=[new_before, new_after],
        location=op.location,
    )
    for position, result in enumerate(op.results):
        if position in invariant:
            rewriter.replace_all_uses(result, invariant[position])
    for position, new_result in zip(kept_results, loop.results, strict=True):
        rewriter.replace_all_uses(op.results[position], new_result)
    rewriter.erase(op)
    return True


def _align_arguments(op: WhileOp, rewriter: Rewriter) -> bool:
    """Forwards the arguments of the first region in order, if these are all that is forwarded."""
    before, after = op.before.blocks[0], op.after.blocks[0]
    condition = before.last
    assert isinstance(condition, ConditionOp)
    arguments: list[Value] = list(before.arguments)
    if condition.values == arguments or len(condition.values) != len(arguments):
        return False
    if set(condition.values) != set(arguments):
        return False
    numbers = {argument: number for number, argument in enumerate(arguments)}
    order = [numbers[value] for value in condition.values]
    for targets in (after.arguments, op.results):
        # All uses change at the same time.
        uses = [
            (use, targets[position])
            for target, position in zip(targets, order, strict=True)
            for use in target.uses
        ]
        for use, target in uses:
            rewriter.set_operand(use, target)
    rewriter.set_operands(condition, [condition.condition, *arguments])
    return True


_INVERSE = {"eq": "ne", "slt": "sge", "sle": "sgt", "ult": "uge", "ule": "ugt"}
_INVERSE |= {inverse: keyword for keyword, inverse in _INVERSE.items()}


def _propagate_condition(op: WhileOp, rewriter: Rewriter) -> bool:
    """Replaces in the second region what the condition, or a comparison that it is, makes constant."""
    condition = op.before.blocks[0].last
    assert isinstance(condition, ConditionOp)
    comparison = condition.condition.defining_op
    has_changed = False
    for value, argument in zip(condition.values, op.after.blocks[0].arguments, strict=True):
        if value is condition.condition and argument.has_uses:
            rewriter.replace_all_uses(argument, _boolean(True, op, rewriter))
            has_changed = True
        if not isinstance(comparison, CmpIOp):
            continue
        for index in (0, 1):
            other = comparison.operand_at(1 - index)
            if value is not comparison.operand_at(index):
                continue
            for use in list(argument.uses):
                user = use.owner
                is_same = (
                    isinstance(user, CmpIOp) and use.index == index and user.operand_at(1 - index) is other
                )
                if not is_same or not isinstance(user, CmpIOp) or not user.results[0].has_uses:
                    continue
                if user.keyword in (comparison.keyword, _INVERSE[comparison.keyword]):
                    known = _boolean(user.keyword == comparison.keyword, user, rewriter)
                    rewriter.replace_all_uses(user.results[0], known)
                    has_changed = True
    return has_changed


def _boolean(value: bool, before: Op, rewriter: Rewriter) -> Value:
    constant = make_constant(integer(int(value), I1), I1, before.location)
    assert constant is not None
    rewriter.insert(constant, before=before)
    return constant.results[0]


ForOp.canonicalizations = (
    ForOp.canonicalizations[0],
    Pattern(_forward_single_source),
    Pattern(_merge_duplicates),
    *ForOp.canonicalizations[1:],
)
WhileOp.canonicalizations = (
    Pattern(_align_arguments),
    Pattern(_propagate_condition),
    Pattern(_forward_single_source),
    Pattern(_merge_duplicates),
    Pattern(_drop_unused),
)

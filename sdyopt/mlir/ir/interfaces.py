"""Queries of any operation: memory effects, regions and terminators, data-flow edges, branches.

Memory effects are those that dead code elimination and CSE need. The traits constrain the parent of an
operation, or the blocks of its regions, and are checked as in MLIR. Branches are terminators with successor
operands, which become the arguments of the successor blocks.

Data-flow edges of region-branching operations are those of Shardy's ShardableDataFlowOpInterface. An edge
connects sources (operands of the operation, or of the terminators of its regions) with targets (results, or
block arguments of its regions). One of the targets is the edge's owner. All sources and targets of an edge
should have the same sharding, so propagation along edges passes shardings into and out of regions.

    class WhileOp(Op):
        data_flow = LOOP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import accumulate

from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import OPERAND_SEGMENTS, operand_ranges
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import (
    NO_MEMORY_EFFECT,
    NO_TERMINATOR,
    PURE,
    RECURSIVE_EFFECTS,
    SYMBOL,
    TERMINATOR,
    Trait,
)
from sdyopt.mlir.ir.value import BlockArgument, OpOperand, OpResult, Value


def is_trivially_dead(op: Op) -> bool:
    """Whether the operation is unused and can be erased (`isOpTriviallyDead`)."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return would_be_dead(op)


def would_be_dead(op: Op, known_effects: dict[Op, bool] | None = None) -> bool:
    """Whether the operation can be erased once it is unused (`wouldOpBeTriviallyDead`).

    `known_effects` is that of `is_memory_effect_free`.
    """
    traits = op.traits
    if TERMINATOR in traits or (SYMBOL in traits and op.attribute("sym_name") is not None):
        return False
    return is_memory_effect_free(op, known_effects)


def is_memory_effect_free(op: Op, known: dict[Op, bool] | None = None) -> bool:
    """Whether the operation is known to have no memory effects (`isMemoryEffectFree`).

    The operations in its regions count only if it has the trait RECURSIVE_EFFECTS. `known` has the answers
    for such operations, and new ones are added: else who asks for all nested operations gets n² of them.
    """
    traits = op.traits
    if RECURSIVE_EFFECTS in traits:
        if known is not None and op in known:
            return known[op]
        is_free = all(
            is_memory_effect_free(child, known)
            for region in op.regions
            for block in region.blocks
            for child in block.ops
        )
        if known is not None:
            known[op] = is_free
        return is_free
    check = type(op).is_effect_free
    if check is not None:
        return check(op.signature)
    return PURE in traits or NO_MEMORY_EFFECT in traits


def terminator_of(region: Region) -> Op:
    """The terminator of the only block of a region."""
    last = region.blocks[0].last if region.blocks else None
    if last is None:
        assert region.parent is not None
        raise region.parent.op_error("has a region without a terminator, which its data-flow edges need")
    return last


def has_parent(*names: str) -> Trait:
    """The parent must be an operation of one of these names (`HasParent`)."""
    listed = ", ".join(names)

    def check(op: Op) -> None:
        parent = op.parent_op
        if parent is None or parent.signature.name not in names:
            expected = f"to be one of '{listed}'" if len(names) > 1 else f"'{listed}'"
            error = op.op_error(f"expects parent op {expected}")
            raise error.help(f"move the operation directly into `{' or '.join(names)}`")

    return Trait(f"has parent {listed}", verify_in_context=check)


def ends_with(name: str, is_implied: bool = False) -> Trait:
    """Regions have at most one block, whose last op has this name (`SingleBlockImplicitTerminator`).

    A name without a dialect, `return`, is that of an operation of the same dialect. `is_implied` is whether
    the text may leave it out.
    """

    def check(op: Op) -> None:
        expected = name if "." in name else f"{op.dialect_name}.{name}"
        for region in op.regions:
            last = region.blocks[0].last if region.blocks else None
            if last is not None and last.signature.name != expected:
                message = f"expects regions to end with '{expected}', found '{last.signature.name}'"
                if not is_implied:
                    raise op.op_error(message).help(f"end the region with `{expected}`")
                raise op.op_error(message).note(
                    f"in custom textual format, the absence of terminator implies '{expected}'"
                )

    return Trait(
        f"ends with {name}",
        verify_regions=check,
        verify_structure=_check_single_block,
        terminator=name,
        implies_terminator=is_implied,
    )


def _check_single_block(op: Op) -> None:
    for index, region in enumerate(op.regions):
        if not region.blocks:
            continue
        if len(region.blocks) > 1:
            raise op.op_error(f"expects region #{index} to have 0 or 1 blocks")
        if region.blocks[0].first is None and NO_TERMINATOR not in op.traits:
            raise op.op_error("expects a non-empty block")


def _check_no_arguments(op: Op) -> None:
    for region in op.regions:
        if region.blocks and region.blocks[0].arguments:
            number = f" #{region.index}" if len(op.regions) > 1 else ""
            raise op.op_error(f"region{number} should have no arguments")


# Entry blocks have no arguments (`NoRegionArguments`).
NO_REGION_ARGUMENTS = Trait("no-region-arguments", verify_structure=_check_no_arguments)
# Each region has at most one block, which is not empty unless the operation has the trait NO_TERMINATOR.
SINGLE_BLOCK = Trait("single-block", verify_structure=_check_single_block)


def has_single_blocks(op: Op) -> bool:
    """Whether each region of an operation has at most one block."""
    return any(trait.verify_structure is _check_single_block for trait in op.traits)


class DataFlow:
    """The data-flow edges of an operation class. By default, result i is the owner of edge i."""

    def owners(self, op: Op) -> Sequence[Value]:
        """The owner of each edge."""
        return op.results

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        """The owner of the edge with this target.

        None if no edge has this target, which is invalid; the verifier reports it.
        """
        assert isinstance(target, OpResult | BlockArgument)
        return op.results[target.index] if target.index < len(op.results) else None

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        """The sources of an edge."""
        raise NotImplementedError

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        """The targets of an edge other than its owner."""
        return []


class _SingleBody(DataFlow):
    """Operands flow to the arguments of the only block, and returned values to the results."""

    def owners(self, op: Op) -> Sequence[Value]:
        return (*op.regions[0].blocks[0].arguments, *op.results)

    def owner_of_target(self, op: Op, target: Value) -> Value | None:
        return target

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        if isinstance(owner, BlockArgument):
            return [_operand_use(op, owner.index)]
        assert isinstance(owner, OpResult)
        return [_operand_use(terminator_of(op.regions[0]), owner.index)]


class _Loop(DataFlow):
    """The op's operands and the last region's returned values flow to all region arguments and results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        terminator = terminator_of(op.regions[-1])
        return [_operand_use(op, owner.index), _operand_use(terminator, owner.index)]

    def other_targets(self, op: Op, owner: Value) -> list[Value]:
        assert isinstance(owner, OpResult)
        blocks = [region.blocks[0] for region in op.regions if region.blocks]
        if len(blocks) < len(op.regions) or any(owner.index >= len(block.arguments) for block in blocks):
            raise op.op_error(f"has no block argument {owner.index} for the data-flow edge of its result")
        return [block.arguments[owner.index] for block in blocks]


class _Branches(DataFlow):
    """The values that each region returns flow to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [_operand_use(terminator_of(region), owner.index) for region in op.regions]


class _OperandsToResults(DataFlow):
    """Operands flow to the results."""

    def sources(self, op: Op, owner: Value) -> list[OpOperand]:
        assert isinstance(owner, OpResult)
        return [_operand_use(op, owner.index)]


def _operand_use(op: Op, index: int) -> OpOperand:
    """An operand that is the source of a data-flow edge. A plugin may not verify that there is one."""
    if index >= len(op.operand_uses):
        raise op.op_error(f"has no operand {index} for the data-flow edge that it is a source of")
    return op.operand_uses[index]


SINGLE_BODY = _SingleBody()
LOOP = _Loop()
BRANCHES = _Branches()
OPERANDS_TO_RESULTS = _OperandsToResults()


def successor_operand_ranges(branch: Op) -> Sequence[tuple[int, int]]:
    """The operands that a branch forwards to each successor: (index of the first, number of them)."""
    ranges = branch.signature.cached(_successor_ranges)
    missing = len(branch.successors) - len(ranges)
    return ranges if missing <= 0 else [*ranges, *[(0, 0)] * missing]


def _successor_ranges(signature: OpSignature) -> list[tuple[int, int]]:
    *single, last = signature.op_class.successor_operands
    by_name = operand_ranges(signature)
    ranges = [by_name[name] for name in single]
    start, count = by_name[last]
    sizes = _segments(signature)
    if sizes is None:
        return [*ranges, (start, count)]
    ends = accumulate(sizes, initial=start)
    return [*ranges, *zip(ends, sizes, strict=False)]


def _successor_group(branch: Op, successor_index: int) -> tuple[str, int | None]:
    """The field of the operands for a successor, and the number of the segment if it is one of several."""
    names = branch.successor_operands
    last = len(names) - 1
    if not branch.successor_segments or successor_index < last:
        return names[successor_index], None
    return names[last], successor_index - last


def _segments(signature: OpSignature) -> tuple[int, ...] | None:
    """The number of operands for each of the variadic successors."""
    name = signature.op_class.successor_segments
    sizes = signature.attributes.get(name) if name else None
    return sizes.values if isinstance(sizes, DenseArray) else None


def forwarded_operands(op: Op) -> Set[int]:
    """The indices of the operands that are forwarded to successors; empty if the class declares none."""
    if not op.successor_operands:
        return set()
    ranges = successor_operand_ranges(op)
    return {index for start, count in ranges for index in range(start, start + count)}


class IncomingBranches:
    """The branches to blocks, as they are when a block of the region is first asked for."""

    def __init__(self) -> None:
        self._edges: dict[Region, dict[Block, list[tuple[Op, int]]]] = {}

    def to(self, block: Block) -> list[tuple[Op, int]]:
        """Branches, each with the index of the block in its successors, once per such index."""
        region = block.parent
        assert region is not None
        edges = self._edges.get(region)
        if edges is None:
            edges = self._edges[region] = {}
            for branch in [other.last for other in region.blocks if other.last is not None]:
                for successor_index, successor in enumerate(branch.successors):
                    edges.setdefault(successor, []).append((branch, successor_index))
        return edges.get(block, [])

    def forwarded(self, argument: BlockArgument) -> list[Value]:
        """The values that the branches forward to an argument now; a branch may declare no such operands."""
        values = []
        for branch, successor_index in self.to(argument.block):
            if branch.successor_operands:
                start, _ = successor_operand_ranges(branch)[successor_index]
                values.append(branch.operand_at(start + argument.index))
        return values


def successor_operand_values(branch: Op, successor_index: int) -> list[Value]:
    """The operands that a branch forwards to a successor."""
    start, count = successor_operand_ranges(branch)[successor_index]
    return [use.value for use in branch.operand_uses[start : start + count]]


def append_successor_operands(rewriter: Rewriter, branch: Op, added: Mapping[int, Sequence[Value]]) -> None:
    """Appends values to the operands that a branch forwards to its successors, by their indices."""
    ranges = successor_operand_ranges(branch)
    operands = list(branch.operands)
    sizes = {name: size for name, (_, size) in operand_ranges(branch.signature).items()}
    segments = list(_segments(branch.signature) or ())
    fields = list(sizes)
    groups = {index: _successor_group(branch, index) for index in added}
    # From the last operands to the first: a successor without operands starts where the next one does.
    for index in sorted(added, key=lambda index: (fields.index(groups[index][0]), index), reverse=True):
        end, values = sum(ranges[index]), added[index]
        operands[end:end] = values
        name, segment = groups[index]
        sizes[name] += len(values)
        if segment is not None:
            segments[segment] += len(values)
    _set_operands(rewriter, branch, operands, list(sizes.values()), segments)


def keep_successor_operands(rewriter: Rewriter, branch: Op, kept: Set[BlockArgument]) -> None:
    """Erases the successor operands of all block arguments that are not in `kept`."""
    dropped: set[int] = set()
    segments = list(_segments(branch.signature) or ())
    for (successor_index, block), (start, _) in zip(
        enumerate(branch.successors), successor_operand_ranges(branch), strict=True
    ):
        positions = [start + argument.index for argument in block.arguments if argument not in kept]
        dropped.update(positions)
        _, segment = _successor_group(branch, successor_index)
        if segment is not None:
            segments[segment] -= len(positions)
    if not dropped:
        return
    ranges = operand_ranges(branch.signature).values()
    sizes = [sum(index not in dropped for index in range(start, start + count)) for start, count in ranges]
    values = [value for index, value in enumerate(branch.operands) if index not in dropped]
    _set_operands(rewriter, branch, values, sizes, segments)


def _set_operands(
    rewriter: Rewriter,
    branch: Op,
    values: Sequence[Value],
    sizes: Sequence[int],
    segments: Sequence[int] | None,
) -> None:
    """Sets the operands, the number of them in each field, and that for each of the variadic successors."""
    rewriter.set_operands(branch, values)
    for name, counts in ((OPERAND_SEGMENTS, sizes), (branch.successor_segments, segments)):
        old = branch.signature.attributes.get(name) if name and counts is not None else None
        if isinstance(old, DenseArray) and counts is not None:
            rewriter.set_attribute(branch, name, DenseArray(old.element, tuple(counts)))

"""One call replaced by the body of the function, copied or, if nobody else calls it, moved.

The order of new uses is that of MLIR, because it decides what later passes see first.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.diagnostics.location import CallSite, Location, UnknownLoc
from sdyopt.dialects.cf import BranchOp
from sdyopt.dialects.func import CallOp, FuncOp
from sdyopt.ir.block import Block, Region
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.value import Value

from .call_graph import calls_by_block


def inline_call(call: CallOp, callee: FuncOp, rewriter: Rewriter, moves: bool) -> list[CallOp]:
    """Puts the body of a function in place of a call; returns the calls in it.

    A body that is moved leaves the function without one.
    """
    blocks = _moved_blocks(call, callee, rewriter) if moves else _copied_blocks(call, callee, rewriter)
    # A call that is nowhere leaves what takes its place where it was.
    if not isinstance(call.location, UnknownLoc):
        _locate(blocks, call.location, rewriter)
    calls = list(calls_by_block(blocks))
    if len(blocks) == 1:
        _put_one(blocks[0], call, rewriter)
    else:
        _put_several(blocks, call, rewriter)
    return calls


def _copied_blocks(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> list[Block]:
    copy = Region()
    arguments: dict[Value, Value] = dict(zip(callee.entry.arguments, call.operands, strict=True))
    rewriter.copy_region(callee.body, copy, arguments)
    return copy.blocks


def _moved_blocks(call: CallOp, callee: FuncOp, rewriter: Rewriter) -> list[Block]:
    arguments: dict[Value, Value] = dict(zip(callee.entry.arguments, call.operands, strict=True))
    for op in callee.walk_post_order():
        for use in op.operand_uses:
            rewriter.set_operand(use, arguments.get(use.value, use.value))
    moved = Region()
    rewriter.take_body(callee.body, moved)
    return moved.blocks


# --- Where things come from -----------------------------------------------------------------


def _locate(blocks: Sequence[Block], here: Location, rewriter: Rewriter) -> None:
    """Adds where the call was to the locations of operations and arguments."""
    known: dict[Location, Location] = {}

    def called(location: Location) -> Location:
        if location not in known:
            known[location] = _called(location, here)
        return known[location]

    for block in blocks:
        for argument in block.arguments:
            argument.location = called(argument.location)
        for child in block.ops:
            for op in child.walk():
                rewriter.set_location(op, called(op.location))
                for region in op.regions:
                    for argument in (a for inner in region.blocks for a in inner.arguments):
                        argument.location = called(argument.location)


def _called(location: Location, here: Location) -> Location:
    """A location inside a body that was put in place of a call: the way there from the outermost call."""
    way = []
    while isinstance(location, CallSite):
        way.append(location.callee)
        location = location.caller
    called = CallSite(location, here)
    for callee in reversed(way):
        called = CallSite(callee, called)
    return called


# --- In place of the call -------------------------------------------------------------------


def _put_one(block: Block, call: CallOp, rewriter: Rewriter) -> None:
    """Puts a block before the call; what it returns takes the place of the results."""
    end = block.last
    assert end is not None and end.is_terminator, "a function ends with a terminator"
    _replace_results(call.results, end.operands, rewriter)
    rewriter.erase(end)
    for op in block.ops:
        rewriter.move(op, before=call)
    rewriter.erase(call)


def _put_several(blocks: list[Block], call: CallOp, rewriter: Rewriter) -> None:
    """Puts blocks between what comes before the call and what comes behind it."""
    before = call.parent
    assert before is not None
    after = Block()
    while call.next is not None:
        rewriter.move(call.next, at_end_of=after)
    values = [after.add_argument(result.type, result.location) for result in call.results]
    _replace_results(call.results, values, rewriter)
    rewriter.insert_blocks([*blocks[1:], after], before)
    for block in blocks:
        _go_on_to(after, block, rewriter)
    for op in blocks[0].ops:
        rewriter.move(op, at_end_of=before)
    rewriter.erase(call)


def _replace_results(results: Sequence[Value], values: Sequence[Value], rewriter: Rewriter) -> None:
    for result, value in zip(results, values, strict=True):
        rewriter.replace_all_uses(result, value)


def _go_on_to(after: Block, block: Block, rewriter: Rewriter) -> None:
    """Where a block returns, it goes on to what comes behind the call."""
    end = block.last
    if end is not None and end.signature.name == "func.return":
        rewriter.create(BranchOp, end.operands, before=end, location=end.location, successors=[after])
        rewriter.erase(end)

"""Inlining of a single call: the body of the callee is copied or, at its last use, moved.

New uses are created in MLIR's order, on which later passes depend.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.location import CallSite, Location, UnknownLoc
from sdyopt.mlir.dialects.cf import BranchOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value

from .call_graph import calls_by_block


def inline_call(call: CallOp, callee: FuncOp, rewriter: Rewriter, move_body: bool) -> list[CallOp]:
    """Replaces a call with the body of its callee; returns the calls in the body.

    With `move_body`, the callee has no body afterwards.
    """
    blocks = _moved_blocks(call, callee, rewriter) if move_body else _copied_blocks(call, callee, rewriter)
    # If the location of the call is unknown, inlined operations keep theirs.
    if not isinstance(call.location, UnknownLoc):
        _add_call_sites(blocks, call.location, rewriter)
    calls = list(calls_by_block(blocks))
    if len(blocks) == 1:
        _inline_block(blocks[0], call, rewriter)
    else:
        _inline_blocks(blocks, call, rewriter)
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


# --- Source locations -----------------------------------------------------------------------


def _add_call_sites(blocks: Sequence[Block], caller: Location, rewriter: Rewriter) -> None:
    """Replaces the locations of operations and block arguments with call-site locations."""
    call_sites: dict[Location, Location] = {}

    def at_call_site(location: Location) -> Location:
        return call_sites.get(location) or _call_site(location, caller, call_sites)

    for block in blocks:
        for argument in block.arguments:
            argument.location = at_call_site(argument.location)
        for child in block.ops:
            for op in child.walk():
                rewriter.set_location(op, at_call_site(op.location))
                for region in op.regions:
                    for argument in (a for inner in region.blocks for a in inner.arguments):
                        argument.location = at_call_site(argument.location)


def _call_site(location: Location, caller: Location, known: dict[Location, Location]) -> Location:
    """Extends the chain of call sites of a location by `caller`, the location of the inlined call.

    `known` has the results for other locations, whose chains may share callers; new results are added to it.
    """
    chain: list[CallSite] = []
    while isinstance(location, CallSite) and location not in known:
        chain.append(location)
        location = location.caller
    call_site = known.get(location) or known.setdefault(location, CallSite(location, caller))
    for inner in reversed(chain):
        call_site = known[inner] = CallSite(inner.callee, call_site)
    return call_site


# --- Blocks ---------------------------------------------------------------------------------


def _inline_block(block: Block, call: CallOp, rewriter: Rewriter) -> None:
    """Moves the operations of a block before the call; the operands of the terminator replace the results."""
    terminator = block.last
    assert terminator is not None and terminator.is_terminator, "the verifier requires a terminator"
    _replace_results(call.results, terminator.operands, rewriter)
    rewriter.erase(terminator)
    for op in block.ops:
        rewriter.move(op, before=call)
    rewriter.erase(call)


def _inline_blocks(blocks: list[Block], call: CallOp, rewriter: Rewriter) -> None:
    """Splits the block of the call into `head` and `tail`, and inserts `blocks` between them.

    The operations of the entry block of the callee are appended to `head`.
    """
    head = call.parent
    assert head is not None
    tail = Block()
    while call.next is not None:
        rewriter.move(call.next, at_end_of=tail)
    values = [tail.add_argument(result.type, result.location) for result in call.results]
    _replace_results(call.results, values, rewriter)
    rewriter.insert_blocks([*blocks[1:], tail], after=head)
    for block in blocks:
        _replace_return(block, tail, rewriter)
    for op in blocks[0].ops:
        rewriter.move(op, at_end_of=head)
    rewriter.erase(call)


def _replace_results(results: Sequence[Value], values: Sequence[Value], rewriter: Rewriter) -> None:
    for result, value in zip(results, values, strict=True):
        rewriter.replace_all_uses(result, value)


def _replace_return(block: Block, successor: Block, rewriter: Rewriter) -> None:
    """Replaces a return at the end of a block with a branch to a successor."""
    op = block.last
    if isinstance(op, ReturnOp):
        rewriter.create(BranchOp, op.operands, before=op, location=op.location, successors=[successor])
        rewriter.erase(op)

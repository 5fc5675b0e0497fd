"""What the HLO shows that a collective is for: what makes its operand, and what uses its result.

%r = all-reduce(%scatter.1)     the sum of %scatter.1, of which each device has a part
%g = all-gather(%a); dynamic-slice(%g, %n)     whole for %dynamic-slice, which takes elements at offsets
"""

from __future__ import annotations

from sdyopt.analysis.hlo_comparison.collectives import REDUCTIONS, CollectiveOperand
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction, uses_of, without_rearranging

_PRODUCTS = ("dot", "convolution")
# What makes no values of its own.
_PASSED_ON = ("convert", "slice", "pad", "select", "concatenate", "negate")
# What a reduction is of, where each device has a part of it.
_SUMS = {
    "scatter": "what each device scatters in its own part",
    "reduce": "what each device reduces of its own part",
    "reduce-window": "what each device reduces of its own part",
    "gather": "what each device finds in its own part",
    "dynamic-slice": "what each device finds in its own part",
    "sort": "what each device sorts of its own part",
    "dynamic-update-slice": "what each device updates in its own part",
    "while": "what each device adds up in a loop",
    "add": "terms of a sum, which each device adds up first",
}
# Why something uses a whole operand.
_WHOLE = {
    "dynamic-slice": "takes elements at offsets",
    "gather": "takes elements by index",
    "scatter": "sets elements by index",
    "dynamic-update-slice": "sets elements at offsets",
    "sort": "sorts along the dimension",
    "concatenate": "joins it with others",
    "reverse": "reverses it",
    "pad": "pads it",
    "slice": "takes a part that is not one of shards",
    "fft": "transforms along the dimension",
    "triangular-solve": "solves along the dimension",
    "while": "carries it",
    "tuple": "carries it",
}


def purpose_of(collective: CollectiveOperand) -> str:
    """What a collective is for; "" if the HLO does not show it."""
    source = collective.source
    if collective.kind in REDUCTIONS:
        return _what_is_reduced(source.operand)
    if collective.kind == "all_gather":
        return _whole_for(next((user for user, _ in uses_of(source.result, ("convert",))), None))
    if collective.kind == "collective_permute":
        return _what_moves(collective, source.operand)
    if collective.kind == "all_to_all":
        return f"{label(collective)} makes shards of one dimension those of another"
    return ""


def _what_is_reduced(operand: HloValue) -> str:
    maker = _maker(operand)
    if maker.opcode == "parameter":
        return "the sum of an argument"
    if maker.opcode in _PRODUCTS:
        return f"the sum of products, of which each device has a part: %{maker.name}"
    return f"the sum of {_SUMS.get(maker.opcode, 'what each device computes of its own part')}: %{maker.name}"


def _maker(operand: HloValue) -> Instruction:
    """The operation that makes the values of an operand."""
    value = without_rearranging(operand, _PASSED_ON)
    if value.op.opcode in ("multiply", "add") and value.op.operands:
        # What is scaled or added is not what is divided among devices.
        makers = [without_rearranging(term, _PASSED_ON).op for term in value.op.operands]
        return next((maker for maker in makers if maker.opcode in (*_PRODUCTS, *_SUMS)), value.op)
    return value.op


def _whole_for(user: Instruction | None) -> str:
    """What uses a gathered operand whole."""
    if user is None:
        return ""
    if user.opcode == "return":
        return "whole, as it is a result"
    if user.opcode in _PRODUCTS:
        return f"whole for the product %{user.name}"
    why = f", which {_WHOLE[user.opcode]}" if user.opcode in _WHOLE else f", {user.opcode}"
    return f"whole for %{user.name}{why}"


def _what_moves(collective: CollectiveOperand, operand: HloValue) -> str:
    """Whether shards move, or only the elements at their ends."""
    value = without_rearranging(operand, ("convert",))
    if value.op.opcode in ("slice", "dynamic-slice"):
        return f"{label(collective)} sends elements at the ends of shards to neighbors: %{value.op.name}"
    return f"{label(collective)} moves shards to the devices that use them"


def label(collective: CollectiveOperand) -> str:
    """`%all-reduce.3`, or `%all-reduce.3#1` for an operand of a combined one."""
    source = collective.source
    number = f"#{source.number}" if source.count > 1 else ""
    return f"%{collective.name}{number}"

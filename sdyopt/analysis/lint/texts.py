"""Operations, shardings and sizes in the messages of findings."""

from __future__ import annotations

from sdyopt.analysis.figures.figures import Collective, Times
from sdyopt.analysis.figures.units import bytes_text, flops_text
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text

MAX_OPERANDS = 2
# The text of a cost in the unit of a rule.
UNIT_TEXTS = {"bytes": bytes_text, "flops": flops_text}


def collective_text(each: Collective) -> str:
    """`all_gather {"x"} of tensor<8x16xf32>`, with the local types of its operands."""
    types = ", ".join(each.local_operands[:MAX_OPERANDS])
    more = len(each.local_operands) - MAX_OPERANDS
    return f"{each.kind} {each.group} of {types}{f' and {more} more' if more > 0 else ''}"


def axes_text(axes: tuple[AxisRef, ...] | list[AxisRef]) -> str:
    """`"x", "y"`."""
    return axis_refs_text(axes)


def runs_text(times: Times | None) -> str:
    """` in 24 runs`; empty for a single run or an unknown number."""
    return "" if times is None or times.high == 1 else f" in {times.high} runs"


def count_text(count: int, noun: str) -> str:
    """`1 device`, `4 devices`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"

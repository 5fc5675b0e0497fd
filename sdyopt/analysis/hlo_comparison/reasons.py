"""The classes of differences between the collectives of a report and of XLA, and their causes.

Reasons are read off the HLO; where it does not show one, there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import (
    NARROW,
    has_unknown_slices,
    narrow_operand,
    narrow_type,
    own_part,
)
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, uses_of, without_rearranging
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.purposes import label, purpose_of
from sdyopt.base.dataclasses import dataclass

HIT, ELSEWHERE = "same", "same at another line"
RING, SLICES = "ring of permutes", "within and between slices"
STEPS, UNROLLED, SUMS, REPEATED, ONCE = "in steps", "unrolled", "separate sums", "sent again", "sent once"
SCATTER, TYPE, RUNS, SIZE = (
    "reduce-scatter or all-reduce",
    "other element type",
    "other number of runs",
    "other size",
)
AXES, KIND, TOP_K = "other axes", "other kind", "operand of top-k"
REMATERIALIZED = "full rematerialization"
ONLY_REPORT, ONLY_XLA = "only in the report", "only in XLA"

# What each class says. Why it is so is said of each pair, where the HLO shows it.
MEANINGS = {
    HIT: "the same kind, mesh axes, and bytes of all runs",
    ELSEWHERE: "the same, but XLA names another operation of the program as its place",
    STEPS: "XLA sends it by several collectives, each of the result of the one before",
    RING: "XLA sends it by a ring of permutes, each beside a part of the product: a collective matmul",
    SLICES: "XLA sends it within each slice, and the rest to other slices",
    UNROLLED: "XLA has a collective for each run of the loop, or for some of them",
    SUMS: "XLA sums up the terms of a sum by a collective each, the report sums up the sum",
    REPEATED: "XLA sends the same value more than once: it has equal collectives that are not merged",
    ONCE: "XLA sends a value once that the report sends more than once",
    SCATTER: "one side sums and keeps a shard (reduce-scatter), the other sums the whole tensor "
    "(all-reduce), which sends twice as much",
    TYPE: "as many elements of another type",
    RUNS: "the same bytes, as often as loops run: another number",
    SIZE: "the same kind along the same mesh axes, with other bytes",
    AXES: "the same kind along other mesh axes",
    KIND: "another kind of collective",
    TOP_K: "XLA gathers the whole operand of top-k, the report what top-k finds on each device",
    REMATERIALIZED: "XLA gathers a whole tensor, of which each device only uses a slice, as where it warns "
    "of an involuntary full rematerialization; jax.checkpoint has no part in it",
    ONLY_REPORT: "nothing in XLA's program corresponds",
    ONLY_XLA: "nothing in the report corresponds",
}
REASONS = tuple(MEANINGS)


@dataclass(frozen=True, slots=True)
class CollectiveMatch:
    """Collectives of the report and of XLA that correspond, or one that has no counterpart.

    `reason` is the class of the difference, `why` what the HLO shows of its cause; "" if it shows nothing.
    """

    reason: str
    ours: tuple[CollectiveOperand, ...]
    theirs: tuple[CollectiveOperand, ...]
    why: str = ""


def why_differs(
    program: CompiledProgram, reason: str, ours: CollectiveOperand, xla: CollectiveOperand
) -> str:
    """What the HLO shows of the cause of a difference."""
    source, result = xla.source, []
    if reason == SCATTER and xla.kind == "all_reduce":
        if own_part(program, xla) is not None:
            along = ", and this topology has no reduce-scatter along these devices"
            result.append(
                f"each use of {label(xla)} is a slice, and the devices of a group take different ones"
                f"{along if program.platform == 'TPU' else ''}"
            )
        elif has_unknown_slices(program, xla):
            unknown = "the text leaves out" if program.is_elided else "are not computed"
            result.append(
                f"each use of {label(xla)} is a slice as large as a shard, at offsets that {unknown}"
            )
        elif uses := list(uses_of(source.result, ("convert",))):
            whole = next((user for user, _ in uses if user.opcode != "dynamic-slice"), None)
            if whole is not None:
                result.append(f"not each use of {label(xla)} is a slice: {_described(whole.opcode)}")
    if reason == SCATTER and xla.kind == "reduce_scatter":
        result.append(f"each device keeps its slice of {label(xla)}, and nothing uses the rest")
    if ours.bits != xla.bits:
        result += _why_of_type(program, ours, xla)
    if reason == RUNS:
        runs = [
            f"{loop.name or 'a loop'} × {'?' if loop.trips is None else loop.trips}" for loop in source.loops
        ]
        result.append(
            f"in XLA's program, it is in {' in '.join(runs)}"
            if runs
            else "in XLA's program, it is in no loop"
        )
    if xla.is_sliced:
        result.append(f"each use of {label(xla)} is a slice, and devices take different ones")
    if reason in (SIZE, AXES, KIND, TYPE) and not result:
        result.append(purpose_of(xla))
    return "; ".join(filter(None, result))


def _why_of_type(program: CompiledProgram, ours: CollectiveOperand, xla: CollectiveOperand) -> Iterator[str]:
    """Why elements of another type are sent."""
    source = xla.source
    type = source.type.partition("[")[0]
    if narrow := narrow_operand(source):
        yield f"the operand is converted from {narrow}{', and the result back' if narrow_type(xla) else ''}"
    elif type in NARROW and xla.bits < ours.bits:
        if program.platform == "TPU":
            yield f"sent as {type}: products of default precision"
        elif (before := _converted_from(source.operand)) is not None:
            yield f"converted from {before} before it is sent"
    elif (before := _converted_from(source.operand)) is not None:
        yield f"the operand is converted from {before} to {type}"
    else:
        yield f"as {type} in XLA's program"


def _converted_from(operand: HloValue) -> str | None:
    """The type that an operand is converted from."""
    value = without_rearranging(operand, ("slice",))
    if value.op.opcode != "convert" or not value.op.operands:
        return None
    return value.op.operands[0].op.type.partition("[")[0]


def top_k(
    xla: Sequence[CollectiveOperand], by_result: Mapping[HloValue, int], number: int
) -> tuple[SourceLocation, str] | None:
    """The place of the call of top-k that is the only use of a gather, and its name.

    `by_result` has the numbers of collectives by their results: other gathers may be in between.
    """
    pairs: list[tuple[SourceLocation, str]] = []
    pending = [number] if xla[number].kind == "all_gather" else []
    for index in pending:
        source = xla[index].source
        uses = list(uses_of(source.result, ("convert",)))
        if not uses:
            return None
        for user, _ in uses:
            following = by_result.get(HloValue(user))
            if following is not None and xla[following].kind == "all_gather":
                pending += [] if following in pending else [following]
            elif user.opcode == "custom-call" and 'custom_call_target="TopK"' in user.attributes:
                pairs.append((source.used_at[0], f"TopK, %{user.name}"))
            else:
                return None
    return pairs[0] if pairs else None


def _described(opcode: str) -> str:
    return "it is a result" if opcode == "return" else f"one is {opcode}"

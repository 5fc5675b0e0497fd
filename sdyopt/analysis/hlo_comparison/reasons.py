"""Differences of the collectives of a report and of XLA: their classes and causes, and where they are.

Reasons are read off the HLO; where it does not show one, there is none. So are purposes:

    %r = all-reduce(%scatter.1)     the sum of %scatter.1, of which each device has a part
    %g = all-gather(%a); dynamic-slice(%g, %n)     whole for %dynamic-slice, which takes elements at offsets

A *place* is what corresponding collectives have in common: the line, the name stack, the argument that is
moved, or the line of an operation that uses the result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import (
    NARROW,
    has_unknown_slices,
    narrow_operand,
    narrow_type,
    own_part,
)
from sdyopt.analysis.hlo_comparison.collectives import REDUCTIONS, CollectiveOperand
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction, uses_of, without_rearranging
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
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
    call: tuple[SourceLocation, str] | None = None
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
                call = call or (source.used_at[0], f"TopK, %{user.name}")
            else:
                return None
    return call


def _described(opcode: str) -> str:
    return "it is a result" if opcode == "return" else f"one is {opcode}"


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
        # Whether shards move, or only the elements at their ends.
        value = without_rearranging(source.operand, ("convert",))
        if value.op.opcode in ("slice", "dynamic-slice"):
            return f"{label(collective)} sends elements at the ends of shards to neighbors: %{value.op.name}"
        return f"{label(collective)} moves shards to the devices that use them"
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


def label(collective: CollectiveOperand) -> str:
    """`%all-reduce.3`, or `%all-reduce.3#1` for an operand of a combined one."""
    source = collective.source
    number = f"#{source.number}" if source.count > 1 else ""
    return f"%{collective.name}{number}"


Feature = Callable[[CollectiveOperand], Iterable[Hashable]]


def _names(location: SourceLocation) -> list[str]:
    """The name stacks of an operation; those of merged operations are separated."""
    joint = [*location.name_stack.split(";"), location.path]
    return [name for name in dict.fromkeys(joint) if "/" in name]


def _ends(location: SourceLocation) -> list[str]:
    """The name stacks, and their ends: within a function, name stacks of a report start with it."""
    ends = []
    for name in _names(location):
        parts = name.split("/")
        ends += ["/".join(parts[start:]) for start in range(min(len(parts) - 1, _MAX_ENDS))]
    return ends


_MAX_ENDS = 12


def own_line(location: SourceLocation) -> list[Hashable]:
    """The line, with the pass of a training step: forward and backward are not the same place."""
    return [(location.file, location.line, name) for name in _passes(location) if location.line]


def call_lines(location: SourceLocation) -> list[Hashable]:
    """The lines of the call stack, with the pass."""
    lines = dict.fromkeys((frame.file, frame.line) for frame in location.frames)
    return [(*line, name) for line in lines for name in _passes(location)]


def _passes(location: SourceLocation) -> Sequence[str]:
    """The pass that an operation is of; all of them if its name stack is that of a function, or unknown."""
    path = location.path or location.name_stack
    if "rematted_computation" in path:
        return _PASSES[2:]
    if "transpose(" in path:
        return _PASSES[1:2]
    return _PASSES[:1] if "jit(" in path or "jvp(" in path else _PASSES


_PASSES = ("forward", "backward", "rematerialized")


def own_line_and_name(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in own_line(location) for name in _names(location)]


def _line_and_end(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in own_line(location) for name in _ends(location)]


def call_lines_and_name(location: SourceLocation) -> list[Hashable]:
    return [(line, name) for line in call_lines(location) for name in _ends(location)]


def _produced_at(operand: CollectiveOperand) -> tuple[SourceLocation, ...]:
    return () if operand.hlo is None else (operand.hlo.produced_at,)


def used_at(operand: CollectiveOperand) -> tuple[SourceLocation, ...]:
    return () if operand.hlo is None else operand.hlo.used_at


# What corresponding collectives have in common, of the report and of XLA, the strongest first.
PLACES: tuple[tuple[Feature, Feature], ...] = (
    (lambda ours: own_line_and_name(ours.location), lambda xla: _line_and_end(xla.location)),
    (lambda ours: own_line_and_name(ours.location), lambda xla: call_lines_and_name(xla.location)),
    (
        lambda ours: [(ours.moved, key) for key in own_line_and_name(ours.location) if ours.moved],
        lambda xla: [
            (xla.moved, key) for place in used_at(xla) for key in call_lines_and_name(place) if xla.moved
        ],
    ),
    (
        lambda ours: [(ours.moved, name) for name in _names(ours.location) if ours.moved],
        lambda xla: [(xla.moved, name) for place in used_at(xla) for name in _names(place) if xla.moved],
    ),
    (lambda ours: [ours.moved] if ours.moved else [], lambda xla: [xla.moved] if xla.moved else []),
    (
        lambda ours: own_line_and_name(ours.location),
        lambda xla: [key for place in used_at(xla) for key in call_lines_and_name(place)],
    ),
    (
        lambda ours: own_line_and_name(ours.location),
        lambda xla: [key for place in _produced_at(xla) for key in call_lines_and_name(place)],
    ),
    (
        # Many lines have one name stack, so it only decides where one of them has no line.
        lambda ours: [(name, bool(ours.location.line)) for name in _names(ours.location)],
        lambda xla: [
            (name, has_line)
            for name in _ends(xla.location)
            for has_line in ((False,) if xla.location.line else (False, True))
        ],
    ),
    (lambda ours: own_line(ours.location), lambda xla: own_line(xla.location)),
    (
        lambda ours: own_line(ours.location),
        lambda xla: [key for place in used_at(xla) for key in own_line(place)],
    ),
)
# Those above of one line or name stack of the operation itself, or of the one whose result it sends.
OWN_PLACES = (PLACES[0], PLACES[1], *PLACES[6:9])
ANY_PLACE: tuple[Feature, Feature] = (lambda ours: [()], lambda xla: [()])
# The same pass, and the same argument if XLA's is one.
SAME_PASS: tuple[Feature, Feature] = (
    lambda ours: [(name, moved) for name in _passes(ours.location) for moved in (ours.moved, "")],
    lambda xla: [(name, xla.moved) for name in _passes(xla.location)],
)


def has_place(operand: CollectiveOperand) -> bool:
    return bool(operand.location.line) or any(place.line for place in used_at(operand))


def place_of(operand: CollectiveOperand) -> SourceLocation:
    """The location of a collective; if XLA lost it, that of what makes its operand, or uses its result."""
    others = (*_produced_at(operand), *used_at(operand))
    return next((place for place in (operand.location, *others) if place.line), operand.location)


def name_is_of(ours: CollectiveOperand, xla: CollectiveOperand) -> bool:
    """Whether one of the report is of an operation of the line and the name stack of XLA's."""
    return not set(own_line_and_name(ours.location)).isdisjoint(_line_and_end(xla.location))

"""A small step on four devices: its text in HLO, and collectives of a report on it."""

from __future__ import annotations

from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, Groups
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.reasons import (
    CollectiveMatch,
)

# Devices of <["x"=2, "y"=2]>.
X: Groups = frozenset({frozenset({0, 2}), frozenset({1, 3})})
Y: Groups = frozenset({frozenset({0, 1}), frozenset({2, 3})})
XY: Groups = frozenset({frozenset(range(4))})
IN_HLO = {X: "{{0,2},{1,3}}", Y: "{{0,1},{2,3}}", XY: "{{0,1,2,3}}"}

HEAD = """HloModule jit_step, num_partitions=4

FileNames
1 "a.py"

FunctionNames
1 "step"

FileLocations
{places}

StackFrames
{frames}

%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %r = f32[] add(%x, %y)
}}

"""
LINES = range(1, 10)
# The frame of a number is the line of that number; that of 20 more is this line, in what line 9 calls.
HEAD = HEAD.format(
    places="\n".join(f"{each} {{file_name_id=1 function_name_id=1 line={each} column=1}}" for each in LINES),
    frames="\n".join(
        [
            *(f"{each} {{file_location_id={each}}}" for each in LINES),
            *(f"{20 + each} {{file_location_id={each} parent_frame_id=10}}" for each in LINES),
        ]
    ),
)
# %a is 8x4, %start is 0 on the devices 0 and 1, and 4 on the others.
ENTRY = """ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0), metadata={op_name="w"}
  %zero = s32[] constant(0)
  %table = s32[4]{0} constant({0, 0, 4, 4})
  %id = u32[] partition-id()
  %offset = s32[1]{0} dynamic-slice(%table, %id), dynamic_slice_sizes={1}
  %start = s32[] bitcast(%offset)
"""


def place(line: int, name: str = "jit(step)/dot") -> str:
    return f'metadata={{op_name="{name}" stack_frame_id={line}}}'


def reduce(name: str, operand: str, groups: Groups, at: str, shape: str = "f32[8,4]{1,0}") -> str:
    return (
        f"  %{name} = {shape} all-reduce({operand}), replica_groups={IN_HLO[groups]}, to_apply=%add, {at}\n"
    )


def gather(name: str, operand: str, groups: Groups, at: str, shape: str = "f32[16,4]{1,0}") -> str:
    listed = IN_HLO[groups]
    return f"  %{name} = {shape} all-gather({operand}), replica_groups={listed}, dimensions={{0}}, {at}\n"


def compiled(body: str, before: str = "") -> CompiledProgram:
    return read_hlo("step", f"{HEAD}{before}{ENTRY}{body}}}\n")


def reported(
    kind: str,
    groups: Groups,
    elements: int,
    line: int,
    name: str = "jit(step)/dot",
    bits: int = 32,
    times: int = 1,
    moved: str = "",
) -> CollectiveOperand:
    frame = Frame("step", "a.py", line, 1)
    location = SourceLocation("a.py", line, 1, name, (frame,), name)
    return CollectiveOperand(
        kind, groups, elements, bits, location, "#0", RunTimes(times, times), moved=moved
    )


REDUCED = reported("all_reduce", X, 32, 1)
GATHERED = reported("all_gather", X, 64, 1)
NEGATED = "  %b = f32[8,4]{1,0} negate(%a)\n"
PLACELESS = 'metadata={op_name="jit(step)/dot"}'
USED = '  %used = f32[8,4]{1,0} custom-call(%r), custom_call_target="f"\n'
SLICED = "  ROOT %s = f32[4,4]{1,0} dynamic-slice(%r, %start, %zero), dynamic_slice_sizes={4,4}\n"
LOOP = """%body (p: (s32[], f32[8,4])) -> (s32[], f32[8,4]) {
  %p = (s32[], f32[8,4]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %v = f32[8,4]{1,0} get-tuple-element(%p), index=1
BODY
  ROOT %t = (s32[], f32[8,4]{1,0}) tuple(%next, %r)
}

%condition (p: (s32[], f32[8,4])) -> pred[] {
  %p = (s32[], f32[8,4]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(5)
  ROOT %c = pred[] compare(%i, %n), direction=LT
}

"""
WHILE = """  %init = (s32[], f32[8,4]{1,0}) tuple(%zero, %a)
  ROOT %w = (s32[], f32[8,4]{1,0}) while(%init), condition=%condition, body=%body, PLACE
""".replace("PLACE", place(9, "jit(step)/while"))


def in_loop(line: str) -> str:
    return LOOP.replace("BODY", line.rstrip("\n"))


def classes(found: list[CollectiveMatch]) -> list[tuple[str, int, int]]:
    return [(match.reason, len(match.ours), len(match.theirs)) for match in found]

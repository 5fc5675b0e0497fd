"""Each class of differences on small HLO texts: places come first, and reasons are read off the HLO."""

from __future__ import annotations

import pytest

from sdyopt.analysis.figures.figures import ONCE, RunTimes
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import NARROWED, SCATTERED, on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, Groups
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
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


@pytest.mark.parametrize(
    ("ours", "body", "expected", "why"),
    [
        pytest.param([REDUCED], reduce("r", "%a", X, place(1)), [("same", 1, 1)], "", id="same"),
        pytest.param(
            [REDUCED],
            NEGATED + reduce("r", "%b", X, place(2)),
            [("same at another line", 1, 1)],
            "",
            id="elsewhere",
        ),
        pytest.param(
            [reported("all_reduce", XY, 32, 1)],
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + USED,
            [("in steps", 1, 2)],
            "%r of the result of %q",
            id="in steps",
        ),
        pytest.param(
            [reported("all_reduce", Y, 32, 1)],
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + USED,
            [("in steps", 1, 2)],
            "%r of the result of %q",
            id="a step before",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1)],
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + USED,
            [("in steps", 1, 2)],
            "%r of the result of %q",
            id="a step after",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1), reported("all_reduce", X, 32, 2)],
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + reduce("s", "%r", X, place(2)),
            [("in steps", 1, 2), ("same", 1, 1)],
            "%r of the result of %q",
            id="a step between two",
        ),
        pytest.param(
            [reported("all_reduce", Y, 32, 1), reported("all_reduce", Y, 32, 3)],
            reduce("q", "%a", X, place(1))
            + reduce("r", "%q", Y, place(1))
            + NEGATED
            + reduce("s", "%b", X, place(3))
            + reduce("t", "%s", Y, place(3)),
            [("in steps", 1, 2), ("in steps", 1, 2)],
            "%r of the result of %q",
            id="steps before two",
        ),
        pytest.param(
            # Of many that are alike, the one of the line.
            [reported("all_reduce", XY, 32, line) for line in LINES],
            reduce("q", "%a", X, place(9)) + reduce("r", "%q", Y, place(9)) + USED,
            [*[("only in the report", 1, 0)] * 8, ("in steps", 1, 2)],
            "",
            id="in steps of one of many lines",
        ),
        pytest.param(
            # XLA lost the place, so each of them may be the counterpart; it is the first.
            [reported("all_reduce", XY, 32, line) for line in LINES],
            reduce("q", "%a", X, PLACELESS) + reduce("r", "%q", Y, PLACELESS),
            [("in steps", 1, 2), *[("only in the report", 1, 0)] * 8],
            "%r of the result of %q",
            id="in steps of no place among many lines",
        ),
        pytest.param(
            [reported("all_gather", XY, 64, 1)],
            gather("q", "%a", X, place(1)) + gather("r", "%q", Y, place(1)) + SLICED,
            [("in steps", 1, 2)],
            "%r of the result of %q; each use of %r is a slice, and devices take different ones: "
            "full rematerialization",
            id="rematerialization in steps",
        ),
        pytest.param(
            # Shards are moved before they are gathered in two steps.
            [reported("all_gather", XY, 128, 1)],
            f"  %p = f32[8,4] all-to-all(%a), replica_groups={IN_HLO[X]}, dimensions={{0}}, {place(1)}\n"
            + gather("q", "%p", X, place(1))
            + gather("r", "%q", Y, place(1), "f32[32,4]{1,0}")
            + USED,
            [("in steps", 1, 3)],
            "%r of the result of %q of the result of %p",
            id="moved and gathered in steps",
        ),
        pytest.param(
            # The names of operations of one line may differ.
            [reported("all_reduce", XY, 32, 1, "jit(step)/mul")],
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + USED,
            [("in steps", 1, 2)],
            "%r of the result of %q",
            id="in steps of another operation of the line",
        ),
        pytest.param(
            # The first two steps would be the counterpart of the other, but the whole chain comes first.
            [reported("all_gather", Y, 64, 1), reported("all_gather", XY, 128, 1)],
            f"  %p = f32[8,4] all-to-all(%a), replica_groups={IN_HLO[X]}, dimensions={{0}}, {place(1)}\n"
            + gather("q", "%p", X, place(1))
            + gather("r", "%q", Y, place(1), "f32[32,4]{1,0}")
            + USED,
            [("only in the report", 1, 0), ("in steps", 1, 3)],
            "",
            id="all steps before some of them",
        ),
        pytest.param(
            # What moves an argument and is of another type is not sent once, and neither are two of another.
            [
                reported("all_gather", X, 64, 1, moved="w", bits=16),
                reported("all_gather", X, 64, 2, moved="w", bits=16),
            ],
            gather("r", "%a", X, place(1)),
            [("other element type", 1, 1), ("only in the report", 1, 0)],
            "as f32 in XLA's program",
            id="sent once as another type",
        ),
        pytest.param(
            [reported("all_reduce", XY, 32, 1)],
            reduce("q", "%a", X, place(1)) + reduce("r", "%a", Y, place(1)),
            [("other axes", 1, 1), ("only in XLA", 0, 1)],
            "the sum of an argument",
            id="not of the result",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1, times=2)],
            reduce("q", "%a", X, place(1)) + USED.replace("%r", "%q") + reduce("r", "%used", X, place(1)),
            [("unrolled", 1, 2)],
            "2 collectives of this place run 1 + 1 times",
            id="unrolled",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1, "jit(step)/add_any")],
            NEGATED
            + reduce("q", "%a", X, place(1))
            + reduce("r", "%b", X, place(2))
            + "  ROOT %t = f32[8,4]{1,0} add(%q, %r)\n",
            [("separate sums", 1, 2)],
            "XLA adds up the results of %q, %r",
            id="separate sums",
        ),
        pytest.param(
            # The report has one of them.
            [REDUCED],
            NEGATED
            + reduce("q", "%a", X, place(1))
            + reduce("r", "%b", X, place(2, "jit(step)/mul"))
            + "  ROOT %t = f32[8,4]{1,0} add(%q, %r)\n",
            [("separate sums", 1, 2)],
            "XLA adds up the results of %q, %r",
            id="separate sums of which the report has one",
        ),
        pytest.param(
            # The gradients of two lines of a function are added up where it is called.
            [reported("all_reduce", X, 32, line, "jit(step)/add_any") for line in (8, 9)],
            NEGATED
            + reduce("q", "%a", X, place(21))
            + reduce("r", "%b", X, place(22))
            + "  ROOT %t = f32[8,4]{1,0} add(%q, %r)\n",
            [("only in the report", 1, 0), ("separate sums", 1, 2)],
            "",
            id="separate sums of a call",
        ),
        pytest.param(
            [reported("all_gather", X, 64, 1, moved="w")],
            gather("q", "%a", X, place(1))
            + gather("r", "%a", X, place(2))
            + USED.replace("\n", f", {place(3)}\n"),
            [("sent again", 1, 2)],
            "%q and %r are of %a, w, for use at a.py:3",
            id="sent again",
        ),
        pytest.param(
            # Eight are named.
            [reported("all_gather", X, 64, 1, moved="w")],
            "".join(gather(f"q{number}", "%a", X, PLACELESS) for number in range(11)),
            [("sent again", 1, 11)],
            "; ".join([*(f"%q0 and %q{number} are of %a, w" for number in range(1, 9)), "and more"]),
            id="sent again many times",
        ),
        pytest.param(
            [reported("all_gather", X, 64, 1, moved="w"), reported("all_gather", X, 64, 2, moved="w")],
            gather("r", "%a", X, place(1)),
            [("sent once", 2, 1)],
            "XLA has no other collective of w",
            id="sent once",
        ),
        pytest.param(
            [reported("reduce_scatter", X, 32, 1)],
            reduce("r", "%a", X, place(1)) + SLICED,
            [("reduce-scatter or all-reduce", 1, 1)],
            "each use of %r is a slice, and the devices of a group take different ones",
            id="reduce-scatter",
        ),
        pytest.param(
            [reported("reduce_scatter", X, 32, 1)],
            reduce("r", "%a", X, place(1)) + USED,
            [("reduce-scatter or all-reduce", 1, 1)],
            "not each use of %r is a slice: one is custom-call",
            id="not only slices",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1)],
            "  %r = f32[4,4]{1,0} reduce-scatter(%a), replica_groups={{0,2},{1,3}}, dimensions={0}, "
            f"to_apply=%add, {place(1)}\n",
            [("reduce-scatter or all-reduce", 1, 1)],
            "each device keeps its slice of %r, and nothing uses the rest",
            id="reduce-scatter in XLA",
        ),
        pytest.param(
            # The devices 0 and 1 take the same slice.
            [reported("reduce_scatter", Y, 32, 1)],
            reduce("r", "%a", Y, place(1)) + SLICED,
            [("reduce-scatter or all-reduce", 1, 1)],
            "",
            id="equal slices",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1, bits=16)],
            "  %h = bf16[8,4]{1,0} convert(%a)\n  %f = f32[8,4]{1,0} convert(%h)\n"
            + reduce("r", "%f", X, place(1))
            + "  ROOT %g = bf16[8,4]{1,0} convert(%r)\n",
            [("other element type", 1, 1)],
            "the operand is converted from bf16, and the result back",
            id="other type",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1, bits=16)],
            reduce("r", "%a", X, place(1)),
            [("other element type", 1, 1)],
            "as f32 in XLA's program",
            id="other type, unknown why",
        ),
        pytest.param(
            [reported("all_gather", X, 64, 1)],
            "  %h = bf16[8,4]{1,0} convert(%a)\n" + gather("r", "%h", X, place(1), "bf16[16,4]{1,0}"),
            [("other element type", 1, 1)],
            "converted from f32 before it is sent",
            id="narrower type",
        ),
        pytest.param(
            [reported("all_gather", X, 64, 1)],
            "  %h = f64[8,4]{1,0} convert(%a)\n" + gather("r", "%h", X, place(1), "f64[16,4]{1,0}"),
            [("other element type", 1, 1)],
            "the operand is converted from f32 to f64",
            id="wider type",
        ),
        pytest.param(
            [reported("all_reduce", XY, 32, 1)],
            # Two chains have one start.
            reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1)) + reduce("s", "%q", Y, place(2)),
            [("in steps", 1, 3)],
            "%r of the result of %q; %r and %s are of %q",
            id="in steps that part",
        ),
        pytest.param(
            [reported("all_gather", X, 64, 1, moved="w")],
            gather("q", "%a", X, place(1))
            + gather("r", "%a", X, place(2))
            + "".join(
                f'  %u{line} = f32[8,4]{{1,0}} custom-call(%r), custom_call_target="f", {place(line)}\n'
                for line in (3, 4, 5)
            ),
            [("sent again", 1, 2)],
            "%q and %r are of %a, w, for use at a.py:3 and a.py:4 and 1 more",
            id="used at many lines",
        ),
        pytest.param(
            [reported("all_reduce", X, 32, 1, times=4)],
            reduce("r", "%a", X, place(1)),
            [("other number of runs", 1, 1)],
            "in XLA's program, it is in no loop",
            id="other number of runs",
        ),
        pytest.param(
            [reported("all_reduce", X, 64, 1)],
            reduce("r", "%a", X, place(1)),
            [("other size", 1, 1)],
            "the sum of an argument",
            id="size",
        ),
        pytest.param(
            [reported("all_reduce", Y, 32, 1)],
            reduce("r", "%a", X, place(1)),
            [("other axes", 1, 1)],
            "the sum of an argument",
            id="axes",
        ),
        pytest.param(
            [reported("all_to_all", X, 32, 1)],
            gather("r", "%a", X, place(1)) + USED,
            [("other kind", 1, 1)],
            "whole for %used, custom-call",
            id="other kind",
        ),
        pytest.param(
            [reported("all_to_all", X, 32, 1)],
            gather("r", "%a", X, place(1)) + SLICED,
            [("full rematerialization", 1, 1)],
            "each use of %r is a slice, and devices take different ones",
            id="rematerialization",
        ),
        pytest.param(
            [],
            gather("r", "%a", X, place(1)) + SLICED,
            [("full rematerialization", 0, 1)],
            "each use of %r is a slice, and devices take different ones",
            id="rematerialization of what the report does not send",
        ),
        pytest.param(
            [
                reported("all_gather", X, 4, 3, "jit(step)/top_k"),
                reported("all_gather", X, 4, 3, "jit(step)/top_k"),
                # Another line, and another kind.
                reported("all_gather", X, 4, 5, "jit(step)/top_k"),
                reported("all_to_all", X, 4, 3, "jit(step)/top_k"),
                # Another operation of the line.
                reported("all_gather", X, 4, 3),
            ],
            gather("q", "%a", X, place(1))
            + gather("r", "%q", Y, place(1), "f32[32,4]{1,0}")
            + '  ROOT %k = (f32[32,2], s32[32,2]) custom-call(%r), custom_call_target="TopK", '
            + place(3, "jit(step)/top_k")
            + "\n",
            [("operand of top-k", 2, 2), *[("only in the report", 1, 0)] * 3],
            "the result is only used by TopK, %k",
            id="top-k",
        ),
        pytest.param([REDUCED], "", [("only in the report", 1, 0)], "", id="only in the report"),
        pytest.param(
            [],
            reduce("r", "%a", X, place(1)),
            [("only in XLA", 0, 1)],
            "the sum of an argument",
            id="only in XLA",
        ),
    ],
)
def test_classes(
    ours: list[CollectiveOperand], body: str, expected: list[tuple[str, int, int]], why: str
) -> None:
    program = compiled(body)
    found = match_collectives(ours, program.operands, program)
    assert classes(found) == expected
    assert found[0].why == why


def test_the_place_comes_before_the_bytes() -> None:
    # At line 1, XLA sends half of it; at line 2, something else of the same size.
    program = compiled(reduce("q", "%a", X, place(2)) + reduce("r", "%h", X, place(1), "f32[4,4]{1,0}"))
    [found, other] = match_collectives([REDUCED], program.operands, program)
    assert (found.reason, found.theirs[0].name) == ("other size", "r")
    assert (other.reason, other.theirs[0].name) == ("only in XLA", "q")


def test_of_several_of_one_place_the_nearest_is_the_counterpart() -> None:
    # The operations of two names were merged; XLA has a collective of each, of other sizes.
    ours = reported("all_reduce", X, 32, 1, "jit(step)/dot;jit(step)/mul")
    large = reduce("q", "%h", X, place(1), "f32[16,4]{1,0}")
    program = compiled(large + reduce("r", "%h", X, place(1, "jit(step)/mul"), "f32[10,4]{1,0}"))
    [other, found] = match_collectives([ours], program.operands, program)[::-1]
    assert (found.reason, found.theirs[0].name) == ("other size", "r")
    assert (other.reason, other.theirs[0].name) == ("only in XLA", "q")


def test_what_has_no_place_may_be_anywhere() -> None:
    program = compiled(reduce("r", "%h", X, place(3)))
    [found] = match_collectives([reported("all_reduce", X, 32, 0, "")], program.operands, program)
    assert found.reason == "same"


def test_a_line_itself_comes_before_the_lines_that_it_calls() -> None:
    program = compiled(
        NEGATED
        + "  %c = f32[8,4]{1,0} tanh(%a)\n"
        + reduce("q", "%b", X, place(9))
        + reduce("r", "%c", X, place(21))
    )
    found = match_collectives([reported("all_reduce", X, 32, 9)], program.operands, program)
    assert [(each.reason, each.theirs[0].name) for each in found if each.ours] == [("same", "q")]
    # Without one at the line itself, it is the one of a line that it calls.
    program = compiled(NEGATED + reduce("q", "%b", X, place(21)))
    found = match_collectives([reported("all_reduce", X, 32, 9)], program.operands, program)
    assert classes(found) == [("same", 1, 1)]


def test_a_line_without_a_column_is_a_place() -> None:
    text = f"{HEAD}{ENTRY}{reduce('r', '%a', X, place(1))}}}\n".replace(" column=1", "")
    [operand] = read_hlo("step", text).operands
    assert operand.location.frames == (Frame("step", "a.py", 1, 0),)
    [operand] = read_hlo("step", text.replace(" line=1", "")).operands
    assert (operand.location.line, operand.location.frames[0].line) == (0, 0)


def test_without_lines_the_name_stack_is_the_place() -> None:
    """HLO may be without lines; then operations of one name correspond, also if the report has lines."""
    name = 'metadata={op_name="jit(step)/mul"}'
    other = "  %c = f32[8,4]{1,0} tanh(%a)\n" + reduce("q", "%c", X, PLACELESS)
    program = compiled(NEGATED + other + reduce("r", "%b", X, name))
    for line in (0, 1):
        ours = reported("all_reduce", X, 32, line, "jit(step)/mul")
        [found] = [each for each in match_collectives([ours], program.operands, program) if each.ours]
        assert (found.reason, found.theirs[0].name) == ("same", "r")


def test_the_name_stack_decides_between_those_of_a_line() -> None:
    backward = "jit(step)/transpose(jvp())/dot"
    program = compiled(reduce("q", "%a", X, place(1, backward)) + reduce("r", "%a", X, place(1)))
    [first, second] = match_collectives(
        [REDUCED, reported("all_reduce", X, 32, 1, backward)], program.operands, program
    )
    assert [match.theirs[0].name for match in (first, second)] == ["r", "q"]
    # The forward pass of a line is no counterpart of its backward pass.
    program = compiled(reduce("q", "%a", X, place(1, backward)))
    apart = [("only in the report", 1, 0), ("only in XLA", 0, 1)]
    assert classes(match_collectives([REDUCED], program.operands, program)) == apart


def test_what_moves_an_argument_is_no_counterpart_of_what_does_not() -> None:
    program = compiled(reduce("r", "%a", X, place(2)))
    apart = [("only in the report", 1, 0), ("only in XLA", 0, 1)]
    assert classes(match_collectives([REDUCED], program.operands, program)) == apart
    of_weight = reported("all_reduce", X, 32, 1, moved="w")
    assert classes(match_collectives([of_weight], program.operands, program)) == [("same", 1, 1)]


def test_what_moves_a_slice_of_an_argument_moves_the_argument() -> None:
    sliced = "  %s = f32[4,4]{1,0} dynamic-slice(%a, %start, %zero), dynamic_slice_sizes={4,4}\n"
    [operand] = compiled(sliced + gather("r", "%s", X, place(1), "f32[8,4]{1,0}")).operands
    assert operand.moved == "w"


def test_steps_that_move_an_argument_are_at_the_operation_that_uses_it() -> None:
    scan = "jit(step)/while/body/squeeze"
    program = compiled(
        gather("q", "%a", Y, place(7, scan))
        + gather("r", "%q", X, place(7, scan), "f32[32,4]{1,0}")
        + f"  %one = f32[8,4]{{1,0}} dot(%r, %r), {place(1)}\n"
    )
    ours = reported("all_gather", XY, 128, 1, moved="w")
    assert classes(match_collectives([ours], program.operands, program)) == [("in steps", 1, 2)]


def test_an_argument_that_is_moved_twice_is_moved_for_the_lines_that_use_it() -> None:
    scan = "jit(step)/while/body/squeeze"
    program = compiled(
        gather("q", "%a", X, place(7, scan))
        + gather("r", "%a", X, place(7, scan))
        + f"  %one = f32[8,4]{{1,0}} dot(%q, %q), {place(1)}\n"
        + f"  %two = f32[8,4]{{1,0}} dot(%r, %r), {place(2)}\n"
    )
    ours = [reported("all_gather", X, 64, line, moved="w") for line in (2, 1)]
    found = match_collectives(ours, program.operands, program)
    assert [(each.reason, each.theirs[0].name) for each in found] == [("same", "r"), ("same", "q")]


def test_a_gather_in_a_loop_is_at_the_operation_that_uses_it() -> None:
    # The name of what is gathered is that of a slice, as in a scan.
    scan = "jit(step)/while/body/squeeze"
    program = compiled(
        gather("q", "%a", X, place(7, scan))
        + gather("r", "%z", X, place(7, scan))
        + f"  %one = f32[8,4]{{1,0}} dot(%q, %q), {place(2)}\n"
        + f"  %two = f32[8,4]{{1,0}} dot(%r, %r), {place(1)}\n"
    )
    [found] = [each for each in match_collectives([GATHERED], program.operands, program) if each.ours]
    assert (found.reason, found.theirs[0].name) == ("same", "r")


def test_runs_of_loops_are_part_of_being_the_same() -> None:
    program = compiled(WHILE, in_loop(reduce("r", "%v", X, place(1))))
    [operand] = program.operands
    assert operand.times == RunTimes(5, 5)
    [loop] = operand.source.loops
    assert (loop.name, loop.location.line, loop.trips) == ("jit(step)/while", 9, 5)
    assert classes(match_collectives([reported("all_reduce", X, 32, 1, times=5)], [operand], program)) == [
        ("same", 1, 1)
    ]
    [found] = match_collectives([REDUCED], [operand], program)
    assert (found.reason, found.why) == (
        "other number of runs",
        "in XLA's program, it is in jit(step)/while × 5",
    )


@pytest.mark.parametrize(
    ("old", "new", "trips"),
    [
        ("", "", 5),
        ("direction=LT", "direction=LE", 6),
        ("%one = s32[] constant(1)", "%one = s32[] constant(2)", 3),
        ("%next = s32[] add(%i, %one)", "%next = s32[] multiply(%i, %one)", None),
        ("%n = s32[] constant(5)", '%n = s32[] custom-call(), custom_call_target="n"', None),
    ],
)
def test_the_trip_count_follows_from_the_condition(old: str, new: str, trips: int | None) -> None:
    before = in_loop(reduce("r", "%v", X, place(1))).replace(old, new)
    [operand] = compiled(WHILE, before).operands
    assert operand.times == (None if trips is None else RunTimes(trips, trips))


def test_slices_of_too_many_devices_are_not_computed() -> None:
    text = f"{HEAD}{in_loop(reduce('r', '%v', X, place(1)))}{ENTRY}{WHILE}}}\n"
    program = read_hlo("step", text, 1 << 13)
    assert program.operands[0].times == RunTimes(5, 5)
    sliced = f"{HEAD}{ENTRY}{reduce('r', '%a', X, place(1))}{SLICED}}}\n"
    assert on_accelerators(read_hlo("step", sliced, 1 << 13)).changes == []


def test_operands_of_a_combined_collective_have_places_of_their_own() -> None:
    program = compiled(
        "  %b = f32[8,4]{1,0} negate(%a)\n"
        "  %r = (f32[8,4], f32[8,4]) all-reduce(%a, %b), replica_groups={{0,2},{1,3}}, to_apply=%add, "
        + place(3, "jit(step)/(dot:sum)")
        + f"\n  %p = f32[8,4]{{1,0}} get-tuple-element(%r), index=0, {place(1)}\n"
        f"  %q = f32[8,4]{{1,0}} get-tuple-element(%r), index=1, {place(2, 'jit(step)/sum')}\n"
    )
    ours = [reported("all_reduce", X, 32, 2, "jit(step)/sum"), REDUCED]
    found = match_collectives(ours, program.operands, program)
    assert [(match.reason, match.theirs[0].source.number) for match in found] == [
        ("same", 1),
        ("same", 0),
    ]


def test_uses_are_found_in_fusions() -> None:
    fused = (
        "%fused (p: f32[8,4], s: s32[], z: s32[]) -> f32[4,4] {\n"
        "  %p = f32[8,4]{1,0} parameter(0)\n  %s = s32[] parameter(1)\n  %z = s32[] parameter(2)\n"
        "  ROOT %d = f32[4,4]{1,0} dynamic-slice(%p, %s, %z), dynamic_slice_sizes={4,4}\n}\n\n"
    )
    body = reduce("r", "%a", X, place(1)) + (
        "  %one = f32[4,4]{1,0} fusion(%r, %start, %zero), kind=kLoop, calls=%fused\n"
        "  %two = f32[4,4]{1,0} fusion(%r, %start, %zero), kind=kLoop, calls=%fused\n"
    )
    program = compiled(body, fused)
    [change] = on_accelerators(program).changes
    # An all-reduce of 128 bytes in groups of two sends 128, a reduce-scatter 64.
    assert (change.kind, round(change.saved)) == (SCATTERED, 64)
    assert on_accelerators(compiled(body + USED, fused)).changes == []


def test_offsets_that_the_text_leaves_out() -> None:
    text = f"{HEAD}{ENTRY}{reduce('r', '%a', X, place(1))}{SLICED}}}\n".replace("{0, 0, 4, 4}", "{...}")
    program = read_hlo("step", text)
    assert program.is_elided
    found = on_accelerators(program)
    assert (found.changes, [each.name for each in found.undecided]) == ([], ["r"])
    [match] = match_collectives([reported("reduce_scatter", X, 32, 1)], program.operands, program)
    assert match.why == "each use of %r is a slice as large as a shard, at offsets that the text leaves out"


def test_floats_that_only_the_cpu_sends_in_32_bits() -> None:
    converted = "  %h = bf16[8,4]{1,0} convert(%a)\n  %f = f32[8,4]{1,0} convert(%h)\n"
    reduced = converted + reduce("r", "%f", X, place(1))
    found = on_accelerators(compiled(reduced + "  %g = bf16[8,4]{1,0} convert(%r)\n"))
    [change] = found.changes
    assert (change.kind, round(change.saved), found.operands[0].bits) == (NARROWED, 64, 16)
    # The sum is used as it is, or that, too.
    assert on_accelerators(compiled(reduced + USED)).changes == []
    assert on_accelerators(compiled(f"{reduced}  %g = bf16[8,4]{{1,0}} convert(%r)\n{USED}")).changes == []


@pytest.mark.parametrize(
    ("line", "platform"),
    [
        ('  %f = f32[8,4] custom-call(%a), backend_config={"outer_dimension_partitions":["2"]}\n', "CPU"),
        ("  %f = f32[8,4]{1,0:T(8,128)} negate(%a)\n", "TPU"),
        ('  %f = f32[8,4] negate(%a), backend_config={"operation_queue_id":"0"}\n', "GPU"),
        ("", ""),
    ],
)
def test_the_text_tells_the_device(line: str, platform: str) -> None:
    assert compiled(line).platform == platform


def test_permutes_send_on_average() -> None:
    program = compiled(
        f"  %r = f32[8,4]{{1,0}} collective-permute(%a), source_target_pairs={{{{0,1}}}}, {place(1)}\n"
    )
    assert (round(program.operands[0].wire_bytes), program.operands[0].times) == (32, ONCE)

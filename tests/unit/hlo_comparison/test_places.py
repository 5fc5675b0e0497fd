"""Where collectives are: lines of the model, loops, fusions, and operands of combined collectives."""

from __future__ import annotations

import pytest

from sdyopt.analysis.figures.figures import ONCE, RunTimes
from sdyopt.analysis.figures.source_locations import Frame
from sdyopt.analysis.hlo_comparison.accelerators import NARROWED, SCATTERED, on_accelerators
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from tests.unit.hlo_comparison.step_programs import (
    ENTRY,
    GATHERED,
    HEAD,
    NEGATED,
    PLACELESS,
    REDUCED,
    SLICED,
    USED,
    WHILE,
    XY,
    X,
    Y,
    classes,
    compiled,
    gather,
    in_loop,
    place,
    reduce,
    reported,
)


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

"""What a line of HLO says: types, values of integers, numbers of runs, and what else communicates."""

from __future__ import annotations

import pytest

from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.source_locations import Frame
from sdyopt.analysis.hlo_comparison.collectives import (
    CollectiveOperand,
    bits_of,
    groups_across_slices,
    groups_of_axes,
    slices_of,
)
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction, element_of, uses_of
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.index_values import Values
from sdyopt.analysis.hlo_comparison.pairing import Transfer, Whole
from sdyopt.base.diagnostics.diagnostic import DiagnosticError


def program(*lines: str, before: str = "", devices: int = 4) -> CompiledProgram:
    body = "".join(f"  {line}\n" for line in lines)
    head = f"HloModule m, num_partitions={devices}\n\n{before}\n"
    return read_hlo("m", f"{head}ENTRY %main (p: f32[8]) -> f32[8] {{\n{body}}}\n")


def instruction(found: CompiledProgram, name: str) -> Instruction:
    return next(op for each in found.graph.computations.values() for op in each.ops if op.name == name)


def values(name: str, *lines: str, devices: int = 4) -> list[tuple[int, ...]] | None:
    """The values of an instruction on each device, or on all of them."""
    found = program(*lines, devices=devices)
    known = found.indices.of(HloValue(instruction(found, name)))
    return None if known is None else list(known.arrays)


@pytest.mark.parametrize(
    ("element", "bits"),
    [
        *(("f32", 32), ("bf16", 16), ("s4", 4), ("f8E4M3FN", 8), ("c64", 64), ("complex<f32>", 64)),
        # A boolean takes a byte, and so does what is unknown.
        *(("pred", 8), ("i1", 8), ("opaque", 8)),
    ],
)
def test_bits_of_an_element(element: str, bits: int) -> None:
    assert bits_of(element) == bits


# --- Values of integers ---------------------------------------------------------------------

DEVICE = "%d = u32[] partition-id()"
TABLE = "%t = s32[2,4] constant({ {0, 1, 2, 3}, {10, 11, 12, 13} })"
NUMBERS = "%z = s32[] constant(0)", "%one = s32[] constant(1)", "%nine = s32[] constant(9)"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("s32[] add(%one, %nine)", [(10,)]),
        ("s32[] subtract(%one, %nine)", [(-8,)]),
        ("s32[] multiply(%nine, %nine)", [(81,)]),
        ("s32[] divide(%nine, %one)", [(9,)]),
        ("s32[] divide(%nine, %z)", None),
        ("s32[] divide(%nine, %minus)", [(-9,)]),
        ("s32[] divide(%minus, %minus)", [(1,)]),
        ("s32[] maximum(%one, %nine)", [(9,)]),
        ("s32[] minimum(%one, %nine)", [(1,)]),
        ("s32[] and(%one, %nine)", [(1,)]),
        ("s32[] clamp(%one, %z, %nine)", [(1,)]),
        ("s32[] convert(%d)", [(0,), (1,), (2,), (3,)]),
        ("u32[2] broadcast(%d), dimensions={}", [(0, 0), (1, 1), (2, 2), (3, 3)]),
        # Only a scalar is repeated, and arrays of other sizes are not combined.
        ("s32[4,4] broadcast(%row), dimensions={0}", None),
        ("s32[4] add(%row, %one)", None),
        ("f32[] add(%one, %one)", None),
        ("s32[] negate(%one)", None),
        ("s32[4] bitcast(%row)", [(0, 1, 2, 3)]),
        ("s32[1,2] dynamic-slice(%t, %one, %one), dynamic_slice_sizes={1,2}", [(11, 12)]),
        ("s32[1] dynamic-slice(%row, %d), dynamic_slice_sizes={1}", [(0,), (1,), (2,), (3,)]),
        # A slice starts where it fits.
        ("s32[3] dynamic-slice(%row, %nine), dynamic_slice_sizes={3}", [(1, 2, 3)]),
        ("s32[3] dynamic-slice(%row, %low), dynamic_slice_sizes={3}", [(0, 1, 2)]),
        ("s32[5] dynamic-slice(%row, %z), dynamic_slice_sizes={5}", None),
        ("s32[1] dynamic-slice(%row, %z, %z), dynamic_slice_sizes={1}", None),
        ("s32[1] dynamic-slice(%row, %row), dynamic_slice_sizes={1}", None),
        ("s32[1] dynamic-slice(%row, %none), dynamic_slice_sizes={1}", None),
        ("s32[1,2] dynamic-slice(%t, %row, %one), dynamic_slice_sizes={1,2}", None),
        ("s32[1,2] dynamic-slice(%row, %one), dynamic_slice_sizes={1,2}", None),
        ("s32[4] constant({...})", None),
        ("s32[3] constant({1, 2})", None),
    ],
)
def test_values_of_integers(line: str, expected: list[tuple[int, ...]] | None) -> None:
    row = "%row = s32[4] constant({0, 1, 2, 3})", "%low = s32[] constant(-5)", "%none = s32[0] constant({})"
    minus = "%minus = s32[] constant(-1)"
    assert values("x", DEVICE, TABLE, *NUMBERS, minus, *row, f"%x = {line}") == expected


def test_the_number_of_one_of_many_devices_is_unknown() -> None:
    assert values("d", DEVICE, devices=4096) == [(device,) for device in range(4096)]
    assert values("d", DEVICE, devices=4097) is None
    # What does not depend on it is known.
    assert values("x", *NUMBERS, "%x = s32[] add(%one, %one)", devices=4097) == [(2,)]


def test_values_that_are_the_same_on_all_devices_do_not_differ() -> None:
    assert not Values([(1, 2)]).differ
    assert not Values([(1,), (1,)]).differ
    assert Values([(1,), (2,)]).differ
    assert (Values([(5,)]).on(3), Values([(5,), (6,)]).on(1)) == ((5,), (6,))
    assert Values([(1,)]).is_scalar and not Values([(1, 2)]).is_scalar


# --- Loops ----------------------------------------------------------------------------------

LOOP = """%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {{
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %x = f32[8] get-tuple-element(%p), index=1
  %step = s32[] constant({step})
  %next = s32[] {update}
  %r = f32[8] all-reduce(%x), replica_groups={{}}, to_apply=%add
  ROOT %t = (s32[], f32[8]) tuple(%next, %r)
}}
%condition (p: (s32[], f32[8])) -> pred[] {{
  %p = (s32[], f32[8]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant({limit})
  ROOT %c = pred[] compare(%i, %n), direction={direction}
}}
"""
ENTRY = (
    "%p = f32[8] parameter(0)",
    "%z = s32[] constant(FIRST)",
    "%init = (s32[], f32[8]) tuple(%z, %p)",
    "ROOT %w = (s32[], f32[8]) while(%init), condition=%condition, body=%body",
)


@pytest.mark.parametrize(
    ("first", "step", "direction", "limit", "trips"),
    [
        *((0, 1, "LT", 5, 5), (0, 1, "LE", 5, 6), (1, 2, "LT", 6, 3), (1, 2, "LT", 7, 3)),
        *((5, -1, "GT", 0, 5), (5, -1, "GE", 0, 6), (5, 1, "LT", 5, 0), (9, 1, "LT", 5, 0)),
        # Those that never end, and a direction that says nothing of a number.
        *((0, 0, "LT", 5, None), (0, -1, "LT", 5, None), (0, 1, "NE", 5, None)),
    ],
)
def test_the_number_of_iterations(
    first: int, step: int, direction: str, limit: int, trips: int | None
) -> None:
    before = LOOP.format(step=step, update="add(%step, %i)", direction=direction, limit=limit)
    [operand] = program(*(line.replace("FIRST", str(first)) for line in ENTRY), before=before).operands
    assert operand.times == (None if trips is None else RunTimes(trips, trips))


def test_a_step_may_be_carried_by_the_loop() -> None:
    before = LOOP.format(step=2, update="add(%i, %step)", direction="LT", limit=6)
    before = before.replace("(s32[], f32[8])", "(s32[], f32[8], s32[])").replace(
        "%step = s32[] constant(2)", "%step = s32[] get-tuple-element(%p), index=2"
    )
    before = before.replace("tuple(%next, %r)", "tuple(%next, %r, %step)")
    lines = (
        *("%p = f32[8] parameter(0)", "%z = s32[] constant(0)", "%two = s32[] constant(2)"),
        "%init = (s32[], f32[8], s32[]) tuple(%z, %p, %two)",
        "ROOT %w = (s32[], f32[8], s32[]) while(%init), condition=%condition, body=%body",
    )
    [operand] = program(*lines, before=before).operands
    assert operand.times == RunTimes(3, 3)


@pytest.mark.parametrize("update", ["add(%i, %i)", "add(%step, %step)", "multiply(%i, %step)", "copy(%i)"])
def test_a_counter_that_is_not_increased_by_a_step_says_nothing(update: str) -> None:
    before = LOOP.format(step=1, update=update, direction="LT", limit=5)
    [operand] = program(*(line.replace("FIRST", "0") for line in ENTRY), before=before).operands
    assert operand.times is None


def test_a_counter_that_the_loop_does_not_carry_says_nothing() -> None:
    before = LOOP.format(step=1, update="add(%i, %step)", direction="LT", limit=5)
    body, condition = before.split("%condition", 1)
    before = f"{body}%condition{condition.replace('index=0', 'index=2')}"
    [operand] = program(*(line.replace("FIRST", "0") for line in ENTRY), before=before).operands
    assert operand.times is None


def test_a_loop_that_returns_what_a_call_makes_says_nothing() -> None:
    before = LOOP.format(step=1, update="add(%i, %step)", direction="LT", limit=5)
    before = before.replace("tuple(%next, %r)", "custom-call(%next, %r)")
    [operand] = program(*(line.replace("FIRST", "0") for line in ENTRY), before=before).operands
    assert operand.times is None


def test_runs_beyond_any_number_are_unknown() -> None:
    known = 'backend_config={"known_trip_count":{"n":"2147483648"}}'
    inner = "%b (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n"
    inner += "  ROOT %r = f32[8] all-reduce(%p), replica_groups={}\n}\n"
    outer = "%c (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n"
    outer += f"  %w = f32[8] while(%p), body=%b, {known}\n}}\n"
    lines = "%p = f32[8] parameter(0)", f"%w = f32[8] while(%p), body=%c, {known}"
    # 2^31 iterations of 2^31.
    assert program(*lines, before=inner + outer).operands[0].times is None
    once = program(lines[0], f"%w = f32[8] while(%p), body=%b, {known}", before=inner)
    assert once.operands[0].times == RunTimes(1 << 31, 1 << 31)


@pytest.mark.parametrize(("limit", "expected"), [("5", 5 * 2 * 8 * 8 * 8), ("%x", None)])
def test_flops_are_those_of_all_runs(limit: str, expected: int | None) -> None:
    before = LOOP.format(step=1, update="add(%step, %i)", direction="LT", limit=5)
    dot = "%m = f32[8,8] dot(%y, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    before = before.replace("  %r =", f"  %y = f32[8,8] custom-call()\n  {dot}\n  %r =")
    before = before.replace("constant(5)", "constant(5)" if expected else "custom-call()")
    # What is never called does not run.
    never = f"%never (q: f32[8,8]) -> f32[8,8] {{\n  %y = f32[8,8] parameter(0)\n  ROOT {dot}\n}}\n"
    found = program(*(line.replace("FIRST", "0") for line in ENTRY), before=never + before)
    assert found.flops == expected


def test_what_a_loop_keeps_is_what_it_was_given() -> None:
    before = LOOP.format(step=1, update="add(%step, %i)", direction="LT", limit=5)
    before = before.replace("tuple(%next, %r)", "tuple(%next, %x)")
    found = program(*(line.replace("FIRST", "0") for line in ENTRY), before=before)
    carried = instruction(found, "r").operands[0]
    assert found.indices.kept(carried) == instruction(found, "init").operands[1]
    # The counter changes, and so does the tuple as a whole.
    assert found.indices.kept(HloValue(carried.op, 0)) is None
    assert found.indices.kept(HloValue(carried.op)) is None
    assert found.indices.kept(HloValue(instruction(found, "z"))) is None


# --- Computations ---------------------------------------------------------------------------


def test_an_array_without_elements_is_not_too_large() -> None:
    found = program("%p = f32[0,9000000000,9000000000] parameter(0)")
    assert instruction(found, "p").elements == 0


def test_what_a_branch_runs_may_not_run() -> None:
    reduce = "ROOT %r = f32[8] all-reduce(%p), replica_groups={}, to_apply=%add"
    branch = f"%branch (p: f32[8]) -> f32[8] {{\n  %p = f32[8] parameter(0)\n  {reduce}\n}}\n"
    call = "conditional(%b, %p, %p), true_computation=%branch, false_computation=%other"
    lines = "%p = f32[8] parameter(0)", "%b = pred[] parameter(1)", f"%c = f32[8] {call}"
    [operand] = program(*lines, before=branch).operands
    assert operand.times == RunTimes(0, 1)


def test_a_location_of_older_releases_is_a_frame() -> None:
    metadata = 'metadata={op_name="jit(f)/dot" source_file="a.py" source_line=3}'
    lines = "%p = f32[8] parameter(0)", f"%r = f32[8] all-reduce(%p), replica_groups={{}}, {metadata}"
    [operand] = program(*lines).operands
    assert operand.location.frames == (Frame("", "a.py", 3, 0),)


def test_the_entry_is_the_computation_that_says_so() -> None:
    reduce = "%r = f32[8] all-reduce(%p), replica_groups={}, to_apply=%add"
    after = f"%other (p: f32[8]) -> f32[8] {{\n  %p = f32[8] parameter(0)\n  {reduce}\n}}\n"
    entry = f"ENTRY %main (p: f32[8]) -> f32[8] {{\n  %p = f32[8] parameter(0)\n  {reduce}\n}}\n"
    found = read_hlo("m", f"HloModule m, num_partitions=4\n\n{entry}\n{after}")
    assert [operand.times for operand in found.operands] == [RunTimes(1, 1), None]


def test_elements_of_tuples_are_looked_through() -> None:
    found = program(
        "%p = f32[8] parameter(0)", "%q = f32[4] parameter(1)", "%t = (f32[8], f32[4]) tuple(%p, %q)"
    )
    p, q, t = (HloValue(instruction(found, name)) for name in "pqt")
    assert [element_of(t, part) for part in (-1, 0, 1)] == [t, p, q]
    # Of another instruction, an element has a number; a tuple in it has none of its own.
    assert element_of(p, 1) == HloValue(p.op, 1)
    assert element_of(HloValue(p.op, 1), 2) == HloValue(p.op, 1)


def test_uses_of_a_tuple_are_those_of_its_elements() -> None:
    element = "%e = f32[8] get-tuple-element(%t), index=0"
    found = program("%t = (f32[8], f32[8]) custom-call()", element, "%x = f32[8] tanh(%e)")
    whole = HloValue(instruction(found, "t"))
    assert [user.name for user, _ in whole.uses] == ["x"]
    lines = "%t = (f32[8], f32[8]) custom-call()", element, "%x = f32[8] tanh(%e)", "%y = f32[8] copy(%t)"
    found = program(*lines)
    assert sorted(user.name for user, _ in HloValue(instruction(found, "t")).uses) == ["x", "y"]
    assert [len(HloValue(whole.op, part).uses) for part in (0, 1)] == [1, 0]


def test_uses_are_those_of_what_only_rearranges_a_value() -> None:
    lines = "%p = f32[8] parameter(0)", "%b = f32[2,4] bitcast(%p)", "%c = bf16[2,4] convert(%b)"
    found = program(*lines, "%x = f32[2,4] tanh(%b)", "%y = bf16[2,4] tanh(%c)")
    value = HloValue(instruction(found, "p"))
    assert [user.name for user, _ in uses_of(value)] == ["c", "x"]
    assert [user.name for user, _ in uses_of(value, ("convert",))] == ["x", "y"]


def test_hlo_that_is_cut_off_is_located() -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_hlo("step.txt", "HloModule m\n\nENTRY %main (p: f32[8]) -> f32[8] {\n")
    assert str(caught.value.diagnostic.location) == 'loc("step.txt":1:1)'


# --- What else communicates -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("(f32[8], u32[], token[]) send(%p, %a)", ["send"]),
        # The host is no device.
        ("(f32[8], u32[], token[]) send(%p, %a), is_host_transfer=true", []),
        ("(f32[8], u32[], token[]) recv(%a)", []),
        ('f32[8] custom-call(%p), custom_call_target="MyCollective"', ["custom-call MyCollective"]),
        ('f32[8] custom-call(%p), custom_call_target="TopK"', []),
        ("f32[8] collective-broadcast(%p), replica_groups={{0,1}}", ["collective-broadcast"]),
        ("f32[8] tanh(%p)", []),
    ],
)
def test_what_is_not_understood(line: str, what: list[str]) -> None:
    found = program("%p = f32[8] parameter(0)", "%a = token[] after-all()", f"%x = {line}")
    assert [name for _, name, _ in found.not_read] == what
    assert found.operands == []


@pytest.mark.parametrize(
    ("pairs", "sent"), [("{{0,1},{1,0}}", 2), ("{{0,1},{1,1}}", 1), ("{{2,2}}", 0), ("{}", 0)]
)
def test_a_permute_sends_from_devices_to_others(pairs: str, sent: int) -> None:
    lines = "%p = f32[8] parameter(0)", f"%x = f32[8] collective-permute(%p), source_target_pairs={pairs}"
    found = program(*lines)
    assert [int(each.wire_bytes) for each in found.operands] == ([sent * 32 // 4] if sent else [])


# --- Slices of TPUs -------------------------------------------------------------------------


def test_the_number_of_slices_is_that_of_the_last_target() -> None:
    assert slices_of(["{1,2}x{0:3}", "{{100000->300000}}"]) == 3
    assert slices_of(["{{0->1}}"]) == 1


def test_groups_across_slices_name_devices_or_ranges() -> None:
    pairs = frozenset({frozenset({0, 8}), frozenset({1, 9}), frozenset({5, 13})})
    assert groups_across_slices("{1,3}x{0:1,5}", 4) == pairs
    assert groups_across_slices("{{100001,200003}}", 4) == frozenset({frozenset({1, 7})})


def collective(elements: int, axes: str = '{"x"}') -> CollectiveOperand:
    groups = groups_of_axes(axes, '<["x"=4, "y"=2]>')
    return CollectiveOperand("all_reduce", groups, elements, 32, times=RunTimes(1, 1))


def test_a_transfer_is_a_part_of_the_nearest_collective() -> None:
    """Parts are padded, by less than an eighth of the size; each collective has one transfer."""
    whole = Whole(dict(enumerate(map(collective, (64, 104, 1000)))))

    whole_groups = collective(1).groups

    def take(elements: int, axes: str = '{"x"}', runs: int | None = 1) -> int | None:
        return whole.take(Transfer((), collective(1, axes).groups, elements, runs, ""))

    assert take(100, '{"y"}') is None
    assert take(100, runs=2) is None
    assert take(80) is None
    assert take(100) == 1
    assert take(100) is None
    assert take(66) == 0
    # Smaller than all of them.
    assert Whole({0: collective(64), 1: collective(104)}).take(Transfer((), whole_groups, 60, 1, "")) == 0
    assert take(900) == 2
    assert take(1000) is None

"""HLO that is small and would take long: it is read in time about that of its length, or it is an error."""

import sys
from collections import Counter
from collections.abc import Callable

import pytest

from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import on_accelerators
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, axes_of_groups, groups_of_axes
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.index_values import Values
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.base.diagnostics.diagnostic import DiagnosticError

MESH = '<["x"=4, "y"=2]>'


def program(*lines: str, before: str = "", devices: int = 4) -> CompiledProgram:
    """A program with these instructions in its entry."""
    body = "\n".join(f"  {line}" for line in lines)
    text = (
        f"HloModule a, num_partitions={devices}\n{before}\nENTRY %main (p: f32[8]) -> f32[8] {{\n{body}\n}}\n"
    )
    return read_hlo("hlo", text)


def instruction(found: CompiledProgram, name: str) -> Instruction:
    return next(op for each in found.graph.computations.values() for op in each.ops if op.name == name)


def values(found: CompiledProgram, name: str) -> Values | None:
    return found.indices.of(HloValue(instruction(found, name)))


def calls(function: Callable[[], object]) -> int:
    """The Python functions that a function calls."""
    events: Counter[str] = Counter()
    sys.setprofile(lambda frame, event, argument: events.update([event]))
    try:
        function()
    finally:
        sys.setprofile(None)
    return events["call"]


@pytest.mark.parametrize(
    ("type", "line", "expected"),
    [
        ("s32", "multiply(%a, %a)", -727379968),
        ("u32", "multiply(%a, %a)", 3567587328),
        ("s8", "add(%a, %a)", 64),
        ("u8", "subtract(%z, %one)", 255),
        ("s32", "divide(%m, %two)", -3),
        ("s32", "remainder(%m, %two)", -1),
    ],
)
def test_integers_are_those_of_their_type(type: str, line: str, expected: int) -> None:
    a = {"s8": -96, "u8": 160}.get(type, 1000000)
    names = {"a": a, "z": 0, "one": 1, "two": 2, "m": -7}
    constants = (f"%{name} = {type}[] constant({value})" for name, value in names.items())
    found = values(program(*constants, f"%r = {type}[] {line}"), "r")
    assert found is not None and found.arrays == [(expected,)]


def test_squares_of_squares_stay_small() -> None:
    lines = [f"%m{n} = s32[] multiply(%m{n - 1}, %m{n - 1})" for n in range(1, 400)]
    found = values(program("%m0 = s32[] constant(3)", *lines), "m399")
    assert found is not None and abs(found.arrays[0][0]) < 1 << 31


def test_a_chain_of_additions_may_be_long() -> None:
    lines = [f"%a{n} = s32[] add(%a{n - 1}, %a0)" for n in range(1, 5000)]
    found = values(program("%a0 = s32[] constant(1)", *lines), "a4999")
    assert found is not None and found.arrays == [(5000,)]


def test_what_is_large_on_many_devices_is_unknown() -> None:
    found = program(
        "%d = u32[] partition-id()",
        "%b = u32[65536] broadcast(%d), dimensions={}",
        "%i = u32[65536] add(%b, %b)",
        "%c = u32[65536] broadcast(%one), dimensions={}",
        devices=4096,
    )
    assert values(found, "i") is None


def test_values_have_limits_for_one_and_for_all() -> None:
    device = "%d = u32[] partition-id()"
    for elements, is_known in ((64, True), (65, False)):
        found = program(device, f"%b = u32[{elements}] broadcast(%d), dimensions={{}}", devices=4096)
        assert (values(found, "b") is not None) == is_known
    # 16 arrays of 262,144 elements fit in, with as many other values.
    sizes = range(1 << 18, (1 << 18) - 17, -1)
    lines = [f"%b{n} = u32[{size}] broadcast(%c), dimensions={{}}" for n, size in enumerate(sizes)]
    found = program("%c = u32[] constant(1)", *lines)
    assert [values(found, f"b{n}") is not None for n in range(17)] == [True] * 16 + [False]


def test_what_is_equal_on_all_devices_is_there_once() -> None:
    numbers = ",".join(["1"] * 8192)
    lines = f"%b = u32[8192] constant({{{numbers}}})", "%i = u32[8192] add(%b, %b)"
    found = values(program(*lines, devices=4096), "i")
    assert found is not None and len(found.arrays) == 1 and not found.differ


def test_fusions_that_double_are_not_copied_as_often() -> None:
    before = "%f0 (p: f32[8]) -> f32[8] {\n  %p = f32[8] parameter(0)\n  ROOT %r = f32[8] add(%p, %p)\n}\n"
    for n in range(1, 40):
        before += f"%f{n} (p: f32[8]) -> f32[8] {{\n  %p = f32[8] parameter(0)\n"
        before += f"  %a = f32[8] fusion(%p), kind=kLoop, calls=%f{n - 1}\n"
        before += (
            f"  %b = f32[8] fusion(%a), kind=kLoop, calls=%f{n - 1}\n  ROOT %r = f32[8] add(%a, %b)\n}}\n"
        )
    found = program("%p = f32[8] parameter(0)", "ROOT %r = f32[8] fusion(%p), calls=%f39", before=before)
    assert sum(len(each.ops) for each in found.graph.computations.values()) < 100_000


def test_tuples_that_double_have_each_element_once() -> None:
    lines = [f"%t{n} = (f32[8]) tuple(%t{n - 1}, %t{n - 1})" for n in range(1, 60)]
    found = program("%t0 = f32[8] parameter(0)", *lines, "ROOT %r = f32[8] opt(%t59)")
    assert len(instruction(found, "t0").uses[-1]) == 1


def test_a_copy_without_operands_is_unknown() -> None:
    body = "%b (p: (s32[])) -> (s32[]) {\n  %p = (s32[]) parameter(0)\n  %q = s32[] copy()\n"
    body += "  ROOT %t = (s32[]) tuple(%q)\n}\n"
    lines = "%p = (s32[]) parameter(0)", "%w = (s32[]) while(%p), condition=%b, body=%b"
    more = "%i = s32[] get-tuple-element(%w), index=0", "ROOT %ar = f32[8] all-reduce(%i), replica_groups={}"
    [found] = program(*lines, *more, before=body).operands
    assert found.times == RunTimes(1, 1)


@pytest.mark.parametrize(
    "line",
    [
        "%a = f32[999999999999999999,999999999999999999] all-reduce(%p), replica_groups={}",
        "%a = f32[" + "9" * 5000 + "] all-reduce(%p), replica_groups={}",
        "%a = f32[8] all-reduce(%p), replica_groups=[1,99999999]<=[99999999]",
    ],
)
def test_what_is_too_large_is_an_error(line: str) -> None:
    with pytest.raises(DiagnosticError, match=r"too large|more than") as caught:
        program(line)
    assert str(caught.value.diagnostic.location) == 'loc("hlo":1:1)'


@pytest.mark.parametrize("target", ["AsyncCollectiveStart", "AsyncCollectiveDone"])
def test_a_start_or_an_end_without_a_collective_is_a_call(target: str) -> None:
    call = f'%s = f32[8] custom-call(%p), custom_call_target="{target}"'
    found = program("%p = f32[8] parameter(0)", call, f"%t = f32[8] {call.partition('= f32[8] ')[2]}")
    assert instruction(found, "s").opcode == "custom-call"


def test_a_line_that_is_cut_off_is_read_to_its_end() -> None:
    found = program("%p = f32[8] parameter(0)", "%a = f32[8] all-reduce(%p, %q")
    assert instruction(found, "a").operands == [HloValue(instruction(found, "p"))]


def test_replica_groups_have_a_limit_in_all() -> None:
    # Each has 65,536 devices.
    shapes = [(1 << a, 1 << b, 1 << (16 - a - b)) for a in range(4) for b in range(9)]
    lines = [
        f"%a{n} = f32[8] all-reduce(%p), replica_groups=[256,256]<=[{a},{b},{c}]T(2,0,1), to_apply=%add"
        for n, (a, b, c) in enumerate(shapes)
    ]
    assert len(program(*lines[:3], devices=65536).operands) == 3
    with pytest.raises(DiagnosticError, match="more devices than are compared"):
        program(*lines, devices=65536)


def test_the_axes_of_groups_follow_from_one_group() -> None:
    mesh = "<[" + ", ".join(f'"a{n}"=2' for n in range(10)) + "]>"
    groups = groups_of_axes('{"a3", "a9"}', mesh)
    assert axes_of_groups(groups, mesh) == '{"a3", "a9"}'
    odd = frozenset({frozenset({0, 3, 5}), *(frozenset({n}) for n in range(1024) if n not in (0, 3, 5))})
    assert calls(lambda: axes_of_groups(odd, mesh)) < 1000


def test_the_trip_count_of_many_loops_is_unknown() -> None:
    before = ""
    for n in range(12):
        inner = f"  %w = (f32[8]) while(%p), body=%b{n - 1}, {TRIPS}\n" if n else ""
        reduced = "" if n else "  %ar = f32[8] all-reduce(%p), replica_groups={}\n"
        before += f"%b{n} (p: (f32[8])) -> (f32[8]) {{\n  %p = (f32[8]) parameter(0)\n{inner}{reduced}}}\n"
    entry = f"%w = (f32[8]) while(%p), body=%b11, {TRIPS}"
    [found] = program("%p = (f32[8]) parameter(0)", entry, before=before).operands
    assert found.times is None


TRIPS = 'backend_config={"known_trip_count":{"n":"999999999"}}'


# --- Many collectives -----------------------------------------------------------------------


def chained(count: int) -> CompiledProgram:
    """All-reduces, each of the result of the one before, at lines 1, 2, …"""
    lines = [
        f"%h{n} = f32[64] all-reduce(%h{n - 1}), replica_groups=[4,2]<=[8], to_apply=%add, "
        f'metadata={{op_name="jit(f)/layer{n}/dot" source_file="a.py" source_line={n}}}'
        for n in range(1, count + 1)
    ]
    return program("%h0 = f32[64] parameter(0)", *lines, devices=8)


def reported(count: int, kind: str, axes: str, is_one_line: bool = False) -> list[CollectiveOperand]:
    """Collectives of a report at those lines, or all at one."""
    found = []
    for n in range(1, count + 1):
        line = 1 if is_one_line else n
        name = f"jit(f)/layer{line}/dot"
        location = SourceLocation("a.py", line, 0, name, (Frame("f", "a.py", line, 0),), name)
        groups = groups_of_axes(axes, MESH)
        found.append(CollectiveOperand(kind, groups, 64, 32, location, f"#{n}", RunTimes(1, 1)))
    return found


@pytest.mark.parametrize(
    ("kind", "axes", "is_one_line"),
    [
        ("all_gather", '{"x"}', False),
        ("all_reduce", '{"x"}', False),
        ("all_reduce", '{"x"}', True),
        ("all_reduce", '{"y"}', True),
        ("all_to_all", '{"y"}', True),
    ],
)
def test_matching_is_linear(kind: str, axes: str, is_one_line: bool) -> None:
    def work(count: int) -> int:
        compiled, ours = chained(count), reported(count, kind, axes, is_one_line)
        return calls(lambda: match_collectives(ours, compiled.operands, compiled))

    work(10)
    assert work(320) < 4.5 * work(80)


def test_reading_and_accelerators_are_linear() -> None:
    def work(count: int) -> int:
        return calls(lambda: on_accelerators(chained(count)))

    work(10)
    assert work(320) < 4.5 * work(80)


@pytest.mark.parametrize("target", ["{1,65536}x{0:65535}", "{1,2}x{" + "0:65535," * 1000 + "}"])
def test_transfers_between_too_many_devices_are_an_error(target: str) -> None:
    notes = f'_xla_megascale_target="{target}",_xla_megascale_transfer_type="ALL_REDUCE"'
    with pytest.raises(DiagnosticError, match="devices are more than"):
        program("%p = f32[8] parameter(0)", f"%s = (f32[8], token[]) send(%p), {notes}")


@pytest.mark.parametrize("size", ["9" * 20, "9" * 5000, "99999999999,99999999999"])
def test_a_parameter_that_is_too_large_is_an_error(size: str) -> None:
    header = f"HloModule a, entry_computation_layout={{(f32[{size}]{{0}})->f32[8]{{0}}}}, num_partitions=4"
    with pytest.raises(DiagnosticError, match="too large"):
        read_hlo("hlo", f"{header}\n\nENTRY %main (p: f32[8]) -> f32[8] {{\n}}\n")


def test_a_use_may_be_of_any_size() -> None:
    huge = f"f32[{'9' * 30}]"
    lines = "%a = f32[8] all-reduce(%p), replica_groups={}", f"%s = {huge} dynamic-slice(%a, %a)"
    assert on_accelerators(program("%p = f32[8] parameter(0)", *lines)).changes == []


def test_a_large_tuple_may_not_be_used_often() -> None:
    elements, uses = ", ".join(["%p"] * 3000), ", ".join(["%t"] * 3000)
    with pytest.raises(DiagnosticError, match="more elements than are compared"):
        program("%p = f32[8] parameter(0)", f"%t = (f32[8]) tuple({elements})", f"%x = f32[8] opt({uses})")


def test_a_mesh_may_have_no_size_that_can_be_printed() -> None:
    axes = ",".join(["'a'=999999999999999999"] * 400)
    with pytest.raises(DiagnosticError, match="the devices are more than"):
        program(f"%a = f32[8] all-reduce(%p), replica_groups=mesh[{axes}] {{'a'}}")


def test_hlo_for_no_device_is_for_one() -> None:
    assert program("%p = f32[8] parameter(0)", devices=0).devices == 1


def test_a_type_may_have_any_name() -> None:
    [found] = program(f"%a = f{'9' * 5000}[8] all-reduce(%p), replica_groups={{}}").operands
    assert found.bits == 9999

"""What TPU and GPU make of collectives is read as what it is, once, and has a reason."""

from fractions import Fraction

import pytest

from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.source_locations import Frame, SourceLocation
from sdyopt.analysis.hlo_comparison.collectives import (
    CollectiveOperand,
    Groups,
    groups_across_slices,
    groups_of_axes,
    slices_of,
)
from sdyopt.analysis.hlo_comparison.comparison import moved, shifts_of
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.analysis.hlo_comparison.reasons import CollectiveMatch, place_of
from sdyopt.base.dataclasses import replace

MESH = '<["x"=4]>'
X = groups_of_axes('{"x"}', MESH)
PLACE = 'metadata={op_name="jit(f)/dot_general" source_file="a.py" source_line=3}'


def hlo(entry: str, before: str = "", devices: int = 4) -> CompiledProgram:
    body = "".join(f"  {line.strip()}\n" for line in entry.strip().splitlines())
    entry = f"ENTRY %main (p: f32[8,8]) -> f32[8,8] {{\n{body}}}\n"
    return read_hlo("hlo", f"HloModule a, num_partitions={devices}\n\n{before}\n{entry}", platform="TPU")


def read(program: CompiledProgram) -> list[tuple[str, str, int, int, int]]:
    """The name, kind, devices of a group, bytes and runs of each collective."""
    return [
        (each.name, each.kind, each.group_size, each.bytes, 0 if each.times is None else each.times.high)
        for each in program.operands
    ]


def reported(
    kind: str, elements: int, bits: int = 32, groups: Groups = X, line: int = 3, times: int = 1
) -> CollectiveOperand:
    name = "jit(f)/dot_general"
    location = SourceLocation("a.py", line, 0, name, (Frame("f", "a.py", line, 0),), name)
    return CollectiveOperand(kind, groups, elements, bits, location, "#0", RunTimes(times, times))


def match(program: CompiledProgram, *ours: CollectiveOperand) -> list[CollectiveMatch]:
    return match_collectives(ours, program.operands, program)


# --- TPU ------------------------------------------------------------------------------------

START = """%start (p: f32[2,8]) -> (f32[2,8], f32[8,8], s32[2]) {
  %p = f32[2,8]{1,0:T(8,128)} parameter(0)
  %all-gather.1 = f32[8,8]{1,0:T(8,128)} all-gather(%p), channel_id=4, replica_groups={}, dimensions={0}
  ROOT %c = (f32[2,8], f32[8,8], s32[2]) custom-call(%all-gather.1), custom_call_target="AsyncCollectiveStart"
}
"""
STEP = """%async_collective_fusion (p: f32[2,8], q: f32[8,8]) -> (f32[8,8], f32[2,8], f32[8,8]) {
  %p = f32[2,8] parameter(0)
  %q = f32[8,8] parameter(1)
  %tanh = f32[8,8] tanh(%q)
  %all-gather.2 = f32[8,8]{1,0:T(8,128)S(1)} all-gather(%p), channel_id=4, replica_groups={}, dimensions={0}
  ROOT %t = (f32[8,8], f32[2,8], f32[8,8]) tuple(%tanh, %p, %all-gather.2)
}
"""
DONE = """%done (p: f32[2,8], o: f32[8,8]) -> f32[8,8] {
  %p = f32[2,8] parameter(0)
  %o = f32[8,8] parameter(1)
  %all-gather.3 = f32[8,8] all-gather(%p), channel_id=4, replica_groups={}, dimensions={0}
  ROOT %c = f32[8,8] custom-call(%p, %o, %all-gather.3), custom_call_target="AsyncCollectiveDone"
}
"""


def test_a_collective_of_several_fusions_counts_once() -> None:
    entry = """%p = f32[2,8] parameter(0), metadata={op_name="w"}
        %q = f32[8,8] parameter(1)
        %s = (f32[2,8], f32[8,8], s32[2]) fusion(%p), kind=kCustom, calls=%start
        %s0 = f32[2,8] get-tuple-element(%s), index=0
        %f = (f32[8,8], f32[2,8], f32[8,8]) fusion(%s0, %q), kind=kOutput, calls=%async_collective_fusion
        %other = f32[2,8] tanh(%s0)
        %f1 = f32[2,8] get-tuple-element(%f), index=1
        %f2 = f32[8,8] get-tuple-element(%f), index=2
        %d = f32[8,8] fusion(%f1, %f2), kind=kCustom, calls=%done
        ROOT %dot = f32[8,8] dot(%q, %d)"""
    program = hlo(entry, START + STEP + DONE)
    assert read(program) == [("all-gather.1", "all_gather", 4, 256, 1)]
    # What is used is the result of the end.
    [gather] = program.operands
    assert gather.moved == "w"
    assert [user.name for user, _ in gather.source.result.uses] == ["dot"]
    # The first element of the start is the operand.
    assert "tanh" in [user.opcode for user, _ in gather.source.operand.uses]


def test_steps_in_a_loop_are_of_what_starts_before_it() -> None:
    body = """%body (b: (s32[], f32[2,8], f32[8,8])) -> (s32[], f32[2,8], f32[8,8]) {
  %b = (s32[], f32[2,8], f32[8,8]) parameter(0)
  %n = s32[] get-tuple-element(%b), index=0
  %x = f32[2,8] get-tuple-element(%b), index=1
  %y = f32[8,8] get-tuple-element(%b), index=2
  %f = (f32[8,8], f32[2,8], f32[8,8]) fusion(%x, %y), kind=kOutput, calls=%async_collective_fusion
  %y1 = f32[8,8] get-tuple-element(%f), index=2
  ROOT %t = (s32[], f32[2,8], f32[8,8]) tuple(%n, %x, %y1)
}
"""
    entry = """%p = f32[2,8] parameter(0)
        %s = (f32[2,8], f32[8,8], s32[2]) fusion(%p), kind=kCustom, calls=%start
        %s1 = f32[8,8] get-tuple-element(%s), index=1
        %w = (s32[], f32[2,8], f32[8,8]) while(%s), body=%body, condition=%body"""
    assert read(hlo(entry, START + STEP + body)) == [("all-gather.1", "all_gather", 4, 256, 1)]


def test_collectives_of_one_channel_may_be_several() -> None:
    # shard_map gives them all the same one.
    gather = "all-gather(%p), channel_id=4, replica_groups=[1,4]<=[4], dimensions={0}"
    entry = f"""%p = f32[2,8] parameter(0)
        %s = (f32[2,8], f32[8,8], s32[2]) fusion(%p), kind=kCustom, calls=%start
        %a = f32[8,8] {gather}
        %b = f32[8,8] {gather}"""
    assert [name for name, *_ in read(hlo(entry, START))] == ["all-gather.1", "a", "b"]


SCATTER = """%all-reduce-scatter (p: f32[8,8]) -> f32[2,8] {
  %p = f32[8,8] parameter(0)
  %all-reduce.2 = f32[8,8] all-reduce(%p), channel_id=2, replica_groups={{0,1,2,3}}, to_apply=%add
  %n = u32[] partition-id()
  %two = u32[] constant(2)
  %at = u32[] multiply(%n, %two)
  %zero = u32[] constant(0)
  ROOT %slice = f32[2,8] dynamic-slice(%all-reduce.2, %at, %zero), dynamic_slice_sizes={2,8}
}
"""
SCATTERS = """%all-reduce-scatter (p: f32[8,8], q: f32[8,4]) -> (f32[2,8], f32[8,1]) {
  %p = f32[8,8] parameter(0)
  %q = f32[8,4] parameter(1)
  %all-reduce.2 = (f32[8,8], f32[8,4]) all-reduce(%p, %q), channel_id=2, replica_groups={}, to_apply=%add
  %g = f32[8,8] get-tuple-element(%all-reduce.2), index=0
  %h = f32[8,4] get-tuple-element(%all-reduce.2), index=1
  %n = u32[] partition-id()
  %zero = u32[] constant(0)
  %slice.1 = f32[2,8] dynamic-slice(%g, %n, %zero), dynamic_slice_sizes={2,8}
  %slice.2 = f32[8,1] dynamic-slice(%h, %zero, %n), dynamic_slice_sizes={8,1}
  ROOT %t = (f32[2,8], f32[8,1]) tuple(%slice.1, %slice.2)
}
"""


def test_a_fused_reduce_scatter_is_one() -> None:
    fusion = f"%f = f32[2,8] fusion(%p), kind=kCustom, calls=%all-reduce-scatter, {PLACE}"
    program = hlo(f"%p = f32[8,8] parameter(0)\n{fusion}\n%t = f32[2,8] tanh(%f)", SCATTER)
    # Its result is that of the fusion, and nothing is left of the slice.
    assert [user.name for user, _ in program.operands[0].source.result.uses] == ["t"]
    assert "slice" not in [op.name for op in program.graph.computations["main"].ops]
    assert read(program) == [("all-reduce.2", "reduce_scatter", 4, 256, 1)]
    # The fusion has the place, unless the sum has one of its own.
    assert program.operands[0].location.file_text == "a.py:3"
    own = SCATTER.replace("to_apply=%add", f"to_apply=%add, {PLACE.replace('=3', '=7')}")
    other = hlo(f"%p = f32[8,8] parameter(0)\n{fusion}", own)
    assert other.operands[0].location.file_text == "a.py:7"
    [found] = match(program, reported("reduce_scatter", 64))
    assert found.reason == "same"


def test_a_fused_reduce_scatter_of_several_arrays_is_several() -> None:
    fusion = "%f = (f32[2,8], f32[8,1]) fusion(%p, %q), kind=kCustom, calls=%all-reduce-scatter"
    program = hlo(f"%p = f32[8,8] parameter(0)\n%q = f32[8,4] parameter(1)\n{fusion}", SCATTERS)
    assert [(kind, size) for _, kind, _, size, _ in read(program)] == [
        ("reduce_scatter", 256),
        ("reduce_scatter", 128),
    ]


def test_a_fusion_that_uses_the_sum_otherwise_is_an_all_reduce() -> None:
    whole = SCATTER.replace("%slice =", "%slice.1 =").replace("ROOT ", "")
    whole = whole.replace("\n}", "\n  ROOT %t = (f32[2,8], f32[8,8]) tuple(%slice.1, %all-reduce.2)\n}")
    fusion = "%f = (f32[2,8], f32[8,8]) fusion(%p), kind=kCustom, calls=%all-reduce-scatter"
    assert read(hlo(f"%p = f32[8,8] parameter(0)\n{fusion}", whole))[0][1] == "all_reduce"


CALLED = """%called (p: f32[2,8]) -> f32[8,8] {
  %p = f32[2,8] parameter(0)
  %t = (f32[2,8]) tuple(%p)
  %g = f32[2,8] get-tuple-element(%t), index=0
  ROOT %all-gather.5 = f32[8,8] all-gather(%g), channel_id=3, replica_groups=[1,4]<=[4], dimensions={0}
}, execution_thread="sparsecore"

"""


def test_a_call_of_a_sparse_core_is_what_it_does_with_its_operands() -> None:
    start = "%s = ((), (), (s32[8]{0})) custom-call-start(), called_computations={%called}"
    entry = f"""%p = f32[2,8] parameter(0), metadata={{op_name="w"}}
        {start}
        %u = ((f32[2,8]), f32[8,8], (s32[8])) custom-call-update(%s, %p)
        %d = f32[8,8] custom-call-done(%u)
        ROOT %dot = f32[8,8] dot(%d, %d)"""
    program = hlo(entry, CALLED)
    assert read(program) == [("all-gather.5", "all_gather", 4, 256, 1)]
    assert program.operands[0].moved == "w"
    # Without an end, it is still there.
    assert read(hlo(start, CALLED)) == [("all-gather.5", "all_gather", 4, 256, 1)]


def transfer(kind: str, target: str) -> str:
    return (
        'is_host_transfer=true, frontend_attributes={_xla_host_transfer_rendezvous="r0",'
        f'_xla_megascale_target={target},_xla_megascale_transfer_type="{kind}"}}'
    )


@pytest.mark.parametrize(
    ("kind", "target", "received", "expected"),
    [
        ("ALL_REDUCE", '"{1,2}x{0:3}"', "f32[2,8]", ("all_reduce", 2, 64)),
        ("ALL_GATHER", '"{1,2}x{0:3}"', "f32[4,8]", ("all_gather", 2, 128)),
        ("REDUCE_SCATTER", '"{1,2}x{0:3}"', "f32[1,8]", ("reduce_scatter", 2, 64)),
        ("ALL_TO_ALL", "{{100000,100001,200000,200001}}", "f32[2,8]", ("all_to_all", 4, 64)),
        ("SEND_RECV", "{{100000->200000},{200001->100001}}", "f32[2,8]", ("collective_permute", 1, 64)),
    ],
)
def test_what_is_sent_to_another_slice(
    kind: str, target: str, received: str, expected: tuple[str, int, int]
) -> None:
    notes = transfer(kind, target)
    program = hlo(f"""%p = f32[2,8] parameter(0)
        %a = token[] after-all()
        %send = (f32[2,8], u32[], token[]) send(%p, %a), channel_id=2, {notes}
        %recv = ({received}, u32[], token[]) recv(%a), channel_id=1, {notes}
        %sd = token[] send-done(%send), channel_id=2, is_host_transfer=true
        %rd = ({received}, token[]) recv-done(%recv), channel_id=1, is_host_transfer=true
        %r = {received} get-tuple-element(%rd), index=0
        ROOT %t = {received} tanh(%r)""")
    assert (program.devices, program.slices) == (8, 2)
    [(_, kind, size, sent, _)] = read(program)
    assert (kind, size, sent) == expected
    [found] = program.operands
    assert [user.opcode for user, _ in found.source.result.uses] == ["tanh"]


def test_what_some_send_to_another_slice_is_shared_by_the_devices_of_all_slices() -> None:
    notes = transfer("SEND_RECV", "{{100000->200000},{200001->100001}}")
    program = hlo(f"""%p = f32[2,8] parameter(0)
        %a = token[] after-all()
        %send = (f32[2,8], u32[], token[]) send(%p, %a), channel_id=2, {notes}""")
    [found] = program.operands
    assert program.devices == 8
    assert found.wire_bytes == Fraction(2 * 64, 8)


def test_groups_of_slices() -> None:
    assert groups_across_slices("{1,2}x{0:1}", 2) == frozenset({frozenset({0, 2}), frozenset({1, 3})})
    assert groups_across_slices("{{100000,200001}}", 2) == frozenset({frozenset({0, 3})})
    assert slices_of(["{1,2,3}x{0:3}"]) == 3
    assert slices_of([]) == 1


def test_groups_within_a_slice_are_those_of_all_slices() -> None:
    program = hlo(f"""%p = f32[2,8] parameter(0)
        %r = f32[2,8] all-reduce(%p), replica_groups={{{{0,1}},{{2,3}}}}, to_apply=%add
        %s = (f32[2,8], u32[], token[]) send(%r, %r), {transfer("ALL_REDUCE", '"{1,2}x{0:3}"')}""")
    pairs = [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert program.operands[0].groups == frozenset(map(frozenset, pairs))


def test_a_part_within_each_slice_and_one_between_them_are_one_collective() -> None:
    program = hlo(f"""%p = f32[8,8] parameter(0)
        %s = f32[2,8] reduce-scatter(%p), replica_groups={{{{0,1,2,3}}}}, to_apply=%add
        %crop = f32[2,8] custom-call(%s), custom_call_target="ZeroCrop"
        %b = f32[16] bitcast(%crop)
        %send = (f32[16], u32[], token[]) send(%b, %b), {transfer("ALL_REDUCE", '"{1,2}x{0:3}"')}
        %recv = (f32[16], u32[], token[]) recv(%b), {transfer("ALL_REDUCE", '"{1,2}x{0:3}"')}
        %g = f32[16] get-tuple-element(%recv), index=0
        %c = f32[2,8] bitcast(%g)
        %r = f32[8,8] all-gather(%c), replica_groups={{{{0,1,2,3}}}}, dimensions={{0}}
        ROOT %t = f32[8,8] tanh(%r)""")
    everyone = groups_of_axes('{"x"}', '<["x"=8]>')
    [found] = match(program, reported("all_reduce", 64, groups=everyone))
    assert (found.reason, [each.name for each in found.theirs]) == (
        "within and between slices",
        ["s", "send", "r"],
    )
    assert found.why == "%send sends to other slices, after %s, before %r"
    # Without one of the report, the parts say so.
    assert {each.why for each in match(program)} == {found.why}


def test_a_transfer_that_is_unknown_is_named() -> None:
    program = hlo(f"""%p = f32[2,8] parameter(0)
        %s = (f32[2,8], token[]) send(%p, %p), {transfer("SOMETHING", '"{1,2}x{0:3}"')}
        %c = f32[2,8] custom-call(%p), custom_call_target="MyAllReduceKernel"
        %b = f32[2,8] collective-broadcast(%p), replica_groups={{{{0,1}}}}""")
    assert program.not_read == [
        ("s", "send SOMETHING", 64),
        ("c", "custom-call MyAllReduceKernel", 64),
        ("b", "collective-broadcast", 64),
    ]


RING = """%body (b: (u32[], f32[2,8], f32[2,8])) -> (u32[], f32[2,8], f32[2,8]) {{
  %b = (u32[], f32[2,8], f32[2,8]) parameter(0)
  %n = u32[] get-tuple-element(%b), index=0
  %one = u32[] constant(1)
  %n1 = u32[] add(%n, %one)
  %x = f32[2,8] get-tuple-element(%b), index=1
  %y = f32[2,8] get-tuple-element(%b), index=2
  %p = f32[2,8] collective-permute(%x), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}, {place}
  %q = f32[2,8] collective-permute(%y), source_target_pairs={{{{0,3}},{{1,0}},{{2,1}},{{3,2}}}}, {place}
  ROOT %t = (u32[], f32[2,8], f32[2,8]) tuple(%n1, %p, %q)
}}

%condition (c: (u32[], f32[2,8], f32[2,8])) -> pred[] {{
  %c = (u32[], f32[2,8], f32[2,8]) parameter(0)
  %i = u32[] get-tuple-element(%c), index=0
  %two = u32[] constant(2)
  ROOT %less = pred[] compare(%i, %two), direction=LT
}}
"""
RING_ENTRY = """%a = f32[2,8] parameter(0)
    %zero = u32[] constant(0)
    %first = f32[2,8] collective-permute(%a), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}, {place}
    %i = (u32[], f32[2,8], f32[2,8]) tuple(%zero, %a, %first)
    %w = (u32[], f32[2,8], f32[2,8]) while(%i), condition=%condition, body=%body"""


@pytest.mark.parametrize("kind", ["all_gather", "reduce_scatter"])
def test_a_ring_of_permutes_in_a_loop_is_a_collective_matmul(kind: str) -> None:
    program = hlo(RING_ENTRY.format(place=PLACE), RING.format(place=PLACE))
    assert [runs for *_, runs in read(program)] == [2, 2, 1]
    [found] = match(program, reported(kind, 64))
    assert (found.reason, len(found.theirs)) == ("ring of permutes", 3)
    assert found.why == "a ring of permutes around 4 devices, in a loop beside the product"


def test_a_ring_that_the_report_of_a_machine_has_is_the_same() -> None:
    program = hlo(RING_ENTRY.format(place=PLACE), RING.format(place=PLACE))
    ours = replace(reported("all_gather", 64), compiled="a ring of permutes beside the product")
    assert [each.reason for each in match(program, ours)] == ["same"]


def test_a_ring_within_a_slice_is_one_of_all_slices() -> None:
    notes = transfer("ALL_REDUCE", '"{1,2}x{0:3}"')
    send = f"%send = (f32[2,8], token[]) send(%a, %a), {notes}\n"
    program = hlo(RING_ENTRY.format(place=PLACE) + "\n" + send, RING.format(place=PLACE))
    both = groups_of_axes('{"x"}', '<["s"=2, "x"=4]>')
    assert match(program, reported("all_gather", 64, groups=both))[0].reason == "ring of permutes"


def test_a_ring_of_permutes_may_be_unrolled() -> None:
    pairs = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
    steps = "\n".join(
        f"%p{n} = f32[2,8] collective-permute(%p{n - 1}), {pairs}, {PLACE}" for n in range(1, 4)
    )
    program = hlo(f"%p0 = f32[2,8] parameter(0)\n{steps}")
    # Something else is sent before.
    reduce = f"%r = f32[8] all-reduce(%q), replica_groups={{}}, to_apply=%add, {PLACE}"
    after = hlo(f"%p0 = f32[2,8] parameter(0)\n%q = f32[8] parameter(1)\n{reduce}\n{steps}")
    assert match(after, reported("all_gather", 64))[0].reason == "ring of permutes"
    # One of the report may be elsewhere.
    [found] = match(program, reported("all_gather", 64))
    assert (found.reason, found.why) == (
        "ring of permutes",
        "a ring of permutes around 4 devices, in steps beside the product",
    )
    [*_, alone] = match(program, reported("all_gather", 64, line=9))
    assert (alone.reason, alone.why) == ("only in XLA", found.why)


def test_several_products_of_one_line_have_a_ring_each() -> None:
    pairs = "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}"
    steps = "\n".join(
        f"%{name}{n} = f32[2,8] collective-permute(%{name}{n - 1}), {pairs}, {PLACE}"
        for name in "pq"
        for n in range(1, 4)
    )
    program = hlo(f"%p0 = f32[2,8] parameter(0)\n%q0 = f32[2,8] parameter(1)\n{steps}")
    [found] = match(program, reported("all_gather", 64), reported("all_gather", 64))
    assert (found.reason, len(found.ours), len(found.theirs)) == ("ring of permutes", 2, 6)
    # A third one is sent otherwise.
    [_, alone] = match(program, *[reported("all_gather", 64)] * 3)
    assert (alone.reason, len(alone.ours)) == ("only in the report", 1)


def test_two_devices_are_a_ring() -> None:
    permute = "collective-permute(%a), source_target_pairs={{0,1},{1,0},{2,3},{3,2}}"
    program = hlo(f"%a = f32[2,8] parameter(0)\n%p = f32[2,8] {permute}, {PLACE}")
    pairs = groups_of_axes('{"y"}', '<["x"=2, "y"=2]>')
    [found] = match(program, reported("all_gather", 32, groups=pairs))
    assert found.why == "a ring of permutes around 2 devices, in steps beside the product"


def test_permutes_that_are_no_ring_are_none() -> None:
    pairs = "source_target_pairs={{0,1},{1,2},{2,3}}"
    steps = "\n".join(
        f"%p{n} = f32[2,8] collective-permute(%p{n - 1}), {pairs}, {PLACE}" for n in range(1, 4)
    )
    program = hlo(f"%p0 = f32[2,8] parameter(0)\n{steps}")
    assert "ring of permutes" not in [each.reason for each in match(program, reported("all_gather", 64))]


def test_default_precision_is_a_reason() -> None:
    gather = f"%g = bf16[8,8] all-gather(%c), replica_groups={{}}, dimensions={{0}}, {PLACE}"
    program = hlo(f"%p = f32[2,8] parameter(0)\n%c = bf16[2,8] convert(%p)\n{gather}")
    [found] = match(program, reported("all_gather", 64))
    assert found.why == "sent as bf16: products of default precision"


def test_what_is_summed_in_float32_and_handed_on_as_16_bits() -> None:
    program = hlo(
        "%p = f32[8,8] parameter(0)\n%r = bf16[8,8] all-reduce(%p), replica_groups={}, to_apply=%add"
    )
    [found] = program.operands
    # Shards of 32 bits are summed up, shards of 16 bits gathered.
    assert (found.bits, int(found.wire_bytes)) == (32, 64 * 3 // 4 * (4 + 2))
    program = hlo(
        "%p = f32[8,8] parameter(0)\n"
        "%r = bf16[2,8] reduce-scatter(%p), replica_groups={}, dimensions={0}, to_apply=%add"
    )
    # A reduce-scatter gathers none.
    [found] = program.operands
    assert (found.bits, int(found.wire_bytes)) == (32, 64 * 3 // 4 * 4)


@pytest.mark.parametrize(
    "lines",
    [
        '%q = (f32[4], bf16[8,8]) custom-call(%p), custom_call_target="k"\n%r = f32[8,8] all-reduce(%q#1)',
        "%b = bf16[8,8] convert(%p)\n%c = (bf16[8,8]{1,0}, bf16[8,8], u32[]) copy-start(%b)\n"
        "%d = bf16[8,8] copy-done(%c)\n%r = f32[8,8] all-reduce(%d)",
    ],
    ids=["an element of a tuple", "a copy that starts"],
)
def test_the_type_of_an_operand_is_that_of_what_it_names(lines: str) -> None:
    program = hlo(f"%p = f32[8,8] parameter(0)\n{lines}, replica_groups={{}}, to_apply=%add")
    [found] = program.operands
    assert (found.bits, int(found.wire_bytes)) == (16, 64 * 3 // 4 * (2 + 4))


def test_no_reduce_scatter_in_this_topology() -> None:
    program = hlo(f"""%p = f32[8,8] parameter(0)
        %n = u32[] partition-id()
        %two = u32[] constant(2)
        %at = u32[] multiply(%n, %two)
        %zero = u32[] constant(0)
        %r = f32[8,8] all-reduce(%p), replica_groups={{{{0,1,2,3}}}}, to_apply=%add, {PLACE}
        %s = f32[2,8] dynamic-slice(%r, %at, %zero), dynamic_slice_sizes={{2,8}}""")
    [found] = match(program, reported("reduce_scatter", 64))
    assert found.reason == "reduce-scatter or all-reduce"
    assert found.why.endswith("and this topology has no reduce-scatter along these devices")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("%d = f32[8,8] dot(%p, %p)", "the sum of products, of which each device has a part: %d"),
        ("%d = f32[8,8] scatter(%p, %p)", "the sum of what each device scatters in its own part: %d"),
        ("%d = f32[8,8] tanh(%p)", "the sum of what each device computes of its own part: %d"),
    ],
)
def test_what_is_reduced(line: str, why: str) -> None:
    reduce = f"%r = f32[8,8] all-reduce(%d), replica_groups={{}}, to_apply=%add, {PLACE}"
    [found] = match(hlo(f"%p = f32[8,8] parameter(0)\n{line}\n{reduce}"))
    assert (found.reason, found.why) == ("only in XLA", why)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("%u = f32[8,8] dot(%g, %p)", "whole for the product %u"),
        ("%u = f32[1,8] gather(%g, %p)", "whole for %u, which takes elements by index"),
        ("", "whole, as it is a result"),
    ],
)
def test_what_is_gathered_for(line: str, why: str) -> None:
    root = "" if line else "ROOT "
    gather = f"{root}%g = f32[8,8] all-gather(%p), replica_groups={{}}, dimensions={{0}}, {PLACE}"
    [found] = match(hlo(f"%p = f32[2,8] parameter(0)\n{gather}\n{'ROOT ' + line if line else ''}"))
    assert (found.reason, found.why) == ("only in XLA", why)


def test_what_has_lost_its_place_is_where_it_is_used() -> None:
    program = hlo(f"""%p = f32[2,8] parameter(0)
        %g = f32[8,8] all-gather(%p), replica_groups={{}}, dimensions={{0}}
        ROOT %d = f32[8,8] dot(%g, %g), {PLACE}""")
    assert place_of(program.operands[0]).file_text == "a.py:3"


# --- GPU ------------------------------------------------------------------------------------

WRAPPED = """%wrapped (p: f32[8,8]) -> f32[2,8] {
  %p = f32[8,8] parameter(0)
  ROOT %rs = f32[2,8] reduce-scatter(%p), replica_groups=[1,4]<=[4], dimensions={0}, to_apply=%add
}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%s = ((f32[8,8]), f32[8,8]) all-reduce-start(%p), replica_groups={}", ("all_reduce", 256)),
        ("%s = f32[8,8] all-reduce-start(%p), replica_groups={}", ("all_reduce", 256)),
        ("%s = (f32[2,8], f32[8,8]) all-gather-start(%p), replica_groups={}", ("all_gather", 256)),
        ("%s = ((f32[2,8]), f32[8,8]) all-gather-start(%p), replica_groups={}", ("all_gather", 256)),
        ("%s = ((f32[8,8]), f32[2,8]) reduce-scatter-start(%p), replica_groups={}", ("reduce_scatter", 256)),
        ("%s = ((f32[8,8]), f32[8,8], u32[]) all-to-all-start(%p), replica_groups={}", ("all_to_all", 256)),
        ("%s = ((f32[8,8]), f32[2,8], s32[]) async-start(%p), calls=%wrapped", ("reduce_scatter", 256)),
        ("%s = ((f32[8,8]), f32[2,8]) fusion-start(%p), calls=%wrapped", ("reduce_scatter", 256)),
        (
            "%s = (f32[8,8], f32[8,8], u32[]) collective-permute-start(%p), source_target_pairs={{0,1}}",
            ("collective_permute", 256),
        ),
    ],
)
def test_spellings_of_what_starts(line: str, expected: tuple[str, int]) -> None:
    program = hlo(
        f"%p = f32[8,8] parameter(0)\n{line}\n%d = f32[8,8] async-done(%s)\nROOT %t = f32[8,8] tanh(%d)",
        WRAPPED if "%wrapped" in line else "",
    )
    [(_, kind, _, size, _)] = read(program)
    assert (kind, size) == expected
    [found] = program.operands
    assert [user.opcode for user, _ in found.source.result.uses] == ["tanh"]


def test_all_reduces_that_are_joined_to_one_array_are_several() -> None:
    second = PLACE.replace("source_line=3", "source_line=7")
    program = hlo(f"""%p = f32[8,8] parameter(0)
        %d1 = f32[8,8] dot(%p, %p), {PLACE}
        %d2 = f32[4,8] dot(%p, %p), {second}
        %b1 = f32[64] bitcast(%d1)
        %b2 = f32[32] bitcast(%d2)
        %c = f32[96] concatenate(%b1, %b2), dimensions={{0}}
        %r = f32[96] all-reduce(%c), replica_groups=[1,4]<=[4], to_apply=%add, {PLACE}
        %s2 = f32[32] slice(%r), slice={{[64:96]}}
        %s1 = f32[64] slice(%r), slice={{[0:64]}}""")
    found = match(program, reported("all_reduce", 64), reported("all_reduce", 32, line=7))
    assert [each.reason for each in found] == ["same", "same"]


def test_an_array_that_the_program_joins_is_one() -> None:
    program = hlo("""%p = f32[64] parameter(0)
        %c = f32[128] concatenate(%p, %p), dimensions={0}
        %r = f32[128] all-reduce(%c), replica_groups=[1,4]<=[4], to_apply=%add
        %t = f32[128] tanh(%r)""")
    assert len(program.operands) == 1


@pytest.mark.parametrize(
    ("shape", "slices"),
    [
        # Rows of a matrix, and slices that are not what was joined.
        ("[2,64]", ("[1,64] slice(%r), slice={[0:1], [0:64]}", "[1,64] slice(%r), slice={[1:2], [0:64]}")),
        ("[128]", ("[32] slice(%r), slice={[0:32]}", "[32] slice(%r), slice={[32:64]}")),
    ],
)
def test_an_array_that_is_taken_apart_otherwise_is_one(shape: str, slices: tuple[str, str]) -> None:
    program = hlo(f"""%p = f32[1,64] parameter(0)
        %c = f32{shape} concatenate(%p, %p), dimensions={{0}}
        %r = f32{shape} all-reduce(%c), replica_groups=[1,4]<=[4], to_apply=%add
        %a = f32{slices[0]}
        %b = f32{slices[1]}""")
    assert len(program.operands) == 1


# --- Lines ----------------------------------------------------------------------------------


def reduced_at(*lines: int) -> list[CollectiveOperand]:
    """All-reduces of XLA at lines of the program."""
    places = (PLACE.replace("source_line=3", f"source_line={line}") for line in lines)
    reduces = (f"%r = f32[8,8] all-reduce(%p), replica_groups={{}}, to_apply=%add, {at}" for at in places)
    return hlo("\n".join(["%p = f32[8,8] parameter(0)", *reduces])).operands


def test_lines_that_all_moved() -> None:
    ours = [reported("all_reduce", 8, line=line) for line in (10, 14, 30)]
    later = reduced_at(13, 17, 33)
    assert shifts_of(ours, later) == {"a.py": 3}
    assert shifts_of(later, ours) == {"a.py": -3}
    places = [moved(each, {"a.py": 3}).location for each in later]
    assert [place.line for place in places] == [10, 14, 30]
    assert [frame.line for place in places for frame in place.frames] == [10, 14, 30]


def test_lines_that_are_unknown_or_before_the_first_stay_unknown() -> None:
    lines = [moved(each, {"a.py": 3}).location.line for each in reduced_at(0, 2, 3, 4)]
    assert lines == [0, 0, 0, 1]


def test_lines_that_are_the_same_did_not_move() -> None:
    ours = [reported("all_reduce", 8, line=line) for line in (10, 13, 16)]
    assert shifts_of(ours, ours) == {}
    # One line that happens to be elsewhere is no shift.
    assert shifts_of(ours[:1], [reported("all_reduce", 8, line=12)]) == {}
    assert shifts_of(ours, [reported("all_reduce", 8, line=line) for line in (11, 15, 29)]) == {}


def test_a_shift_is_one_of_most_lines_of_operations_of_one_name() -> None:
    ours = [reported("all_reduce", 8, line=line) for line in (10, 14, 30, 50, 70)]
    # Two of five lines are three below; so are three, then.
    assert shifts_of(ours, reduced_at(13, 17, 44, 61, 93)) == {}
    assert shifts_of(ours, reduced_at(13, 17, 33, 61, 93)) == {"a.py": 3}
    # Of those that XLA has, all are.
    assert shifts_of(ours, reduced_at(13, 17)) == {"a.py": 3}
    # Lines of one file say nothing of those of another one, which is read first.
    other = [replace(each, location=each.location._replace(file="__init__.py")) for each in ours]
    [far] = [replace(each, location=each.location._replace(name_stack="jit(f)/tanh")) for each in other[:1]]
    assert shifts_of([*ours, *other], [*reduced_at(13, 17, 33), far]) == {"a.py": 3}
    # Of another name, nothing says that they are the same.
    others = [
        replace(each, location=each.location._replace(name_stack="jit(f)/tanh"))
        for each in reduced_at(13, 17, 33, 53, 73)
    ]
    assert shifts_of(ours, others) == {}

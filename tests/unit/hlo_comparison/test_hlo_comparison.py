"""The collectives in optimized HLO and in reports, and how they are paired."""

import sys
from collections import Counter
from pathlib import Path

import pytest

import sdyopt
from benchmarks.calibration.check_bytes import differences
from sdyopt.analysis.figures.figures import RunTimes
from sdyopt.analysis.figures.source_locations import NO_LOCATION, Frame
from sdyopt.analysis.hlo_comparison.collectives import (
    CollectiveOperand,
    Groups,
    HloSource,
    axes_of_groups,
    groups_of_axes,
    groups_of_hlo,
    of_report,
)
from sdyopt.analysis.hlo_comparison.comparison import is_one_slice
from sdyopt.analysis.hlo_comparison.hlo_comparison import listing_of
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, Instruction
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram, read_hlo
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from tests.unit.report.programs import report

MESH = '<["x"=4, "y"=2]>'
ALONG_X = frozenset({frozenset({0, 2, 4, 6}), frozenset({1, 3, 5, 7})})
ALONG_Y = frozenset({frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5}), frozenset({6, 7})})
ALL = frozenset({frozenset(range(8))})


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,2,4,6},{1,3,5,7}}, to_apply=%add", ALONG_X),
        ("[2,4]<=[4,2]T(1,0), dimensions={0}", ALONG_X),
        ("[4,2]<=[8], dimensions={0}", ALONG_Y),
        ("mesh['axis_0'=4,'axis_1'=2] {'axis_1'}, to_apply=%add", ALONG_Y),
        ("mesh['axis_0'=2,'axis_1'=4], device_ids=([4,2]T(1,0)) {'axis_1'}", ALONG_X),
        ("mesh['axis_0'=8] {'axis_0':(4)2}", ALONG_Y),
        ("mesh['x'=2,'y'=4], device_ids=(0,2,4,6,1,3,5,7) {'y'}", ALONG_X),
        ("{}", ALL),
    ],
)
def test_groups_of_hlo(text: str, groups: Groups) -> None:
    assert groups_of_hlo(text, 8) == groups


def test_groups_of_axes() -> None:
    assert groups_of_axes('{"x"}', MESH) == ALONG_X
    assert groups_of_axes('{"x", "y"}', MESH) == ALL
    # The minor half of "x": devices 0 and 2 are neighbors along it.
    assert frozenset({0, 2}) in groups_of_axes('{"x":(2)2}', MESH)
    assert groups_of_axes('{"x"}', '<["x"=2], device_ids=[1, 0]>') == frozenset({frozenset({0, 1})})


def test_axes_of_groups() -> None:
    assert axes_of_groups(ALONG_X, MESH) == '{"x"}'
    assert axes_of_groups(ALL, MESH) == '{"x", "y"}'
    assert axes_of_groups(frozenset({frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7})}), MESH) == (
        '{"x":(2)2, "y"}'
    )
    assert axes_of_groups(frozenset({frozenset({0, 3}), frozenset({1, 2})}), MESH) == ""


def compiled(line: str, devices: int = 8) -> CompiledProgram:
    """A program of one instruction, with what tests do not compare left out."""
    found = read_hlo("p", f"HloModule p\n\nENTRY %main (a: f32[4]) -> f32[4] {{\n  {line}\n}}\n", devices)
    found.operands = [replace(each, name="", times=None) for each in found.operands]
    return found


def test_each_operand_of_a_combined_collective_counts() -> None:
    line = "%r = (f32[8,4]{1,0}, bf16[6]{0}) all-reduce(%a, %b), replica_groups=[4,2]<=[8], to_apply=%add"
    found = compiled(line)
    assert found.operands == [
        CollectiveOperand("all_reduce", ALONG_Y, 32, 32),
        CollectiveOperand("all_reduce", ALONG_Y, 6, 16),
    ]


def test_operands_of_a_decomposed_all_to_all_count_as_one() -> None:
    line = "%r = (f32[1,4]{1,0}, f32[1,4]{1,0}) all-to-all(%a, %b), replica_groups=[4,2]<=[8]"
    assert compiled(line).operands == [CollectiveOperand("all_to_all", ALONG_Y, 8, 32)]


def test_the_elements_of_a_reduce_scatter_are_those_of_its_operand() -> None:
    line = "%r = f32[4,32]{1,0} reduce-scatter(%a), replica_groups={{0,2,4,6},{1,3,5,7}}, dimensions={0}"
    assert compiled(line).operands == [CollectiveOperand("reduce_scatter", ALONG_X, 4 * 4 * 32, 32)]


def test_permutes_that_send_nothing_are_left_out() -> None:
    pairs = "source_target_pairs={{0,0},{1,1}}"
    assert compiled(f"%r = f32[4]{{0}} collective-permute(%a), {pairs}", 2).operands == []


def sliced(by: str) -> bool:
    """Whether only slices use the gather in a program where it is used like this."""
    text = f"""HloModule jit_step, num_partitions=8

%fused (p: f32[64], n: u32[]) -> f32[8] {{
  %p = f32[64] parameter(0)
  %n = u32[] parameter(1)
  ROOT %s = f32[8] dynamic-slice(%p, %n), dynamic_slice_sizes={{8}}
}}

ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8] parameter(0)
  %number = u32[] partition-id()
  %all-gather = f32[64] all-gather(%a), replica_groups=[1,8]<=[8], dimensions={{0}}
  %c = f32[64] bitcast(%all-gather)
  {by}
}}
"""
    [found] = read_hlo("hlo", text).operands
    return found.is_sliced


def test_a_gather_of_which_each_device_takes_a_slice() -> None:
    # XLA calls it an involuntary full rematerialization.
    assert sliced("ROOT %r = f32[8] dynamic-slice(%c, %number), dynamic_slice_sizes={8}")
    assert sliced("ROOT %r = f32[8] fusion(%c, %number), kind=kLoop, calls=%fused")
    assert not sliced("ROOT %r = f32[64] negate(%c)")
    # All devices take the same slice, and each takes elements of its own of something else.
    assert not sliced("%z = u32[] constant(0)\n  ROOT %r = f32[8] dynamic-slice(%c, %z)")
    assert not sliced("ROOT %r = f32[8] dynamic-slice(%table, %c)")
    assert not sliced("ROOT %r = f32[64] select(%c, %number, %c)")


def test_collectives_of_a_report() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> (tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
      %0 = sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<64x32xf32>
      %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<64x32xf32>
      return %1 : tensor<64x32xf32>
    }
    """
    # The slice sends nothing.
    [found] = of_report(report(program))
    assert (found.kind, found.groups, found.bytes) == ("all_gather", ALONG_X, 64 * 16 * 4)
    assert (found.name, int(found.wire_bytes)) == ("#1", 3 * 16 * 16 * 4)


@pytest.mark.parametrize(
    ("compiled", "share", "bits"), [("", 1, 32), ("a ring", 1, 32), ("", 2, 32), ("16-bit floats", 2, 16)]
)
def test_what_a_machine_sends_as_half_of_the_bytes_is_of_16_bit_floats(
    compiled: str, share: int, bits: int
) -> None:
    found = report("""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<64x32xf32> {
      %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }
    """)
    [gather] = found.collectives
    assert gather.wire_bytes is not None
    gather = replace(gather, compiled=compiled, wire_bytes=gather.wire_bytes / share)
    [operand] = of_report(replace(found, collectives=[gather]))
    assert operand.bits == bits


def test_what_the_machines_would_change_saves_what_is_sent_otherwise() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<8x4xf32> {
      return %a : tensor<8x4xf32>
    }
    """
    gathers = "\n".join(
        f"%{name} = f32[16,4] all-gather(%a), replica_groups={{{{0,1}},{{2,3}}}}, dimensions={{0}}"
        for name in ("one", "two")
    )
    entry = "ENTRY %main (a: f32[8,4]) -> f32[16,4] {\n%a = f32[8,4] parameter(0)\n"
    text = f"HloModule m, num_partitions=4\n\n{entry}{gathers}\nROOT %r = f32[16,4] add(%one, %two)\n}}\n"
    found = sdyopt.parse(program).report().compare_hlo(text).to_dict()["on_accelerators"]
    # A device sends the half that it has of one of the two.
    assert found["changes"] == [{"change": "merged", "collectives": 1, "saved": 128}]


def test_operands_of_a_collective_of_a_report_share_what_it_sends() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<64x32xf32>, %b: tensor<16x32xf32>) -> (tensor<64x32xf32>, tensor<16x32xf32>) {
      %0:2 = "stablehlo.all_reduce"(%a, %b) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %sum = stablehlo.add %x, %y : tensor<f32>
        stablehlo.return %sum : tensor<f32>
      }) : (tensor<64x32xf32>, tensor<16x32xf32>) -> (tensor<64x32xf32>, tensor<16x32xf32>)
      return %0#0, %0#1 : tensor<64x32xf32>, tensor<16x32xf32>
    }
    """
    both = report(program)
    [large, small] = of_report(both)
    assert large.wire_bytes == 4 * small.wire_bytes
    assert large.wire_bytes + small.wire_bytes == both.collectives[0].wire_bytes


REDUCED = CollectiveOperand("all_reduce", ALL, 64, 32)


def in_hlo(*operands: CollectiveOperand) -> tuple[list[CollectiveOperand], CompiledProgram]:
    """Collectives of HLO, each of an operand of its own, and their program."""
    found = []
    for operand in operands:
        op, value = (Instruction(operand.name, "", operand.kind, "", "") for _ in range(2))
        source = HloSource("main", op, 0, 1, HloValue(value), HloValue(op), "", (), NO_LOCATION, ())
        found.append(replace(operand, hlo=source))
    program = compiled("%a = f32[4] parameter(0)")
    program.operands = found
    return found, program


@pytest.mark.parametrize(
    ("xla", "reasons"),
    [
        ([REDUCED], {"same": 1}),
        (
            [
                CollectiveOperand("all_reduce", ALONG_X, 64, 32),
                CollectiveOperand("all_reduce", ALONG_Y, 64, 32),
            ],
            # Nothing says that one is of the result of the other.
            {"other axes": 1, "only in XLA": 1},
        ),
        ([CollectiveOperand("all_reduce", ALL, 64, 16)], {"other element type": 1}),
        ([CollectiveOperand("reduce_scatter", ALL, 64, 32)], {"reduce-scatter or all-reduce": 1}),
        ([CollectiveOperand("all_reduce", ALONG_X, 64, 32)], {"other axes": 1}),
        ([CollectiveOperand("all_gather", ALL, 64, 32)], {"other kind": 1}),
        ([CollectiveOperand("all_reduce", ALL, 60, 32)], {"other size": 1}),
        ([REDUCED, REDUCED], {"same": 1, "only in XLA": 1}),
        ([], {"only in the report": 1}),
        ([REDUCED, CollectiveOperand("all_gather", ALONG_X, 4, 8)], {"same": 1, "only in XLA": 1}),
        ([REDUCED, replace(REDUCED, is_sliced=True)], {"same": 1, "full rematerialization": 1}),
    ],
)
def test_reasons_for_differences(xla: list[CollectiveOperand], reasons: dict[str, int]) -> None:
    theirs, program = in_hlo(*xla)
    matches = match_collectives([REDUCED], theirs, program)
    assert Counter(match.reason for match in matches) == Counter(reasons)
    assert [each for match in matches for each in match.ours] == [REDUCED]
    assert sorted(map(id, theirs)) == sorted(id(each) for match in matches for each in match.theirs)


LOOP = """HloModule jit_step, num_partitions=8

FileNames
1 "/home/me/train.py"
2 "/home/me/model.py"

FunctionNames
1 "step"
2 "block"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=2 end_column=9}
2 {file_name_id=2 function_name_id=2 line=30 end_line=30 column=4 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%body (p: (s32[], f32[8])) -> (s32[], f32[8]) {
  %g = f32[8]{0} get-tuple-element(%p), index=1
  %r = f32[8]{0} all-reduce(%g), replica_groups=[4,2]<=[8], metadata={op_name="dot" stack_frame_id=2}
}

%condition (p: (s32[], f32[8])) -> pred[] {
  %c = pred[] constant(true)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %w = (s32[], f32[8]{0}) while(%t), condition=%condition, body=%body, TRIPS
  %s = ((f32[2]{0}), f32[8]{0}) all-gather-start(%a), replica_groups=[2,4]<=[4,2]T(1,0), PLACE
  %d = f32[8]{0} all-gather-done(%s)
}
"""
LOOP = LOOP.replace("TRIPS", 'backend_config={"known_trip_count":{"n":"3"}}')
LOOP = LOOP.replace("PLACE", 'metadata={source_file="a.py" source_line=3}')


def test_loops_and_call_stacks() -> None:
    program = read_hlo("loop", LOOP)
    assert program.devices == 8
    reduced, gathered = program.operands
    assert reduced.times == RunTimes(3, 3)
    assert reduced.wire_bytes_of_runs == 3 * 2 * 16
    frames = Frame("block", "/home/me/model.py", 30, 4), Frame("step", "/home/me/train.py", 7, 2)
    assert reduced.location.frames == frames
    assert (gathered.kind, gathered.groups, gathered.elements) == ("all_gather", ALONG_X, 8)
    assert gathered.location.file_text == "a.py:3"


@pytest.mark.parametrize(
    "type",
    [
        "((f32[2]{0}), f32[8]{0})",
        "((f32[2]{0}), (f32[8]{0}))",
        "(f32[2]{0}, f32[8]{0})",
        "(f32[2]{0}, f32[8]{0}, u32[])",
        "(f32[2]{0}, f32[8]{0}, u32[], s32[])",
    ],
)
def test_the_result_of_a_collective_that_starts_follows_its_operand(type: str) -> None:
    """Counters may follow the result."""
    program = read_hlo("loop", LOOP.replace("((f32[2]{0}), f32[8]{0})", type))
    assert [(each.kind, each.elements) for each in program.operands] == [("all_reduce", 8), ("all_gather", 8)]


def test_collectives_of_one_line_that_run_as_often_correspond_first() -> None:
    here = Frame("f", "a.py", 3, 0)
    placed = replace(REDUCED, location=REDUCED.location.at(here)._replace(frames=(here,)), name="placed")
    often = replace(REDUCED, times=RunTimes(3, 3), name="often")
    theirs = replace(often, name="3 times"), replace(REDUCED, name="else"), replace(placed, name="a.py:3")
    found = [
        (match.ours[0].name, match.theirs[0].name)
        for match in match_collectives([placed, often, REDUCED], *in_hlo(*theirs))
    ]
    assert found == [("placed", "a.py:3"), ("often", "3 times"), ("", "else")]


def test_other_text_is_not_hlo() -> None:
    with pytest.raises(DiagnosticError, match="it does not start with HloModule"):
        read_hlo("module.mlir", "module {}")


@pytest.mark.parametrize(
    "groups",
    [
        *("[4,2]<=[4,2]T(7,0)", "[4,2]<=[4,2]T(0,0,0,0)", "[,]<=[8]", "[4,0]<=[8]", "[]"),
        *("mesh['x'=0] {'x'}", "mesh['x'=8] {'x':(0)2}", "mesh['x'=8] {'x':(8)99}"),
        "{{" + "9" * 5000 + "}}",
    ],
)
def test_malformed_groups_are_read_as_some_groups(groups: str) -> None:
    line = f'%r = f32[4] all-gather(%a), replica_groups={groups}, metadata={{source_line="x" op_name=7}}'
    assert len(compiled(line).operands) <= 1
    assert compiled(f"%r = () all-to-all(), replica_groups={groups}").operands == []


@pytest.mark.parametrize(
    "line", ["{}, num_partitions=99999999", "[9,999999]<=[9999999]", "mesh['x'=99999999] {'x'}"]
)
def test_more_devices_than_are_compared_are_an_error(line: str) -> None:
    with pytest.raises(DiagnosticError, match="devices are more than the 65536 that are compared"):
        compiled(f"%r = f32[4] all-gather(%a), replica_groups={line}", devices=99999999)


def test_the_python_interface() -> None:
    folder = Path(__file__).parents[2] / "lit" / "hlo_comparison"
    text = (folder / "Inputs" / "step.txt").read_text(encoding="utf-8")

    class Compiled:
        def as_text(self) -> str:
            return text

    report = sdyopt.check(folder / "compare.mlir").report
    found = report.compare_hlo(Compiled())
    assert found.counts == {"same": 1, "only in XLA": 1}
    assert found.wire_bytes == (192 * 1024, (192 + 2048) * 1024)
    assert len(found.over_budget(folder / "Inputs" / "budget.toml")) == 1
    assert "model.py:20" in found._repr_html_()
    [same, only] = found.matches
    [gather] = same.report
    assert (same.reason, str(gather), gather.bytes, gather.times) == (
        "same",
        '#0 all_gather {"x"}',
        262144,
        (1, 1),
    )
    assert (gather.wire_bytes, gather.location.short) == (same.xla[0].wire_bytes, "model.py:20")
    assert (only.reason, only.report, only.xla[0].group_size) == ("only in XLA", (), 2)
    data = found.to_dict()
    assert (data["schema"], data["version"]) == ("sdy-opt-hlo-comparison", 1)
    assert data["wire_bytes"] == {"report": 196608, "xla": 2293760}
    assert data["matches"][0]["report"][0]["times"] == [1, 1]
    assert data["matches"][0]["xla"][0]["location"]["line"] == 20
    with pytest.raises(sdyopt.ParseError):
        report.compare_hlo("module {}")


def compared_with(header: str) -> sdyopt.HloComparison:
    """The comparison of a program of two arguments on four devices with HLO that has this header."""
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(
        %a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        %b: tensor<ui32>) -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }
    """
    text = f"HloModule jit_step{header}\n\nENTRY %main (a: f32[4]) -> f32[4] {{\n}}\n"
    return sdyopt.parse(program).report().compare_hlo(text)


@pytest.mark.parametrize(
    ("parameters", "mismatch"),
    [
        ("f32[16,32]{1,0:T(8,128)}, u32[]", ""),
        ("(f32[16,32]{1,0}, u32[])", ""),
        ("token[], f32[16,32]{1,0}, /*index=1*/u32[]", ""),
        ("f32[16,32]{1,0}", "its entry has 1 parameter, and the program 2 arguments"),
        ("f32[16,33]{1,0}, u32[]", "its parameter 0 is f32[16,33], and the argument %arg0 tensor<64x32xf32>"),
        ("s32[16,32]{1,0}, u32[]", "its parameter 0 is s32[16,32], and the argument %arg0 tensor<64x32xf32>"),
        ("f32[16,32]{1,0}, u32[1]", "its parameter 1 is u32[1], and the argument %arg1 tensor<ui32>"),
    ],
)
def test_hlo_of_another_program(parameters: str, mismatch: str) -> None:
    layout = f", entry_computation_layout={{({parameters})->f32[16,32]{{1,0}}}}, num_partitions=4"
    found = compared_with(layout)
    assert found.mismatch == mismatch
    assert found.to_dict()["mismatch"] == (mismatch or None)
    assert ("another program? " in str(found)) == bool(mismatch)


def test_hlo_before_partitioning() -> None:
    layout = ", entry_computation_layout={(f32[64,32]{1,0}, u32[])->f32[64,32]{1,0}}, num_partitions=4"
    whole = "its parameters are whole tensors, also %arg0, as before XLA partitions a program"
    assert compared_with(layout).mismatch == whole


def test_hlo_of_one_of_several_slices() -> None:
    """Slices that send each other nothing have the HLO of one of them."""
    program = """
    sdy.mesh @mesh = <["slice"=2, "x"=4]>
    func.func @main(%a: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"slice"}, {"x"}]>})
        -> tensor<8x64xf32> {
      %0 = sdy.all_gather [{}, {"x"}] %a out_sharding=<@mesh, [{"slice"}, {}]> : tensor<8x64xf32>
      return %0 : tensor<8x64xf32>
    }
    """
    layout = "entry_computation_layout={(f32[4,16]{1,0:T(8,128)})->f32[4,64]{1,0:T(8,128)}}"
    gather = "all-gather(%a), replica_groups={{0,1,2,3}}, dimensions={1}"
    entry = "ENTRY %main (a: f32[4,16]) -> f32[4,64] {\n  %a = f32[4,16]{1,0:T(8,128)} parameter(0)\n"
    text = f"HloModule m, {layout}, num_partitions=4\n\n{entry}  ROOT %g = f32[4,64] {gather}\n}}\n"
    found = sdyopt.parse(program).report().compare_hlo(text)
    assert (found.to_dict()["devices"], found.to_dict()["slices"], found.counts) == (8, 2, {"same": 1})
    # All figures of the listing are aligned as such.
    [table] = listing_of(found.ir).tables
    assert (table.columns[: table.figures], len(table.rows)) == (("bytes", "bytes per run"), 1)
    # A program that sends something to other slices is not that of one slice.
    report, compiled = sdyopt.parse(program).report().ir, read_hlo("m", text)
    assert is_one_slice(report, compiled)
    assert not is_one_slice(report, replace(compiled, slices=2))
    # The last axis is not between slices of three devices.
    with pytest.raises(sdyopt.ParseError, match="the HLO is for 3 devices, the program for 8"):
        sdyopt.parse(program).report().compare_hlo(text.replace("num_partitions=4", "num_partitions=3"))
    # HLO for another machine is not of one slice.
    with pytest.raises(sdyopt.ParseError, match="the HLO is for 4 devices, the program for 8"):
        sdyopt.parse(program).report().compare_hlo(text.replace(":T(8,128)", ""))
    # Of three slices, it would be another program.
    with pytest.raises(sdyopt.ParseError, match="the HLO is for 4 devices, the program for 8"):
        sdyopt.parse(program).report().compare_hlo(text.replace("f32[4,16]{1,0:T", "f32[2,16]{1,0:T"))


def test_lines_in_common_are_listed_by_what_they_send() -> None:
    """The largest first, each with its kinds and axes."""
    gathers = "\n".join(
        f"""%{line} = sdy.all_gather [{{"x"}}] %{name} out_sharding=<@mesh, [{{}}]>
            : tensor<{size}xf32>
        %out{line} = stablehlo.negate %{line} : tensor<{size}xf32> loc("a.py":{line}:1)"""
        for line, name, size in ((3, "a", 8), (5, "b", 64))
    )
    program = f"""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}},
                    %b: tensor<64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}]>}})
        -> (tensor<8xf32>, tensor<64xf32>) {{
      {gathers}
      return %out3, %out5 : tensor<8xf32>, tensor<64xf32>
    }}
    """
    lines = "\n".join(
        f"  %g{size} = f32[{size}] all-gather(%p{size}), replica_groups={{}}, dimensions={{0}}, "
        f'metadata={{source_file="a.py" source_line={line}}}'
        for line, size in ((3, 8), (5, 64))
    )
    text = f"HloModule m, num_partitions=4\n\nENTRY %main (a: f32[2]) -> f32[8] {{\n{lines}\n}}\n"
    found = str(sdyopt.parse(program).report().compare_hlo(text))
    in_common = found.partition("2 collectives in common")[2]
    assert 0 < in_common.index("a.py:5") < in_common.index("a.py:3")


def test_a_program_of_whole_tensors_is_the_same_before_partitioning() -> None:
    program = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      return %a : tensor<8xf32>
    }
    """
    layout = ", entry_computation_layout={(f32[8]{0})->f32[8]{0}}, num_partitions=4"
    text = f"HloModule m{layout}\n\nENTRY %main (a: f32[8]) -> f32[8] {{\n}}\n"
    assert sdyopt.parse(program).report().compare_hlo(text).mismatch == ""


@pytest.mark.parametrize("text", ["", "\nENTRY %main (a: f32[4]) -> f32[4] {\n  %a = f32[4] parameter(0)\n"])
def test_hlo_that_is_cut_off_is_an_error(text: str) -> None:
    with pytest.raises(DiagnosticError, match="the HLO is cut off"):
        read_hlo("hlo", f"HloModule jit_step\n{text}")


def test_hlo_for_another_number_of_devices_is_an_error() -> None:
    assert compared_with("").mismatch == ""
    with pytest.raises(sdyopt.ParseError, match=":1:1: error: the HLO is for 8 devices, the program for 4"):
        compared_with(", num_partitions=8")


@pytest.mark.reference
def test_bytes_are_those_that_xla_reads() -> None:
    if not hasattr(pytest.importorskip("jaxlib._hlo").HloInstruction, "shape"):
        pytest.skip("instructions of HLO have no shapes in this release of jaxlib")
    files = [Path(__file__).parents[2] / "lit" / "hlo_comparison" / "Inputs" / "step.txt"]
    assert list(differences(sys.executable, files)) == [(2, [])]

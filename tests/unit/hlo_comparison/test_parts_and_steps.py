"""Several collectives of XLA that are one of the report: steps, terms of sums, transfers between slices."""

from __future__ import annotations

import pytest

from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand, groups_of_axes, in_all_slices
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from sdyopt.analysis.hlo_comparison.pairing import Transfer, Whole, transfers_of
from sdyopt.analysis.hlo_comparison.reasons import CollectiveMatch
from tests.unit.hlo_comparison.step_programs import (
    IN_HLO,
    NEGATED,
    PLACELESS,
    REDUCED,
    USED,
    XY,
    X,
    Y,
    classes,
    compiled,
    gather,
    place,
    reduce,
    reported,
)
from tests.unit.hlo_comparison.test_tpu_and_gpu_hlo import SCATTERS, hlo, transfer


def found(body: str, *ours: CollectiveOperand) -> list[CollectiveMatch]:
    program = compiled(body)
    return match_collectives(ours, program.operands, program)


def names(match: CollectiveMatch) -> list[str]:
    return [operand.name for operand in match.theirs]


def moved_shards(name: str, operand: str, at: str) -> str:
    return f"  %{name} = f32[8,4] all-to-all({operand}), replica_groups={IN_HLO[X]}, dimensions={{0}}, {at}\n"


def add(name: str, *operands: str) -> str:
    return f"  %{name} = f32[8,4]{{1,0}} add({', '.join(operands)})\n"


# --- Steps ----------------------------------------------------------------------------------


def test_steps_of_one_kind_may_follow_another_kind() -> None:
    body = moved_shards("p", "%a", place(2)) + reduce("q", "%p", X, place(1)) + reduce("r", "%q", Y, place(1))
    [steps, other] = found(body + USED, reported("all_reduce", XY, 32, 1))
    assert (steps.reason, names(steps), names(other)) == ("in steps", ["q", "r"], ["p"])


def test_several_pairs_have_steps_after_them() -> None:
    first = reduce("q", "%a", X, place(1)) + reduce("r", "%q", Y, place(1))
    second = NEGATED + reduce("s", "%b", X, place(3)) + reduce("t", "%s", Y, place(3))
    ours = REDUCED, reported("all_reduce", X, 32, 3)
    assert classes(found(first + second, *ours)) == [("in steps", 1, 2), ("in steps", 1, 2)]


def test_the_longest_steps_come_first() -> None:
    gathered = gather("q", "%a", X, place(1)) + gather("r", "%q", Y, place(1), "f32[32,4]{1,0}")
    longer = (
        moved_shards("p", "%b", place(1))
        + gather("s", "%p", X, place(1))
        + gather("t", "%s", Y, place(1), "f32[32,4]{1,0}")
    )
    steps = found(gathered + NEGATED + longer, reported("all_gather", XY, 128, 1))[0]
    assert names(steps)[:3] == ["p", "s", "t"] or names(steps)[-3:] == ["p", "s", "t"]


def test_steps_that_move_another_argument_are_of_another_collective() -> None:
    scan = "jit(step)/while/body/squeeze"
    body = (
        gather("q", "%a", Y, place(7, scan))
        + gather("r", "%q", X, place(7, scan), "f32[32,4]{1,0}")
        + f"  %one = f32[8,4]{{1,0}} dot(%r, %r), {place(1)}\n"
    )
    for moved, is_same in (("w", True), ("v", False), ("", False)):
        matches = found(body, reported("all_gather", XY, 128, 1, moved=moved))
        assert (("in steps", 1, 2) in classes(matches)) == is_same


# --- Terms of sums --------------------------------------------------------------------------


def test_a_sum_of_sums_has_all_terms() -> None:
    reduced = [reduce(name, f"%{name}0", X, place(line)) for line, name in enumerate("qrsu", 1)]
    operands = "".join(f"  %{name}0 = f32[8,4]{{1,0}} custom-call(%a)\n" for name in "qrsu")
    sums = add("t1", "%r", "%s") + add("t2", "%q", "%t1") + add("t3", "%t2", "%u")
    ours = reported("all_reduce", X, 32, 4, "jit(step)/add_any")
    assert classes(found(operands + "".join(reduced) + sums, ours)) == [("separate sums", 1, 4)]


def test_a_sum_with_a_pair_does_not_end_the_search_for_others() -> None:
    operands = "".join(f"  %{name}0 = f32[8,4]{{1,0}} custom-call(%a)\n" for name in "qrst")
    first = reduce("q", "%q0", X, place(1)) + reduce("r", "%r0", X, place(2)) + add("t1", "%q", "%r")
    second = reduce("s", "%s0", X, place(3)) + reduce("t", "%t0", X, place(4)) + add("t2", "%s", "%t")
    ours = REDUCED, reported("all_reduce", X, 32, 3, "jit(step)/add_any")
    matches = found(operands + first + second, *ours)
    assert [(each.reason, names(each)) for each in matches] == [
        ("separate sums", ["q", "r"]),
        ("separate sums", ["s", "t"]),
    ]


def test_the_collective_of_a_term_is_not_that_of_the_sum() -> None:
    """Also if it is of another type, so that both are not the same."""
    body = (
        NEGATED
        + reduce("q", "%a", X, place(1))
        + reduce("r", "%b", X, place(2, "jit(step)/mul"))
        + add("t", "%q", "%r")
    )
    ours = (
        reported("all_reduce", X, 32, 1, bits=16),
        reported("all_reduce", X, 32, 1, "jit(step)/add_any", bits=16),
    )
    [alone, sum] = found(body, *ours)
    assert (alone.reason, sum.reason) == ("only in the report", "separate sums")
    assert sum.ours[0].location.name_stack == "jit(step)/add_any"


# --- Top-k ----------------------------------------------------------------------------------


def test_of_several_uses_by_top_k_the_first_is_the_place() -> None:
    uses = "".join(
        f'  %k{line} = (f32[16,2], s32[16,2]) custom-call(%r), custom_call_target="TopK", '
        f"{place(line, 'jit(step)/top_k')}\n"
        for line in (3, 4)
    )
    body = gather("r", "%a", X, PLACELESS) + uses
    ours = [reported("all_gather", X, 4, line, "jit(step)/top_k") for line in (3, 4)]
    [top, other] = found(body, *ours)
    assert (top.reason, top.why, other.reason) == (
        "operand of top-k",
        "the result is only used by TopK, %k3",
        "only in the report",
    )


# --- Slices ---------------------------------------------------------------------------------

PARTS = f"""%p = f32[8,8] parameter(0)
    %s = f32[2,8] reduce-scatter(%p), replica_groups={{{{0,1,2,3}}}}, to_apply=%add
    %send = (f32[2,8], u32[], token[]) send(%s, %s), {transfer("ALL_REDUCE", '"{1,2}x{0:3}"')}
    %recv = (f32[2,8], u32[], token[]) recv(%s), {transfer("ALL_REDUCE", '"{1,2}x{0:3}"')}
    %g = f32[2,8] get-tuple-element(%recv), index=0
    BETWEEN
    %r = f32[8,8] all-gather(%c), replica_groups={{{{0,1,2,3}}}}, dimensions={{0}}"""


def transfers(program: CompiledProgram, *left_out: str) -> list[list[str]]:
    """The names of the parts of each transfer."""
    xla = program.operands
    numbers = [number for number, each in enumerate(xla) if each.name not in left_out]
    by_result = {each.source.result: number for number, each in enumerate(xla)}
    return [[xla[part].name for part in each.members] for each in transfers_of(xla, numbers, by_result)]


@pytest.mark.parametrize(
    ("between", "left_out", "expected"),
    [
        ("%c = f32[2,8] bitcast(%g)", (), ["s", "send", "r"]),
        # What has a counterpart of its own is no part, and neither is what is made of the result.
        ("%c = f32[2,8] bitcast(%g)", ("s",), ["send", "r"]),
        ("%c = f32[2,8] tanh(%g)", (), ["s", "send"]),
    ],
)
def test_the_parts_of_a_transfer(between: str, left_out: tuple[str, ...], expected: list[str]) -> None:
    assert transfers(hlo(PARTS.replace("BETWEEN", between)), *left_out) == [expected]


def test_what_a_program_of_one_slice_sends_is_for_no_other_slice() -> None:
    pairs = "channel_id=7, frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2}}}"
    body = PARTS.replace(transfer("ALL_REDUCE", '"{1,2}x{0:3}"'), pairs)
    matches = found(body.replace("BETWEEN", "%c = f32[2,8] bitcast(%g)") + "\n")
    assert "%send moves shards to the devices that use them" in [match.why for match in matches]


def test_a_part_is_padded_by_less_than_an_eighth() -> None:
    groups = groups_of_axes('{"x"}', '<["x"=4]>')
    for elements, number in ((80, 0), (81, 0), (82, None)):
        whole = Whole({0: CollectiveOperand("all_reduce", groups, elements, 32)})
        assert whole.take(Transfer((), groups, 72, None, "")) == number


def test_a_fused_reduce_scatter_may_return_its_arrays_in_another_order() -> None:
    turned = SCATTERS.replace(
        "(f32[2,8], f32[8,1]) tuple(%slice.1, %slice.2)", "(f32[8,1], f32[2,8]) tuple(%slice.2, %slice.1)"
    )
    assert turned != SCATTERS
    fusion = "%f = (f32[8,1], f32[2,8]) fusion(%p, %q), kind=kCustom, calls=%all-reduce-scatter"
    program = hlo(f"%p = f32[8,8] parameter(0)\n%q = f32[8,4] parameter(1)\n{fusion}", turned)
    assert [each.source.type.partition("{")[0] for each in program.operands] == ["f32[2,8]", "f32[8,1]"]


def test_groups_of_too_many_slices_are_not_listed() -> None:
    pairs = frozenset({frozenset({0, 1})})
    assert len(in_all_slices(pairs, 2, 100)) == 100
    for groups, per_slice in ((pairs, 1 << 10), (frozenset({frozenset(range(1 << 10))}), 2)):
        with pytest.raises(OverflowError, match="131072 devices are more than the 65536 that are compared"):
            in_all_slices(groups, per_slice, 128)

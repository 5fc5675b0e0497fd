"""The collectives of TPU and GPU in place of those of HLO: sdyopt/analysis/hlo_comparison/accelerators.py."""

from __future__ import annotations

from collections import Counter

import pytest

from sdyopt.analysis.hlo_comparison.accelerators import (
    FOLDED,
    MERGED,
    NARROWED,
    SCATTERED,
    SUMMED,
    on_accelerators,
)
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo

_REGIONS = """%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

"""
_HEADER = f"HloModule m, num_partitions=4\n\n{_REGIONS}ENTRY %main (a: f32[8,4]) -> f32[8,4] {{\n"
_A = "  %a = f32[8,4]{1,0} parameter(0)\n"
_INDEX = """  %zero = s32[] constant(0)
  %table = s32[4]{0} constant({OFFSETS})
  %id = u32[] partition-id()
  %offset = s32[1]{0} dynamic-slice(%table, %id), dynamic_slice_sizes={1}
  %start = s32[] reshape(%offset)
"""
_SCATTER = """  %sum = f32[8,4]{1,0} all-reduce(%a), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  ROOT %part = f32[4,4]{1,0} dynamic-slice(%sum, %start, %zero), dynamic_slice_sizes={4,4}
"""
_FOLD = """  %one = f32[8,4]{1,0} all-reduce(%a), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  ROOT %two = f32[8,4]{1,0} all-reduce(%one), channel_id=2, replica_groups={{0,2},{1,3}}, to_apply=%add
"""
# Sums of bfloat16, each of which the CPU computes in float32.
_NARROW_FOLD = """  %h = bf16[8,4]{1,0} convert(%a)
  %f = f32[8,4]{1,0} convert(%h)
  %one = f32[8,4]{1,0} all-reduce(%f), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %g = bf16[8,4]{1,0} convert(%one)
  %k = f32[8,4]{1,0} convert(%g)
  %two = f32[8,4]{1,0} all-reduce(%k), channel_id=2, replica_groups={{0,2},{1,3}}, to_apply=%add
  ROOT %out = bf16[8,4]{1,0} convert(%two)
"""
# A sum of bfloat16 that the CPU computes in float32, rounded before each device takes its part.
_NARROW_SCATTER = """  %h = bf16[8,4]{1,0} convert(%a)
  %f = f32[8,4]{1,0} convert(%h)
  %sum = f32[8,4]{1,0} all-reduce(%f), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %g = bf16[8,4]{1,0} convert(%sum)
  ROOT %part = bf16[4,4]{1,0} dynamic-slice(%g, %start, %zero), dynamic_slice_sizes={4,4}
"""
_MERGE = """  %one = f32[16,4]{1,0} all-gather(%a), channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}
  %two = f32[16,4]{1,0} all-gather(%a), channel_id=2, replica_groups={{0,1},{2,3}}, dimensions={0}
  ROOT %out = f32[16,4]{1,0} multiply(%one, %two)
"""
_MERGE_TWICE = """  %b = f32[4,16]{1,0} transpose(%one), dimensions={1,0}
  %c = f32[4,16]{1,0} transpose(%two), dimensions={1,0}
  %three = f32[4,32]{1,0} all-gather(%b), channel_id=3, replica_groups={{0,2},{1,3}}, dimensions={1}
  %four = f32[4,32]{1,0} all-gather(%c), channel_id=4, replica_groups={{0,2},{1,3}}, dimensions={1}
  ROOT %out = f32[4,32]{1,0} multiply(%three, %four)
"""
_MERGE_COPIES = """  %b = f32[8,4]{1,0} copy(%a), metadata={op_name="forward"}
  %c = f32[8,4]{1,0} copy(%a), metadata={op_name="backward"}
""" + _MERGE.replace("(%a), channel_id=1", "(%b), channel_id=1").replace(
    "(%a), channel_id=2", "(%c), channel_id=2"
)
_AGAIN = """  %again = f32[8,4]{1,0} all-reduce(%a), channel_id=2, replica_groups={{0,1},{2,3}}, to_apply=%add
  ROOT %use = f32[8,4]{1,0} tanh(%again)
"""
_SUM = """  %b = f32[8,4]{1,0} negate(%a)
  %one = f32[8,4]{1,0} all-reduce(%a), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %two = f32[8,4]{1,0} all-reduce(%b), channel_id=2, replica_groups={{0,1},{2,3}}, to_apply=%add
  ROOT %out = f32[8,4]{1,0} add(%one, %two)
"""
_SUM_OF_THREE = """  %b = f32[8,4]{1,0} negate(%a)
  %c = f32[8,4]{1,0} tanh(%a)
  %one = f32[8,4]{1,0} all-reduce(%a), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %two = f32[8,4]{1,0} all-reduce(%b), channel_id=2, replica_groups={{0,1},{2,3}}, to_apply=%add
  %three = f32[8,4]{1,0} all-reduce(%c), channel_id=3, replica_groups={{0,1},{2,3}}, to_apply=%add
  %minus = f32[8,4]{1,0} negate(%two)
  %first = f32[8,4]{1,0} add(%one, %minus)
  ROOT %out = f32[8,4]{1,0} subtract(%first, %three)
"""
_SUM_OF_PARTS = """  %b = f32[8,4]{1,0} negate(%a)
  %other = s32[4]{0} constant({OTHER})
  %at = s32[1]{0} dynamic-slice(%other, %id), dynamic_slice_sizes={1}
  %where = s32[] reshape(%at)
  %one = f32[8,4]{1,0} all-reduce(%a), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %two = f32[8,4]{1,0} all-reduce(%b), channel_id=2, replica_groups={{0,1},{2,3}}, to_apply=%add
  %s1 = f32[4,4]{1,0} dynamic-slice(%one, %start, %zero), dynamic_slice_sizes={4,4}
  %s2 = f32[4,4]{1,0} dynamic-slice(%two, %where, %zero), dynamic_slice_sizes={4,4}
  ROOT %out = f32[4,4]{1,0} add(%s1, %s2)
"""
_LOOP = """HloModule m, num_partitions=4

%body (p: (s32[], s32[], f32[8,4])) -> (s32[], s32[], f32[8,4]) {
  %p = (s32[], s32[], f32[8,4]{1,0}) parameter(0)
  %zero = s32[] constant(0)
  %sum = f32[8,4]{1,0} all-reduce(%p#2), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %part = f32[4,4]{1,0} dynamic-slice(%sum, %p#1, %zero), dynamic_slice_sizes={4,4}
  %next = f32[8,4]{1,0} custom-call(%part), custom_call_target="next"
  ROOT %t = (s32[], s32[], f32[8,4]{1,0}) tuple(%p#0, %p#1, %next)
}

ENTRY %main (a: f32[8,4]) -> f32[8,4] {
  %a = f32[8,4]{1,0} parameter(0)
  %table = s32[4]{0} constant({0, 4, 0, 4})
  %id = u32[] partition-id()
  %offset = s32[1]{0} dynamic-slice(%table, %id), dynamic_slice_sizes={1}
  %start = s32[] bitcast(%offset)
  %init = (s32[], s32[], f32[8,4]{1,0}) tuple(%start, %start, %a)
  ROOT %loop = (s32[], s32[], f32[8,4]{1,0}) while(%init), condition=%condition, body=%body
}
"""


_OTHER_LOOP = """  %other = (s32[], s32[], f32[8,4]{1,0}) while(%init), condition=%condition, body=%body
  ROOT %loop"""


def _program(body: str, offsets: str = "0, 4, 0, 4") -> str:
    return _HEADER + _A + _INDEX.replace("OFFSETS", offsets) + body + "}\n"


@pytest.mark.parametrize(
    ("text", "changes", "kinds"),
    [
        (_program(_SCATTER), {SCATTERED: 1}, ["reduce_scatter"]),
        (_program(_NARROW_SCATTER), {NARROWED: 1, SCATTERED: 1}, ["reduce_scatter"]),
        # The devices 0 and 1 take the same part, so it is none of its own.
        (_program(_SCATTER, "0, 0, 4, 4"), {}, ["all_reduce"]),
        (_program(_SCATTER, "0, 4, 4, 4"), {}, ["all_reduce"]),
        (_LOOP, {SCATTERED: 1}, ["reduce_scatter"]),
        # The body of two loops: one of them may be given another offset.
        (_LOOP.replace("  ROOT %loop", _OTHER_LOOP), {}, ["all_reduce"]),
        (_program(_FOLD), {FOLDED: 1}, ["all_reduce"]),
        # The same devices again: every element would be added twice.
        (_program(_FOLD.replace("{0,2},{1,3}", "{0,1},{2,3}")), {}, ["all_reduce"] * 2),
        # The sum along one axis is used, too.
        (_program(_FOLD.replace("  ROOT", "  %use = f32[8,4] tanh(%one)\n  ROOT")), {}, ["all_reduce"] * 2),
        (_program(_NARROW_FOLD), {NARROWED: 2, FOLDED: 1}, ["all_reduce"]),
        # The second one sums up what the first is rounded to, in float32.
        (
            _program(_NARROW_FOLD.replace("ROOT %out = bf16[8,4]{1,0} convert", "ROOT %out = f32[8,4] tanh")),
            {NARROWED: 1},
            ["all_reduce"] * 2,
        ),
        # The first one is of float32, and only its result is rounded, so the other may not combine both.
        (
            _program(_NARROW_FOLD.replace("all-reduce(%f)", "all-reduce(%a)")),
            {NARROWED: 1},
            ["all_reduce"] * 2,
        ),
        (_program(_MERGE), {MERGED: 1}, ["all_gather"]),
        # What two that are merged are gathered to is merged, too.
        (_program(_MERGE.replace("ROOT ", "") + _MERGE_TWICE), {MERGED: 2}, ["all_gather"] * 2),
        # So are two of copies that only differ in where they come from.
        (_program(_MERGE_COPIES), {MERGED: 1}, ["all_gather"]),
        # One is sliced, the other is not: as one, it is an all-reduce.
        (_program(_SCATTER.replace("  ROOT ", "  ") + _AGAIN), {MERGED: 1}, ["all_reduce"]),
        (_program(_MERGE.replace("all-gather(%a), channel_id=2", "all-gather(%b)")), {}, ["all_gather"] * 2),
        (_program(_SUM), {SUMMED: 1}, ["all_reduce"]),
        (_program(_SUM.replace("%add\n  ROOT", "%max\n  ROOT")), {}, ["all_reduce"] * 2),
        (_program(_SUM_OF_THREE), {SUMMED: 2}, ["all_reduce"]),
        # The sum of two of them is used otherwise, too: the third stays.
        (
            _program(_SUM_OF_THREE.replace("  ROOT", "  %use = f32[8,4] tanh(%first)\n  ROOT")),
            {SUMMED: 1},
            ["all_reduce"] * 2,
        ),
        # A term that is used otherwise, too, is one of no sum; the rest of the sum is none, then.
        (
            _program(_SUM_OF_THREE.replace("  ROOT", "  %use = f32[8,4] tanh(%minus)\n  ROOT")),
            {},
            ["all_reduce"] * 3,
        ),
        # Slices are summed up if they are at the same offsets, which each computes by itself.
        (
            _program(_SUM_OF_PARTS.replace("OTHER", "0, 4, 0, 4")),
            {SCATTERED: 2, SUMMED: 1},
            ["reduce_scatter"],
        ),
        (_program(_SUM_OF_PARTS.replace("OTHER", "4, 0, 4, 0")), {SCATTERED: 2}, ["reduce_scatter"] * 2),
        # Of groups of other devices, or of another type, nothing is summed up.
        (
            _program(_SUM.replace("2, replica_groups={{0,1},{2,3}}", "2, replica_groups={{0,2},{1,3}}")),
            {},
            ["all_reduce"] * 2,
        ),
        # What another library does with it is no slice, and a sum must be there.
        (_program(_SCATTER.replace("dynamic-slice(%sum", "custom-call(%sum")), {}, ["all_reduce"]),
        (_program(_SUM.replace("to_apply=%add", "to_apply=%add.1")), {}, ["all_reduce"] * 2),
        # A slice of half a shard, or one of a part of the result, is no reduce-scatter.
        (_program(_SCATTER.replace("f32[4,4]", "f32[2,4]").replace("{4,4}", "{2,4}")), {}, ["all_reduce"]),
    ],
)
def test_collectives_are_read_as_on_accelerators(
    text: str, changes: dict[str, int], kinds: list[str]
) -> None:
    found = on_accelerators(read_hlo("m", text, 4))
    assert Counter(each.kind for each in found.changes) == Counter(changes)
    assert [each.kind for each in found.operands] == kinds


@pytest.mark.parametrize(
    ("body", "undecided"),
    [
        (_SCATTER, ["sum"]),
        # No slice, or one of a part.
        (_SCATTER.replace("dynamic-slice(%sum", "custom-call(%sum"), []),
        (_SCATTER.replace("f32[4,4]", "f32[2,4]"), []),
        # The CPU converts a sum of bfloat16 back before it is sliced.
        (
            _SCATTER.replace("f32[4,4]", "bf16[4,4]")
            .replace("all-reduce(%a)", "all-reduce(%f)")
            .replace("  %sum", "  %h = bf16[8,4] convert(%a)\n  %f = f32[8,4] convert(%h)\n  %sum")
            .replace("  ROOT", "  %b = bf16[8,4] convert(%sum)\n  ROOT")
            .replace("slice(%sum", "slice(%b"),
            ["sum"],
        ),
    ],
)
def test_slices_at_unknown_offsets_leave_a_sum_undecided(body: str, undecided: list[str]) -> None:
    found = on_accelerators(read_hlo("m", _program(body, "..."), 4))
    assert [operand.name for operand in found.undecided] == undecided


def test_folded_reductions_are_in_all_groups() -> None:
    (operand,) = on_accelerators(read_hlo("m", _program(_FOLD), 4)).operands
    assert operand.groups == frozenset({frozenset(range(4))})


def test_of_two_folds_each_saves_its_own_reduction() -> None:
    """The second one is of another tensor, which is half as large."""
    second = _FOLD.replace("f32[8,4]", "f32[4,4]").replace("(%a)", "(%h)")
    for old, new in (("%one", "%three"), ("%two", "%four"), ("id=1", "id=3"), ("id=2", "id=4")):
        second = second.replace(old, new)
    half = "  %h = f32[4,4]{1,0} slice(%a), slice={[0:4], [0:4]}\n"
    text = _program(_FOLD.replace("ROOT ", "") + half + second)
    first, other = on_accelerators(read_hlo("m", text, 4)).changes
    assert (first.kind, other.kind) == (FOLDED, FOLDED)
    assert first.saved == 2 * other.saved > 0

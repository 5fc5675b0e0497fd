"""Each class of differences on small HLO texts: places come first, and reasons are read off the HLO."""

from __future__ import annotations

import pytest

from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.matching import match_collectives
from tests.unit.hlo_comparison.step_programs import (
    IN_HLO,
    LINES,
    NEGATED,
    PLACELESS,
    REDUCED,
    SLICED,
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

"""FLOPs of products in HLO, as worked examples."""

from __future__ import annotations

import pytest

from sdyopt.analysis.hlo_comparison.hlo_flops import flops_of
from sdyopt.analysis.hlo_comparison.hlo_text import read_hlo


def flops(*lines: str) -> list[int | None]:
    """Those of the instructions of an entry computation."""
    text = "HloModule m, num_partitions=1\n\nENTRY %main () -> f32[] {\n" + "".join(
        f"  {each}\n" for each in lines
    )
    graph = read_hlo("m", f"{text}}}\n").graph
    return [found for op in graph.computations["main"].ops if (found := flops_of(op)) != 0]


@pytest.mark.parametrize(
    ("lhs", "rhs", "product", "expected"),
    [
        (
            "f32[8,16]",
            "f32[16,4]",
            "f32[8,4] dot(%a, %b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            2 * 8 * 4 * 16,
        ),
        (
            "bf16[3,8,16]",
            "bf16[3,16,4]",
            "f32[3,8,4] dot(%a, %b), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
            "rhs_contracting_dims={1}",
            2 * 3 * 8 * 4 * 16,
        ),
        (
            "f32[8]",
            "f32[4]",
            "f32[8,4] dot(%a, %b), lhs_contracting_dims={}, rhs_contracting_dims={}",
            2 * 8 * 4,
        ),
        # A TPU's product, its transpose, and one of batches: these are a spatial dimension.
        ("f32[8,16]", "f32[16,4]", "f32[8,4] convolution(%a, %b), dim_labels=bf_io->bf", 2 * 8 * 4 * 16),
        (
            "f32[3,8,16]",
            "f32[3,16,4]",
            "f32[3,8,4] convolution(%a, %b), window={size=3 stride=2 lhs_dilate=3}, dim_labels=0bf_0io->0bf",
            2 * 3 * 8 * 4 * 16,
        ),
        # A contracted dimension may be spatial, too: a window as large as it.
        (
            "f32[3,8,16]",
            "f32[3,16,4]",
            "f32[1,8,4] convolution(%a, %b), window={size=3}, dim_labels=0bf_0io->0bf",
            2 * 3 * 8 * 4 * 16,
        ),
        # And a free dimension of the kernel: a window that is moved over one element, from end to end.
        (
            "f32[1,8,16]",
            "f32[5,16,4]",
            "f32[5,8,4] convolution(%a, %b), window={size=5 pad=4_4 rhs_reversal=1}, dim_labels=0bf_0io->0bf",
            2 * 5 * 8 * 4 * 16,
        ),
        # Images: padding is not counted, 7 of 9 positions meet an element on average.
        (
            "f32[1,4,1]",
            "f32[3,1,2]",
            "f32[1,4,2] convolution(%a, %b), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
            2 * 2 * 10,
        ),
        (
            "f32[1,9,1]",
            "f32[3,1,2]",
            "f32[1,4,2] convolution(%a, %b), window={size=3 stride=2}, dim_labels=b0f_0io->b0f",
            2 * 2 * 4 * 3,
        ),
        # Depthwise: each feature has a kernel of its own.
        (
            "f32[1,4,6]",
            "f32[2,1,6]",
            "f32[1,3,6] convolution(%a, %b), window={size=2}, dim_labels=b0f_0io->b0f, feature_group_count=6",
            2 * 6 * 3 * 2,
        ),
        # So many positions are no window.
        (
            "f32[1,1000000,1]",
            "f32[900000,1,2]",
            "f32[1,900000,2] convolution(%a, %b), window={size=900000 pad=9_9}, dim_labels=b0f_0io->b0f",
            None,
        ),
        # Labels that do not fit the shapes.
        (
            "f32[12,4,1]",
            "f32[2,3,1,6]",
            "f32[1] convolution(%a, %b), dim_labels=b0f_0io->b0f",
            None,
        ),
        (
            "f32[8,16]",
            "f32[16,4]",
            '(f32[8,4], s8[64]) custom-call(%a, %b), custom_call_target="__cublas$gemm", '
            'backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}',
            2 * 8 * 4 * 16,
        ),
    ],
)
def test_products(lhs: str, rhs: str, product: str, expected: int | None) -> None:
    lines = f"%a = {lhs} parameter(0)", f"%b = {rhs} parameter(1)", f"ROOT %c = {product}"
    assert flops(*lines) == [expected]


def test_other_instructions_have_none() -> None:
    assert flops("%a = f32[8] parameter(0)", "ROOT %b = f32[8] add(%a, %a)") == []


@pytest.mark.parametrize(
    "product",
    [
        "f32[8,4] dot(), lhs_contracting_dims={1}",
        "f32[8,4] dot(%a, %b), lhs_contracting_dims={7}",
        "f32[] convolution(%a, %b)",
        "f32[2,2] convolution(%a, %b), window={size=x}, dim_labels=bf_io->bf",
        "f32[2,2] convolution(%a, %b), dim_labels=xy_io->bf",
        f"f32[8,16] convolution(%a, %b), window={{size=1 stride={'9' * 5000}}}, dim_labels=bf_io->bf",
        f"f32[{'9' * 5000},2] convolution(%a, %b), dim_labels=bf_io->bf",
    ],
)
def test_what_cannot_be_read_is_unknown_or_counted(product: str) -> None:
    """And never an exception."""
    flops("%a = f32[8,16] parameter(0)", "%b = f32[16,4] parameter(1)", f"ROOT %c = {product}")

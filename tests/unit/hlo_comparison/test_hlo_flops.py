"""FLOPs of products in HLO, as worked examples."""

from __future__ import annotations

from random import Random

import pytest

from sdyopt.analysis.hlo_comparison.hlo_instruction import flops_of
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
            "f32[2,3,4]",
            "f32[4,5]",
            "f32[2,3,5] dot(%a, %b), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
            2 * 2 * 3 * 5 * 4,
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
        # Of cuDNN: a backward pass has as many as the forward one, whose window and labels it has.
        *(
            (
                lhs,
                rhs,
                f"({result}, u8[0]) custom-call(%a, %b), window={{size=3 pad=1_1}}, dim_labels=bf0_oi0->bf0, "
                f'custom_call_target="__cudnn$conv{name}"',
                2 * 2 * 4 * 5 * (3 * 8 - 2),
            )
            for name, lhs, rhs, result in (
                ("Forward", "f32[2,5,8]", "f32[4,5,3]", "f32[2,4,8]"),
                ("BiasActivationForward", "f32[2,5,8]", "f32[4,5,3]", "f32[2,4,8]"),
                ("BackwardInput", "f32[2,4,8]", "f32[4,5,3]", "f32[2,5,8]"),
                ("BackwardFilter", "f32[2,5,8]", "f32[2,4,8]", "f32[4,5,3]"),
            )
        ),
    ],
)
def test_products(lhs: str, rhs: str, product: str, expected: int | None) -> None:
    lines = f"%a = {lhs} parameter(0)", f"%b = {rhs} parameter(1)", f"ROOT %c = {product}"
    assert flops(*lines) == [expected]


def test_windows_meet_as_many_elements_as_counted_one_by_one() -> None:
    """Elements of the padding, and those that dilation puts between elements, are zero and not counted."""
    random, windows = Random(0), []
    for _ in range(400):
        size, kernel, outputs, stride, between, apart = (random.randint(1, 4) for _ in range(6))
        windows.append((size, kernel, outputs, stride, random.randint(-2, 4), between, apart))
    lines = [
        f"%c{number} = f32[1,{outputs},1] convolution(%a{size}, %b{kernel}), window={{size={kernel} "
        f"stride={stride} pad={low}_0 lhs_dilate={between} rhs_dilate={apart}}}, dim_labels=b0f_0io->b0f"
        for number, (size, kernel, outputs, stride, low, between, apart) in enumerate(windows)
    ]
    arrays = [f"%a{n} = f32[1,{n},1] parameter({n})" for n in range(1, 5)]
    arrays += [f"%b{n} = f32[{n},1,1] parameter({n + 4})" for n in range(1, 5)]
    expected = []
    for size, kernel, outputs, stride, low, between, apart in windows:
        elements = {element * between for element in range(size)}
        met = [
            output * stride + position * apart - low in elements
            for output in range(outputs)
            for position in range(kernel)
        ]
        expected.append(2 * sum(met))
    assert flops(*arrays, *lines) == [count for count in expected if count]


def test_two_spatial_dimensions_have_windows_of_their_own() -> None:
    image, kernel = "%a = f32[2,5,9,3] parameter(0)", "%b = f32[2,3,3,4] parameter(1)"
    window = "window={size=2x3 stride=1x2 pad=0_0x1_1 rhs_dilate=2x1}"
    line = f"ROOT %c = f32[2,3,5,4] convolution(%a, %b), {window}, dim_labels=b01f_01io->b01f"
    # Each of 3 outputs has 2 positions; of 5 with 3 positions, both ends are in the padding once.
    assert flops(image, kernel, line) == [2 * 2 * 3 * 4 * (3 * 2) * (5 * 3 - 2)]


def test_products_of_batches_of_features_contract_the_batch() -> None:
    """The batch of the result is that of the operand without the groups."""
    lhs, rhs = "%a = f32[6,4,2] parameter(0)", "%b = f32[3,3,8] parameter(1)"
    labels = "dim_labels=b0f_0io->b0f, batch_group_count=2"
    line = f"ROOT %c = f32[3,2,8] convolution(%a, %b), window={{size=3}}, {labels}"
    assert flops(lhs, rhs, line) == [2 * 8 * 3 * (6 // 2) * (2 * 3)]


def test_an_operand_may_be_an_element_of_a_tuple() -> None:
    lines = "%a = (f32[2,3], f32[3,5]) parameter(0)", "%l = f32[2,3] get-tuple-element(%a), index=0"
    more = "%r = f32[3,5] get-tuple-element(%a), index=1", "ROOT %c = f32[2,5] dot(%l, %r), "
    assert flops(*lines, more[0], more[1] + "lhs_contracting_dims={1}, rhs_contracting_dims={0}") == [60]


def test_a_call_of_another_library_is_no_product() -> None:
    call = 'ROOT %c = f32[8,4] custom-call(%a, %b), custom_call_target="TopK"'
    assert flops("%a = f32[8,16] parameter(0)", "%b = f32[16,4] parameter(1)", call) == []


def test_fourier_transforms_count_as_in_a_report() -> None:
    complex = "ROOT %b = c64[4,64] fft(%a), fft_type=FFT, fft_length={64}"
    assert flops("%a = c64[4,64] parameter(0)", complex) == [5 * 4 * 64 * 6]
    real = "ROOT %b = c64[4,32,33] fft(%a), fft_type=RFFT, fft_length={32,64}"
    assert flops("%a = f32[4,32,64] parameter(0)", real) == [5 * 4 * 32 * 64 * 11 // 2]
    assert flops("ROOT %b = c64[4,64] fft(), fft_type=FFT, fft_length={64}") == [None]


def test_other_instructions_have_none() -> None:
    assert flops("%a = f32[8] parameter(0)", "ROOT %b = f32[8] add(%a, %a)") == []


@pytest.mark.parametrize(
    "product",
    [
        "f32[8,4] dot(), lhs_contracting_dims={1}",
        "f32[8,4] dot(%a), lhs_contracting_dims={1}",
        "f32[8,4] dot(%a, %b), lhs_contracting_dims={2}",
        "f32[8,4,1] dot(%a, %b), lhs_contracting_dims={2}",
        "() dot(%a, %b), lhs_contracting_dims={1}",
        "f32[8,4] dot(%e, %b), lhs_contracting_dims={1}",
        "f32[] convolution(%a, %b)",
        "f32[2,2] convolution(%a, %b), dim_labels=bf_xy->bf",
        "f32[2,2] convolution(%0, %0), window={size=2 stride=0 pad=1_1}, dim_labels=0_0->0",
        f"f32[{'9' * 5000},2] convolution(%a, %b), dim_labels=bf_io->bf",
        'f32[8,4] custom-call(%a, %b), custom_call_target="__cublas$gemm"',
    ],
)
def test_what_cannot_be_read_is_unknown(product: str) -> None:
    lines = "%a = f32[8,16] parameter(0)", "%b = f32[16,4] parameter(1)", "%0 = f32[2] parameter(2)"
    # An element that the tuple does not have.
    tuples = "%t = (f32[8,16], f32[16,4]) parameter(3)", "%e = f32[8,16] get-tuple-element(%t), index=2"
    assert flops(*lines, *tuples, f"ROOT %c = {product}") == [None]


@pytest.mark.parametrize("window", ["size=x", f"size=1 stride={'9' * 5000}"])
def test_a_window_that_cannot_be_read_is_none(window: str) -> None:
    line = f"ROOT %c = f32[8,4] convolution(%a, %b), window={{{window}}}, dim_labels=bf_io->bf"
    assert flops("%a = f32[8,16] parameter(0)", "%b = f32[16,4] parameter(1)", line) == [2 * 8 * 4 * 16]

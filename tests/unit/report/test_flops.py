"""FLOPs of products: per device, of the global operation, and their useful share."""

from fractions import Fraction
from itertools import product

import pytest

import sdyopt
from sdyopt.analysis.changes.same_batch import same_exchanges
from sdyopt.analysis.figures.figures import Product
from sdyopt.analysis.figures.flops import _in_input
from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.totals import useful_share
from tests.unit.report.programs import report


def matmul(lhs: str, rhs: str, out: str) -> tuple[Product, Fraction | None]:
    """An 8x16 by 16x32 product with these dimension shardings on 4 x 2 devices, and the useful share."""
    found = report(
        f"""
        sdy.mesh @mesh = <["x"=4, "y"=2]>
        func.func @main(%l: tensor<8x16xf32> {{sdy.sharding = #sdy.sharding<@mesh, {lhs}>}},
                        %r: tensor<16x32xf32> {{sdy.sharding = #sdy.sharding<@mesh, {rhs}>}})
            -> tensor<8x32xf32> {{
          %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0]
            {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {out}>]>}}
            : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
          return %0 : tensor<8x32xf32>
        }}
        """
    )
    (only,) = found.products
    return only, useful_share(found)


TOTAL = 2 * 8 * 16 * 32


def test_a_replicated_product_is_repeated_by_every_device() -> None:
    product, share = matmul("[{}, {}]", "[{}, {}]", "[{}, {}]")
    assert (product.flops, product.global_flops) == (TOTAL, TOTAL)
    assert share == Fraction(1, 8)


def test_a_product_sharded_along_all_axes_is_not_repeated() -> None:
    product, share = matmul('[{"x"}, {}]', '[{}, {"y"}]', '[{"x"}, {"y"}]')
    assert product.flops == TOTAL // 8
    assert share == 1


def test_flops_of_a_sharded_contracting_dimension() -> None:
    product, share = matmul('[{}, {"x"}]', '[{"x"}, {}]', "[{}, {}]")
    assert product.flops == TOTAL // 4
    assert share == Fraction(1, 2)


def test_flops_of_a_convolution() -> None:
    (product,) = report(
        """
        func.func @main(%i: tensor<2x8x8x3xf32>, %k: tensor<3x3x3x16xf32>) -> tensor<2x8x8x16xf32> {
          %0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<2x8x8x3xf32>, tensor<3x3x3x16xf32>) -> tensor<2x8x8x16xf32>
          return %0 : tensor<2x8x8x16xf32>
        }
        """
    ).products
    # At each end of the two dimensions, a place of the window has one of its 3 elements on padding.
    assert product.flops == 2 * (2 * 16) * (3 * 8 - 2) ** 2 * 3
    # The positions of all results, their features, and what is summed for each of them on average.
    assert product.sizes == (1, 2 * 8 * 8, 16, (3 * 8 - 2) ** 2 * 3 // 8**2)


def test_a_device_convolves_the_groups_of_its_features() -> None:
    dims = '[{}, {}, {}, {"x"}]'
    features = f"{{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}"
    (product,) = report(
        f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%i: tensor<2x8x8x32xf32> {features}, %k: tensor<3x3x1x32xf32> {features})
            -> (tensor<2x8x8x32xf32> {features}) {{
          %0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {{stride = [1, 1], pad = [[1, 1], [1, 1]]}}
            {{batch_group_count = 1 : i64, feature_group_count = 32 : i64,
             sdy.sharding = #sdy.sharding_per_value<[<@mesh, {dims}>]>}}
            : (tensor<2x8x8x32xf32>, tensor<3x3x1x32xf32>) -> tensor<2x8x8x32xf32>
          return %0 : tensor<2x8x8x32xf32>
        }}
        """
    ).products
    assert product.flops == 2 * (2 * 8) * (3 * 8 - 2) ** 2
    assert product.sizes == (8, 2 * 8 * 8, 1, (3 * 8 - 2) ** 2 // 8**2)


def test_the_gaps_of_a_dilated_input_count_nothing() -> None:
    (product,) = report(
        """
        func.func @main(%i: tensor<1x4x2xf32>, %k: tensor<3x2x2xf32>) -> tensor<1x7x2xf32> {
          %0 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
            window = {stride = [1], pad = [[1, 1]], lhs_dilate = [2]}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x4x2xf32>, tensor<3x2x2xf32>) -> tensor<1x7x2xf32>
          return %0 : tensor<1x7x2xf32>
        }
        """
    ).products
    # Of x_x_x_x, every other place has 2 elements under the window, and the others 1.
    assert product.flops == 2 * (4 * 1 + 3 * 2) * 2 * 2


def test_places_of_a_window_are_those_where_its_element_is_one_of_the_input() -> None:
    for gap, stride, size, start, places in product(
        range(1, 5), range(1, 4), range(1, 4), range(-5, 6), range(1, 8)
    ):
        elements = [place * stride + start for place in range(places)]
        inside = sum(element % gap == 0 and 0 <= element // gap < size for element in elements)
        assert _in_input((size, 1, places), stride, gap, start) == inside


def test_fourier_transforms_are_counted() -> None:
    (product,) = report(
        """
        func.func @main(%a: tensor<4x256xcomplex<f32>>) -> tensor<4x256xcomplex<f32>> {
          %0 = stablehlo.fft %a, type = FFT, length = [256]
            : (tensor<4x256xcomplex<f32>>) -> tensor<4x256xcomplex<f32>>
          return %0 : tensor<4x256xcomplex<f32>>
        }
        """
    ).products
    assert (product.kind, product.flops) == ("fft", 5 * 4 * 256 * 8)


def test_a_callee_of_a_manual_computation_computes_another_product_on_each_device() -> None:
    """Each of the four devices along "x" computes another product."""
    found = report(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<32x16xf32>) -> tensor<32x16xf32> {
          %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>]
              out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<8x16xf32>) {
            %1 = func.call @product(%b) : (tensor<8x16xf32>) -> tensor<8x16xf32>
            sdy.return %1 : tensor<8x16xf32>
          } : (tensor<32x16xf32>) -> tensor<32x16xf32>
          return %0 : tensor<32x16xf32>
        }
        func.func private @product(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
          %w = stablehlo.constant dense<1.0> : tensor<16x16xf32>
          %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
            : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
          return %0 : tensor<8x16xf32>
        }
        """
    )
    (product,) = found.products
    assert product.flops == 2 * 8 * 16 * 16
    assert product.global_flops == 4 * product.flops
    assert useful_share(found) == 1


def test_devices_of_a_manual_computation_that_compute_the_same_do_useful_work_once() -> None:
    text = """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<8x16xf32>,
            %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> (tensor<8x16xf32>, tensor<32x16xf32>) {
          %0 = sdy.all_gather [{"x"}, {}] %w out_sharding=<@mesh, [{}, {}]> : tensor<16x16xf32>
          %1:2 = sdy.manual_computation(%a, %0) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>]
              out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"}
              (%b: tensor<8x16xf32>, %v: tensor<16x16xf32>) {
            %2 = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0]
              : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
            sdy.return %2, %2 : tensor<8x16xf32>, tensor<8x16xf32>
          } : (tensor<8x16xf32>, tensor<16x16xf32>) -> (tensor<8x16xf32>, tensor<32x16xf32>)
          %3 = sdy.manual_computation(%1#1) in_shardings=[<@mesh, [{"x"}, {}]>]
              out_shardings=[<@mesh, [{}, {}]>] manual_axes={"x"} (%b: tensor<8x16xf32>) {
            %2 = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0]
              : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
            sdy.return %2 : tensor<16x16xf32>
          } : (tensor<32x16xf32>) -> tensor<16x16xf32>
          return %1#0, %1#1 : tensor<8x16xf32>, tensor<32x16xf32>
        }
        """
    found = report(text)
    # Nor does a residual make them different.
    assert [product.global_flops for product in found.products] == [2 * 8 * 16 * 16] * 2
    assert useful_share(found) == Fraction(1, 4)
    module = sdyopt.parse(text).ir
    (same,) = same_exchanges(module, LocalShapes(module))
    assert same.reason == "the devices along \"x\" compute the same: in_specs=P() gather what is P('x')"
    assert same.help.startswith("write P('x') in in_specs of the shard_map")
    assert "and use the part in the body; not tried" in same.help
    # Along two axes, it is said of one.
    both = text.replace('<["x"=4]>', '<["x"=4, "y"=2]>')
    both = both.replace('manual_axes={"x"}', 'manual_axes={"x", "y"}', 1)
    for old in ("%w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, ", "all_gather "):
        both = both.replace(f'{old}[{{"x"}}, {{}}]', f'{old}[{{"x"}}, {{"y"}}]')
    module = sdyopt.parse(both).ir
    assert [each.axis for each in same_exchanges(module, LocalShapes(module))] == ["x"]


_CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"


@pytest.mark.parametrize(
    ("collective", "share"),
    [
        (
            f"""
            %c = "stablehlo.all_reduce"(%b) <{{{_CHANNEL},
              replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}}> ({{
              ^bb0(%l: tensor<f32>, %r: tensor<f32>):
                %s = stablehlo.add %l, %r : tensor<f32>
                stablehlo.return %s : tensor<f32>
            }}) : (tensor<8x16xf32>) -> tensor<8x16xf32>
            """,
            Fraction(1, 4),
        ),
        # These are along no axis, so that it is not known which devices have the same.
        (
            f"""
            %c = "stablehlo.all_reduce"(%b) <{{{_CHANNEL},
              replica_groups = dense<[[0, 3], [1, 2]]> : tensor<2x2xi64>, use_global_device_ids}}> ({{
              ^bb0(%l: tensor<f32>, %r: tensor<f32>):
                %s = stablehlo.add %l, %r : tensor<f32>
                stablehlo.return %s : tensor<f32>
            }}) : (tensor<8x16xf32>) -> tensor<8x16xf32>
            """,
            Fraction(1),
        ),
        # Each device has the value of another one, in general: a ring with a gap has zeros.
        (
            f"""
            %c = "stablehlo.collective_permute"(%b) <{{{_CHANNEL},
              source_target_pairs = dense<[[0, 1], [1, 2], [2, 3]]> : tensor<3x2xi64>}}>
              : (tensor<8x16xf32>) -> tensor<8x16xf32>
            """,
            Fraction(1),
        ),
    ],
)
def test_devices_compute_the_same_after_some_collectives(collective: str, share: Fraction) -> None:
    found = report(
        f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<8x16xf32>) -> tensor<32x8xf32> {{
          %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{{}}, {{}}]>]
              out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%b: tensor<8x16xf32>) {{
            {collective}
            %2 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [1]
              : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
            sdy.return %2 : tensor<8x8xf32>
          }} : (tensor<8x16xf32>) -> tensor<32x8xf32>
          return %0 : tensor<32x8xf32>
        }}
        """
    )
    assert useful_share(found) == share

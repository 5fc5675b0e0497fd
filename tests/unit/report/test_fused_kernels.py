"""Kernels of loops, of caches, and of products with what is around them, as TPUs run them."""

import pytest

from sdyopt.analysis.figures.figures import Kernels, Report
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.report.entry import report_on
from tests.unit.report.programs import module

TPU = built_in_topology("tpu-v5e:1x1")


def report(text: str) -> Report:
    return report_on(module(text), TPU)


def kernels(text: str) -> Kernels:
    found = report(text).kernels
    assert found is not None
    return found


def scan(body: str, results: str = "", carried: str = "f32", rows: int = 8) -> str:
    """A loop of 10 runs that carries %h and the rows %ys; the body computes %next and %y. %w is 128x128."""
    state, all = f"tensor<{rows}x128x{carried}>", f"tensor<10x{rows}x128xf32>"
    result = "%out#1" if results else "%out#2"
    return f"""
    func.func @main(%w: tensor<128x128x{carried}>, %x: {all}) -> {state if results else all} {{
      %zero = stablehlo.constant dense<0.0> : tensor<{carried}>
      %none = stablehlo.constant dense<0.0> : tensor<f32>
      %h0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<{carried}>) -> {state}
      %ys0 = stablehlo.broadcast_in_dim %none, dims = [] : (tensor<f32>) -> {all}
      %i0 = stablehlo.constant dense<0> : tensor<i32>
      %out:3 = stablehlo.while(%i = %i0, %h = %h0, %ys = %ys0) : tensor<i32>, {state}, {all}
       cond {{
        %ten = stablehlo.constant dense<10> : tensor<i32>
        %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %o = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        {body}
        %row = stablehlo.reshape %y : (tensor<{rows}x128xf32>) -> tensor<1x{rows}x128xf32>
        %put = stablehlo.dynamic_update_slice %ys, %row, %i, %o, %o
          : ({all}, tensor<1x{rows}x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> {all}
        stablehlo.return %j, %next, %put : tensor<i32>, {state}, {all}
      }}
      return {result} : {state if results else all}
    }}
    """


ELEMENTWISE = """%next = stablehlo.tanh %h : tensor<{rows}x128xf32>
        %y = stablehlo.add %next, %next : tensor<{rows}x128xf32>"""
PRODUCT = """%p = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
          : (tensor<8x128xf32>, tensor<128x128xf32>) -> tensor<8x128xf32>
        %next = stablehlo.tanh %p : tensor<8x128xf32>
        %y = stablehlo.add %next, %next : tensor<8x128xf32>"""


def test_an_update_of_a_slice_is_one_kernel_with_what_it_writes_and_constants_before_loops_are_none() -> None:
    found = kernels(scan(ELEMENTWISE.format(rows=8), results="h"))
    # Whole tiles of 32 bits are copied beside it.
    assert [(size.bytes, runs) for size, runs in found.sizes.items()] == [(3 * 4096 + 4, 10)]


def test_what_a_loop_carries_is_copied_if_it_is_replaced_by_a_kernel_that_reads_it() -> None:
    # In tiles of fewer rows, and in 16 bits.
    assert sum(kernels(scan(ELEMENTWISE.format(rows=4), results="h", rows=4)).sizes.values()) == 20
    found = kernels(scan(PRODUCT))
    copies = {size.bytes: runs for size, runs in found.sizes.items() if not size.is_of_product}
    assert copies[2 * 4096] == 10
    # A product that writes a slice begins a kernel for it.
    assert found.unsized == 10
    # The result is carried in 32 bits if it is used.
    kept = kernels(scan(PRODUCT, results="h"))
    assert 10 not in [runs for size, runs in kept.sizes.items() if not size.is_of_product]


def test_a_vector_that_a_loop_carries_is_not_copied() -> None:
    """As with `PRODUCT`, the next vector is computed of a product of the one before; but it has no tiles."""
    vector, matrix = "tensor<128xbf16>", "tensor<128x128xbf16>"
    found = kernels(f"""
    func.func @main(%w: {matrix}, %h0: {vector}) -> tensor<i32> {{
      %i0 = stablehlo.constant dense<0> : tensor<i32>
      %out:2 = stablehlo.while(%i = %i0, %h = %h0) : tensor<i32>, {vector}
       cond {{
        %ten = stablehlo.constant dense<10> : tensor<i32>
        %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        %p = stablehlo.dot_general %w, %h, contracting_dims = [1] x [0] : ({matrix}, {vector}) -> {vector}
        %next = stablehlo.tanh %p : {vector}
        stablehlo.return %j, %next : tensor<i32>, {vector}
      }}
      return %out#0 : tensor<i32>
    }}
    """)
    assert not any(size.bytes == 2 * 2 * 128 and not size.is_of_product for size in found.sizes)


def test_what_a_loop_fills_is_not_copied() -> None:
    """One kernel updates both slices, each where it is: libtpu copies nothing for such a scan."""
    all, row = "tensor<64x8x128xbf16>", "tensor<8x128xbf16>"
    found = kernels(f"""
    func.func @main(%h0: {row}, %ys0: {all}, %zs0: {all}) -> ({all}, {all}) {{
      %i0 = stablehlo.constant dense<0> : tensor<i32>
      %out:4 = stablehlo.while(%i = %i0, %h = %h0, %ys = %ys0, %zs = %zs0) : tensor<i32>, {row}, {all}, {all}
       cond {{
        %last = stablehlo.constant dense<64> : tensor<i32>
        %c = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }} do {{
        %o = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.tanh %h : {row}
        %z = stablehlo.add %y, %h : {row}
        %y1 = stablehlo.reshape %y : ({row}) -> tensor<1x8x128xbf16>
        %z1 = stablehlo.reshape %z : ({row}) -> tensor<1x8x128xbf16>
        %put = stablehlo.dynamic_update_slice %ys, %y1, %i, %o, %o
          : ({all}, tensor<1x8x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> {all}
        %set = stablehlo.dynamic_update_slice %zs, %z1, %i, %o, %o
          : ({all}, tensor<1x8x128xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> {all}
        stablehlo.return %j, %z, %put, %set : tensor<i32>, {row}, {all}, {all}
      }}
      return %out#2, %out#3 : {all}, {all}
    }}
    """)
    # None reads or writes all layers.
    assert max(size.bytes for size in found.sizes) < 64 * 8 * 128 * 2


def test_an_update_of_an_updated_cache_is_a_kernel_of_its_own() -> None:
    found = kernels(
        """
    func.func @main(%all: tensor<4x64x128xf32>, %new: tensor<1x1x128xf32>, %i: tensor<i32>)
        -> tensor<4x64x128xf32> {
      %o = stablehlo.constant dense<0> : tensor<i32>
      %layer = stablehlo.dynamic_slice %all, %i, %o, %o, sizes = [1, 64, 128]
        : (tensor<4x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
      %put = stablehlo.dynamic_update_slice %layer, %new, %o, %i, %o
        : (tensor<1x64x128xf32>, tensor<1x1x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<1x64x128xf32>
      %r = stablehlo.dynamic_update_slice %all, %put, %i, %o, %o
        : (tensor<4x64x128xf32>, tensor<1x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<4x64x128xf32>
      return %r : tensor<4x64x128xf32>
    }
    """
    )
    assert found.count == 3


def test_a_product_takes_in_what_uses_its_result_more_than_once() -> None:
    found = kernels(
        """
    func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %t = stablehlo.logistic %p : tensor<512x512xf32>
      %r = stablehlo.multiply %p, %t : tensor<512x512xf32>
      return %r : tensor<512x512xf32>
    }
    """
    )
    assert [size.is_of_product for size in found.sizes] == [True]


@pytest.mark.parametrize(("scale", "is_in_product"), [("bf16", True), ("f32", False)])
def test_a_softmax_in_more_bits_than_its_product_computes_it(scale: str, is_in_product: bool) -> None:
    narrow, wide = f"tensor<2x2x512x512x{scale}>", "tensor<2x2x512x512xf32>"
    convert = f"stablehlo.convert %m : ({narrow}) -> {wide}"
    found = kernels(
        f"""
    func.func @main(%q: tensor<2x2x512x64x{scale}>, %k: tensor<2x2x512x64x{scale}>) -> {wide} {{
      %p = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
        : (tensor<2x2x512x64x{scale}>, tensor<2x2x512x64x{scale}>) -> {narrow}
      %eighth = stablehlo.constant dense<0.125> : {narrow}
      %m = stablehlo.multiply %p, %eighth : {narrow}
      %x = {convert}
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %most = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [3]
        : ({wide}, tensor<f32>) -> tensor<2x2x512xf32>
      %mosts = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : (tensor<2x2x512xf32>) -> {wide}
      %d = stablehlo.subtract %x, %mosts : {wide}
      %e = stablehlo.exponential %d : {wide}
      %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3]
        : ({wide}, tensor<f32>) -> tensor<2x2x512xf32>
      %sums = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x2x512xf32>) -> {wide}
      %r = stablehlo.divide %e, %sums : {wide}
      return %r : {wide}
    }}
    """
    )
    # What reads the product first, and the exponentials.
    assert sum(size.is_of_product for size in found.sizes) == 1 + is_in_product


def elements(text: str) -> int:
    return max(size.elements for size in kernels(text).sizes)


def test_vectors_wait_for_what_is_computed_of_them() -> None:
    size = 512 * 512

    def seconds(*names: str) -> float:
        """The time of a chain, in that of passing through all elements, without that."""
        type = "tensor<512x512xf32>"
        lines = [f"%x{n + 1} = {name} %x{n} : {type}" for n, name in enumerate(names)]
        body = "\n".join(f"{line} -> {type}" if "chlo" in line else line for line in lines)
        result = f"return %x{len(names)} : {type}"
        return elements(f"func.func @main(%x0: {type}) -> {type} {{\n{body}\n{result}\n}}") / size - 1

    simple = seconds("stablehlo.abs", "stablehlo.negate") / 2
    assert 0.01 < simple < 0.02

    def of(name: str) -> float:
        return seconds("stablehlo.abs", name) - simple

    sine, error = of("stablehlo.sine"), of("chlo.erf")
    assert sine > 2
    assert of("stablehlo.cosine") == sine
    assert of("stablehlo.tan") == pytest.approx(2 * sine, rel=0.01)
    assert 10 * simple < error < sine / 8
    assert of("chlo.erf_inv") == pytest.approx(2 * error, rel=0.01)


def test_a_reduction_passes_through_what_is_broadcast_for_it() -> None:
    text = """
    func.func @main(%a: tensor<1024x32xf32>, %b: tensor<64x32xf32>) -> tensor<1024x64xf32> {
      %x = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<1024x32xf32>) -> tensor<1024x64x32xf32>
      %y = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<64x32xf32>) -> tensor<1024x64x32xf32>
      %d = stablehlo.subtract %x, %y : tensor<1024x64x32xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [2]
        : (tensor<1024x64x32xf32>, tensor<f32>) -> tensor<1024x64xf32>
      return %r : tensor<1024x64xf32>
    }
    """
    assert elements(text) > 1024 * 64 * 32 // 2


def seconds(text: str) -> float:
    found = report(text)
    estimate = time_estimate(found, TPU)
    assert estimate.elementwise is not None
    return float(estimate.elementwise[0]) + sum(float(each.seconds or 0) for each in estimate.products)


def test_a_kernel_reads_and_writes_memory_if_nothing_runs_beside_it() -> None:
    values = ", ".join(f"%a{n}: tensor<2048x1024xf32>" for n in range(6))
    lines = [
        f"%b{n + 1} = stablehlo.add %{'b' if n else 'a'}{n}, %a{n + 1} : tensor<2048x1024xf32>"
        for n in range(5)
    ]
    text = f"""
    func.func @main({values}, %w: tensor<SIZExf32>) -> (tensor<2048x1024xf32>, tensor<SIZExf32>) {{
      {" ".join(line + chr(10) for line in lines)}
      %p = stablehlo.dot_general %w, %w, contracting_dims = [1] x [0]
        : (tensor<SIZExf32>, tensor<SIZExf32>) -> tensor<SIZExf32>
      return %b5, %p : tensor<2048x1024xf32>, tensor<SIZExf32>
    }}
    """

    def elementwise(size: int) -> float:
        estimate = time_estimate(report(text.replace("SIZE", f"{size}x{size}")), TPU)
        assert estimate.elementwise is not None
        return float(estimate.elementwise[0])

    alone = 1.217e-6 + 7 * 2048 * 1024 * 4 / (819e9 * 0.8)
    assert elementwise(8) == pytest.approx(alone, rel=0.01)
    # Beside a product, as far as that lasts.
    assert elementwise(8) > elementwise(1024) > elementwise(2048)


def test_windows_of_many_features_are_padded_for_each_element() -> None:
    def of(features: int, window: int) -> float:
        data, weights = f"tensor<8x32x32x{features}xf32>", f"tensor<{window}x{window}x{features}x64xf32>"
        pad = window // 2
        found = report(
            f"""
    func.func @main(%x: {data}, %w: {weights}) -> tensor<f32> {{
      %a = stablehlo.custom_call @make(%x) : ({data}) -> {data}
      %p = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{stride = [1, 1], pad = [[{pad}, {pad}], [{pad}, {pad}]]}}
        {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : ({data}, {weights}) -> tensor<8x32x32x64xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 1, 2, 3]
        : (tensor<8x32x32x64xf32>, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }}
    """
        )
        return float(time_estimate(found, TPU).products[0].seconds or 0)

    # Tiles of 128 features, and of 128 columns.
    assert of(64, 3) > 0.9 * of(128, 3)
    assert of(64, 3) > 2 * of(32, 3)


@pytest.mark.parametrize(
    ("groups", "results", "products"),
    [(128, 1, 1), (256, 1, 2), (96, 1, 1), (128, 2, 2)],
    ids=["a tile", "two tiles", "less than a tile", "two results of each feature"],
)
def test_features_of_a_tile_are_one_product_if_each_is_a_group(
    groups: int, results: int, products: int
) -> None:
    outputs = groups * results
    data, out = f"tensor<32x28x28x{groups}xf32>", f"tensor<32x28x28x{outputs}xf32>"
    weights = f"tensor<3x3x1x{outputs}xf32>"
    convolved = report(
        f"""
    func.func @main(%x: {data}, %w: {weights}) -> tensor<f32> {{
      %a = stablehlo.custom_call @make(%x) : ({data}) -> {data}
      %p = stablehlo.convolution(%a, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{stride = [1, 1], pad = [[1, 1], [1, 1]]}}
        {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
        : ({data}, {weights}) -> {out}
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 1, 2, 3]
        : ({out}, tensor<f32>) -> tensor<f32>
      return %r : tensor<f32>
    }}
    """
    )
    seconds = float(time_estimate(convolved, TPU).products[0].seconds or 0)
    # Of nine elements of a window, eight are not padding on average: each is a matrix of 128 x 128.
    multiplied = products * 2 * 8 * 128 * 128 * 32 * 28 * 28 / (197e12 * 0.95)
    assert seconds == pytest.approx(multiplied + 1.217e-6 + 0.17e-6, rel=0.001)


def test_the_vector_unit_multiplies_a_vector_by_a_cache_that_is_updated() -> None:
    def of(update: str) -> int:
        [product] = report(
            f"""
    func.func @main(%q: tensor<8x4x128xf32>, %k: tensor<8x512x4x128xf32>, %n: tensor<8x1x4x128xf32>,
        %i: tensor<i32>) -> tensor<8x4x512xf32> {{
      %o = stablehlo.constant dense<0> : tensor<i32>
      %new = stablehlo.tanh %n : tensor<8x1x4x128xf32>
      %c = stablehlo.dynamic_update_slice %k, {update}, %o, %i, %o, %o
        : (tensor<8x512x4x128xf32>, tensor<8x1x4x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
        -> tensor<8x512x4x128xf32>
      %r = stablehlo.dot_general %q, %c, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3]
        : (tensor<8x4x128xf32>, tensor<8x512x4x128xf32>) -> tensor<8x4x512xf32>
      return %r : tensor<8x4x512xf32>
    }}
    """
        ).products
        return product.kernel.vector_elements

    assert of("%new") > 0
    assert of("%n") == 0


def test_a_product_of_few_rows_begins_a_kernel_to_write_them() -> None:
    def of(rows: int) -> float:
        found = report(
            f"""
    func.func @main(%x: tensor<{rows}x128xf32>, %w: tensor<128x128xf32>) -> tensor<f32> {{
      %a = stablehlo.custom_call @make(%x) : (tensor<{rows}x128xf32>) -> tensor<{rows}x128xf32>
      %b = stablehlo.custom_call @make(%w) : (tensor<128x128xf32>) -> tensor<128x128xf32>
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<{rows}x128xf32>, tensor<128x128xf32>) -> tensor<{rows}x128xf32>
      %r = stablehlo.custom_call @use(%p) : (tensor<{rows}x128xf32>) -> tensor<f32>
      return %r : tensor<f32>
    }}
    """
        )
        return float(time_estimate(found, TPU).products[0].seconds or 0)

    # As libtpu estimates 2072 and 264 cycles.
    assert of(4) - of(8) == pytest.approx(1.217e-6)


def test_each_device_computes_its_shard_of_an_iota() -> None:
    found = report_on(
        module(
            """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<16x8192xf32>) -> tensor<16x8192xf32> {
      %i = stablehlo.iota dim = 1 : tensor<16x8192xf32>
      %r = sdy.manual_computation(%i, %a) in_shardings=[<@mesh, [{}, {"x"}]>, <@mesh, [{}, {"x"}]>]
          out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"}
          (%j: tensor<16x2048xf32>, %b: tensor<16x2048xf32>) {
        %s = stablehlo.add %j, %b : tensor<16x2048xf32>
        sdy.return %s : tensor<16x2048xf32>
      } : (tensor<16x8192xf32>, tensor<16x8192xf32>) -> tensor<16x8192xf32>
      return %r : tensor<16x8192xf32>
    }
    """
        ),
        built_in_topology("tpu-v5e:2x2"),
    ).kernels
    assert found is not None
    assert found.count == 1


def test_the_row_of_a_kernel_does_not_depend_on_addresses() -> None:
    """Of equal operations of a kernel, the same one stands for it each time a program is read."""
    text = """
    func.func @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %0 = stablehlo.tanh %a : tensor<512x512xf32>
      %1 = stablehlo.exponential %0 : tensor<512x512xf32>
      %2 = stablehlo.negate %1 : tensor<512x512xf32>
      %3 = stablehlo.sine %2 : tensor<512x512xf32>
      return %3 : tensor<512x512xf32>
    }
    """
    reports = [report(text) for _ in range(12)]
    assert len({timed.kind for item in reports for timed in item.timed_kernels()}) == 1

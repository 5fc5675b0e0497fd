"""Kernels and products as machines run them."""

from fractions import Fraction

import pytest

from sdyopt.analysis.figures.figures import Kernels
from sdyopt.analysis.figures.fusion import _is_alone
from sdyopt.analysis.figures.narrow_floats import _rounds_operands
from sdyopt.analysis.figures.time_estimate import time_estimate
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.analysis.figures.totals import time_range
from sdyopt.analysis.report.entry import report_on
from tests.unit.report.programs import module

MIB = 1 << 20
TPU = built_in_topology("tpu-v5e:1x1")


def kernels(body: str, result: str = "tensor<512x512xf32>") -> Kernels:
    """The kernels of a function of %a and %b, of 1 MiB each, that returns %r."""
    text = f"""
    func.func @main(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> {result} {{
      {body}
      return %r : {result}
    }}
    """
    found = report_on(module(text), TPU).kernels
    assert found is not None
    return found


REDUCE = """
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
"""


def test_a_chain_is_one_kernel_that_reads_and_writes_once() -> None:
    found = kernels(
        """%x = stablehlo.add %a, %b : tensor<512x512xf32>
      %r = stablehlo.tanh %x : tensor<512x512xf32>"""
    )
    assert (found.count, found.bytes) == (1, 3 * MIB)


def test_what_uses_a_reduction_is_a_later_kernel_and_computes_its_operand_again() -> None:
    found = kernels(
        f"""%x = stablehlo.tanh %a : tensor<512x512xf32>{REDUCE}
      %d = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.subtract %x, %d : tensor<512x512xf32>"""
    )
    # %a is read twice; %x is written nowhere.
    assert (found.count, found.bytes) == (2, 3 * MIB + 2 * 2048)


NORMALIZED = """%d = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.subtract %x, %d : tensor<512x512xf32>"""


def test_what_is_computed_of_sums_is_a_kernel_of_its_own() -> None:
    """As the mean of rows, which is not divided again for each element."""
    body = f"%x = stablehlo.tanh %a : tensor<512x512xf32>{REDUCE}MEAN\n{NORMALIZED}"
    found = kernels(body.replace("MEAN", "%m = stablehlo.rsqrt %s : tensor<512xf32>"))
    assert (found.count, found.bytes) == (3, 3 * MIB + 4 * 2048)
    # The largest of a maximum and a constant is the maximum, and a reduction converts what it writes.
    constant = "%c = stablehlo.constant dense<0xFF800000> : tensor<512xf32>"
    found = kernels(body.replace("MEAN", f"{constant}\n%m = stablehlo.maximum %c, %s : tensor<512xf32>"))
    assert found.count == 2


def test_a_reduction_along_dimensions_of_size_1_is_a_view() -> None:
    """As in the gradient of what is broadcast."""
    found = kernels(
        f"""%x = stablehlo.tanh %a : tensor<512x512xf32>{REDUCE}
      %n = stablehlo.reshape %s : (tensor<512xf32>) -> tensor<512x1xf32>
      %m = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<512x1xf32>, tensor<f32>) -> tensor<512xf32>
      {NORMALIZED}"""
    )
    assert (found.count, found.bytes) == (2, 3 * MIB + 2 * 2048)


def test_a_sum_of_what_is_received_is_written_if_several_products_use_it() -> None:
    """They read one value in place of two."""
    body = """%s = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %t = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %t : tensor<f32>
      }) : (tensor<512x512xf32>) -> tensor<512x512xf32>
      SUM
      %u = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %v = stablehlo.dot_general SECOND, %b, contracting_dims = [0] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.custom_call @use(%u, %v)
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>"""

    def count(operation: str, second: str = "%x") -> int:
        return kernels(body.replace("SUM", operation).replace("SECOND", second)).count

    add = "%x = stablehlo.add %s, %b : tensor<512x512xf32>"
    assert count(add) == 1
    assert count(add, "%s") == count("%x = stablehlo.tanh %s : tensor<512x512xf32>") == 0


def test_kernels_that_only_share_a_scalar_are_not_one() -> None:
    found = kernels(
        """%c = stablehlo.constant dense<2.0> : tensor<f32>
      %rate = stablehlo.slice %a [0:1, 0:1] : (tensor<512x512xf32>) -> tensor<1x1xf32>
      %one = stablehlo.reshape %rate : (tensor<1x1xf32>) -> tensor<f32>
      %all = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      %x = stablehlo.multiply %a, %all : tensor<512x512xf32>
      %y = stablehlo.multiply %b, %all : tensor<512x512xf32>
      %z = stablehlo.custom_call @use(%x, %y) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<f32>
      %r = stablehlo.add %z, %c : tensor<f32>""",
        "tensor<f32>",
    )
    assert [size.elements for size in found.sizes] == [pytest.approx(512 * 512, rel=0.02)]
    assert list(found.sizes.values()) == [2]


def test_what_others_compute_again_is_no_kernel() -> None:
    # %x is before the reduction of %b, and %r, which computes it again, after it.
    found = kernels(
        f"""%y = stablehlo.tanh %a : tensor<512x512xf32>
      %x = stablehlo.add %b, %b : tensor<512x512xf32>{REDUCE}
      %d = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.subtract %y, %d : tensor<512x512xf32>"""
    )
    assert found.count == 2


def test_a_constant_that_is_returned_is_written() -> None:
    found = kernels(
        """%c = stablehlo.constant dense<2.0> : tensor<f32>
      %r = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<512x512xf32>"""
    )
    assert (found.count, found.bytes) == (1, MIB)


def test_vectors_of_one_value_take_as_long_as_those_of_three() -> None:
    def elements(body: str) -> int:
        [size] = kernels(body).sizes
        return size.elements

    one = elements("%r = stablehlo.tanh %a : tensor<512x512xf32>")
    assert one == 512 * 512
    assert elements("%r = stablehlo.add %a, %b : tensor<512x512xf32>") == one


def test_a_very_long_chain_is_several_kernels() -> None:
    lines = [f"%x{n + 1} = stablehlo.tanh %x{n} : tensor<512x512xf32>" for n in range(50)]
    found = kernels(
        f"%x0 = stablehlo.tanh %a : tensor<512x512xf32>\n{chr(10).join(lines)}"
        "\n%r = stablehlo.tanh %x50 : tensor<512x512xf32>"
    )
    assert (found.count, found.bytes) == (3, 2 * MIB)


def test_a_slice_of_a_replicated_value_is_looked_up_on_tpu() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %r = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<512x512xf32>
      return %r : tensor<512x512xf32>
    }
    """
    counts = []
    for machine in ("tpu-v5e:2x2", "h100:4"):
        found = report_on(module(text), built_in_topology(machine)).kernels
        assert found is not None
        counts.append((found.count, found.bytes))
    # One looks up the position, one copies a quarter.
    assert counts == [(2, MIB // 2), (0, 0)]


def test_what_products_and_others_compute_again_is_not_written() -> None:
    found = kernels(
        f"""%x = stablehlo.tanh %a : tensor<512x512xf32>
      %p = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>{REDUCE}
      %d = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %y = stablehlo.subtract %x, %d : tensor<512x512xf32>
      %r = stablehlo.dot_general %p, %y, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>"""
    )
    # The sums are the only kernel; both products compute what they read.
    assert found.count == 1


def test_views_take_no_time() -> None:
    body = "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<512x512xf32>) -> tensor<512x512xf32>"
    assert kernels(body).count == 0


def test_a_slice_reads_what_it_returns() -> None:
    body = """%c = stablehlo.slice %a [0:2, 0:512] : (tensor<512x512xf32>) -> tensor<2x512xf32>
      %r = stablehlo.tanh %c : tensor<2x512xf32>"""
    assert kernels(body, "tensor<2x512xf32>").bytes == 2 * 4096


def test_products_take_in_the_operations_after_them() -> None:
    found = kernels(
        """%p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.tanh %p : tensor<512x512xf32>"""
    )
    assert (found.count, found.bytes, found.product_bytes) == (0, 0, 2 * MIB)


@pytest.mark.parametrize(
    ("rows", "columns", "contracted", "padded"),
    # A tile of one operand is loaded in the time of 32 rows of the other.
    [(1024, 256, 8192, 1), (1024, 256, 32, 4), (1024, 32, 256, 1), (64, 4096, 4096, 1), (8, 4096, 4096, 4)],
)
def test_products_are_of_whole_tiles(rows: int, columns: int, contracted: int, padded: int) -> None:
    lhs, rhs = f"tensor<{rows}x{contracted}xbf16>", f"tensor<{contracted}x{columns}xbf16>"
    result = f"tensor<{rows}x{columns}xf32>"
    report = report_on(
        module(f"""
        func.func @main() -> tensor<f32> {{
          %a, %b = stablehlo.custom_call @make() : () -> ({lhs}, {rhs})
          %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({lhs}, {rhs}) -> {result}
          %r = stablehlo.custom_call @use(%p) : ({result}) -> tensor<f32>
          return %r : tensor<f32>
        }}
        """),
        TPU,
    )
    [product] = time_estimate(report, TPU).products
    flops = 2 * rows * columns * contracted * padded
    # And what the product takes without any FLOPs.
    assert product.seconds == flops / (197 * 10**12 * Fraction(95, 100)) + Fraction("0.17e-6")


@pytest.mark.parametrize(
    ("rows", "columns", "contracted", "type", "is_returned", "cycles"),
    [
        (1024, 1024, 64, "f32", True, 12632),
        (2048, 4096, 64, "f32", True, 84234),
        (2048, 4096, 512, "f32", True, 90824),
        (2048, 4096, 4096, "f32", True, 536412),
        (1024, 1024, 64, "bf16", True, 16897),
        (2048, 4096, 64, "bf16", True, 119048),
        (2048, 4096, 512, "bf16", True, 125192),
        (2048, 4096, 4096, "bf16", True, 537478),
        (4096, 8192, 128, "bf16", False, 328306),
    ],
)
def test_results_take_time_to_write(
    rows: int, columns: int, contracted: int, type: str, is_returned: bool, cycles: int
) -> None:
    """As libtpu estimates: in memory if they are returned, and with 16 bits."""
    lhs, rhs = f"tensor<{rows}x{contracted}xbf16>", f"tensor<{contracted}x{columns}xbf16>"
    result = f"tensor<{rows}x{columns}x{type}>"
    end = f"return %p : {result}"
    if not is_returned:
        end = f"%r = stablehlo.custom_call @use(%p) : ({result}) -> tensor<f32>\n  return %r : tensor<f32>"
    text = f"""
    func.func @main() -> {result if is_returned else "tensor<f32>"} {{
      %a, %b = stablehlo.custom_call @make() : () -> ({lhs}, {rhs})
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({lhs}, {rhs}) -> {result}
      {end}
    }}
    """
    [product] = time_estimate(report_on(module(text), TPU), TPU).products
    assert product.seconds is not None
    assert float(product.seconds) == pytest.approx(cycles / 1.5e9, rel=0.2)


def product_seconds(body: str, machine: str = "tpu-v5e") -> list[float]:
    """The seconds of the products of a function of a bfloat16 %x, and of weights %v and %w that it reads."""
    x, w = "tensor<512x1024xbf16>", "tensor<1024x1024xbf16>"
    text = f"""
    func.func @main(%x: {x}, %v: {w}, %w: {w}, %row: tensor<1x1024xf32>, %wide: tensor<1024x2048xf32>,
        %q: tensor<4x1x4x128xf32>, %k: tensor<4x1024x4x128xf32>) -> tensor<f32> {{
      {body}
    }}
    """
    topology = built_in_topology(machine)
    products = time_estimate(report_on(module(text), topology), topology).products
    return [float(product.seconds) for product in products if product.seconds is not None]


def test_the_first_product_waits_for_the_arguments_that_it_reads() -> None:
    x, w = "tensor<512x1024xbf16>", "tensor<1024x1024xbf16>"
    first, second = product_seconds(
        f"""%p = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %s = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %r = stablehlo.custom_call @use(%s, %p) : ({x}, {x}) -> tensor<f32>
      return %r : tensor<f32>"""
    )
    # Those of the second one have come.
    assert first - second == pytest.approx(2 * 1.217e-6 + 3 * MIB / 819e9)
    # What no product waits for is read before, whatever the units of a GPU do.
    [gpu_first, gpu_second] = product_seconds(
        f"""%p = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %s = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %r = stablehlo.custom_call @use(%s, %p) : ({x}, {x}) -> tensor<f32>
      return %r : tensor<f32>""",
        "h100:1",
    )
    assert gpu_first == gpu_second


def test_a_kernel_is_of_up_to_two_products() -> None:
    """Of a row of products, from its end. What the first one computes is not written."""
    x, w = "tensor<512x1024xbf16>", "tensor<1024x1024xbf16>"
    row = f"""%a = stablehlo.custom_call @make(%x) : ({x}) -> {x}
      %p = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %l = stablehlo.logistic %p : {x}
      %m = stablehlo.multiply %p, %l : {x}
      %n = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %s = stablehlo.dot_general %n, %w, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
      %r = stablehlo.custom_call @use(USED) : (TYPES) -> tensor<f32>
      return %r : tensor<f32>"""
    first, second, last = product_seconds(row.replace("USED", "%s").replace("TYPES", x))
    assert first == last
    assert last - second > 1.217e-6
    # Both of them are used elsewhere.
    every = product_seconds(row.replace("USED", "%s, %p, %n").replace("TYPES", f"{x}, {x}, {x}"))
    assert every == [last] * 3


def test_a_product_waits_for_what_a_loop_takes_of_an_argument() -> None:
    """Nothing copies it to the cache before: the kernel takes the time of one more, and of the bytes."""
    x, w, stack = "tensor<512x1024xbf16>", "tensor<1024x1024xbf16>", "tensor<4x1024x1024xbf16>"
    text = f"""
    func.func @main(%x: {x}, %w: {stack}) -> {x} {{
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %l:3 = stablehlo.while(%i = %zero, %c = %x, %s = %w) : tensor<i32>, {x}, {stack}
        cond {{
          %four = stablehlo.constant dense<4> : tensor<i32>
          %more = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        }} do {{
          %none = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %next = stablehlo.add %i, %one : tensor<i32>
          %t = stablehlo.dynamic_slice %s, INDEX, %none, %none, sizes = [1, 1024, 1024]
            : ({stack}, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1024x1024xbf16>
          %v = stablehlo.reshape %t : (tensor<1x1024x1024xbf16>) -> {w}
          %p = stablehlo.dot_general %c, VALUE, contracting_dims = [1] x [0] : ({x}, {w}) -> {x}
          stablehlo.return %next, %p, %s : tensor<i32>, {x}, {stack}
        }}
      return %l#1 : {x}
    }}
    """

    def seconds(value: str) -> float:
        topology = built_in_topology("tpu-v5e")
        report = report_on(module(text.replace("INDEX", "%i").replace("VALUE", value)), topology)
        [product] = time_estimate(report, topology).products
        assert product.seconds is not None
        return float(product.seconds)

    made = "%made"
    text = text.replace("%p = ", f"{made} = stablehlo.custom_call @make(%v) : ({w}) -> {w}\n          %p = ")
    assert seconds("%v") - seconds(made) == pytest.approx(1.217e-6 + 2 * MIB / (819e9 * 0.8))


def test_a_tile_of_v6e_is_loaded_in_the_time_of_as_many_rows() -> None:
    body = """%a = stablehlo.custom_call @make(%x) : (tensor<512x1024xbf16>) -> tensor<ROWSx1024xf32>
      %b = stablehlo.custom_call @make(%w) : (tensor<1024x1024xbf16>) -> tensor<1024x4096xf32>
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<ROWSx1024xf32>, tensor<1024x4096xf32>) -> tensor<ROWSx4096xf32>
      %r = stablehlo.custom_call @use(%p) : (tensor<ROWSx4096xf32>) -> tensor<f32>
      return %r : tensor<f32>"""
    few, many = (product_seconds(body.replace("ROWS", rows), "tpu-v6e") for rows in ("32", "256"))
    assert few == many
    few, many = (product_seconds(body.replace("ROWS", rows), "tpu-v5e") for rows in ("32", "256"))
    assert few < many


def test_products_of_a_row_are_of_the_vector_unit() -> None:
    """As libtpu estimates a row of 1024 and 16 of 128 elements, which it multiplies and sums."""
    row, wide, q, k, s = (
        f"tensor<{shape}xf32>" for shape in ("1x1024", "1024x2048", "4x1x4x128", "4x1024x4x128", "4x4x1x1024")
    )
    [of_row, of_heads] = product_seconds(
        f"""%a = stablehlo.custom_call @make(%row) : ({row}) -> {row}
      %b = stablehlo.custom_call @make(%wide) : ({wide}) -> {wide}
      %c = stablehlo.custom_call @make(%k) : ({k}) -> {k}
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({row}, {wide}) -> tensor<1x2048xf32>
      %s = stablehlo.dot_general %q, %c, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
        : ({q}, {k}) -> {s}
      %r = stablehlo.custom_call @use(%p, %s) : (tensor<1x2048xf32>, {s}) -> tensor<f32>
      return %r : tensor<f32>"""
    )
    assert of_row * 1.5e9 == pytest.approx(2048 * 18, rel=0.2)
    assert of_heads * 1.5e9 == pytest.approx(4096 * 18, rel=0.2)


@pytest.mark.parametrize(("dimension", "count"), [(1, 2), (0, 1)])
def test_a_sort_along_rows_is_transposed_before_and_after(dimension: int, count: int) -> None:
    found = kernels(
        f"""%r = "stablehlo.sort"(%a) <{{dimension = {dimension} : i64}}> ({{
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %r = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %r : tensor<i1> }}) : (tensor<512x512xf32>) -> tensor<512x512xf32>"""
    )
    assert (found.count, max(size.bytes for size in found.sizes)) == (count, 2 * MIB)


def test_vectors_are_whole_tiles() -> None:
    """A dimension of two before the minor one fills a quarter of each vector."""

    def elements(shape: str) -> int:
        text = f"""
        func.func @main(%a: tensor<{shape}xf32>) -> tensor<{shape}xf32> {{
          %r = stablehlo.tanh %a : tensor<{shape}xf32>
          return %r : tensor<{shape}xf32>
        }}
        """
        found = report_on(module(text), TPU).kernels
        assert found is not None
        [size] = found.sizes
        return size.elements

    assert elements("64x8x128") == 64 * 8 * 128
    assert elements("64x2x128") == 64 * 8 * 128
    # The minor dimensions are others where that takes less memory.
    assert elements("65536x3") == 65536 * 8
    assert elements("100") == 1024


def test_a_value_that_several_slices_read_is_written() -> None:
    body = """%x = stablehlo.tanh %a : tensor<512x512xf32>
      %c = stablehlo.slice %x [0:256, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %d = stablehlo.slice %x [256:512, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %r = stablehlo.multiply %c, %d : tensor<256x512xf32>"""
    assert kernels(body, "tensor<256x512xf32>").count == 2


def test_what_is_concatenated_is_written() -> None:
    body = """%x = stablehlo.tanh %a : tensor<512x512xf32>
      %y = stablehlo.negate %b : tensor<512x512xf32>
      %c = stablehlo.concatenate %x, %y, dim = 0
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
      %r = stablehlo.tanh %c : tensor<1024x512xf32>"""
    assert kernels(body, "tensor<1024x512xf32>").count == 3


def test_a_reshape_that_moves_elements_to_other_vectors_is_a_kernel() -> None:
    def count(shape: str, operand: str = "512x512") -> int:
        body = f"""%x = stablehlo.tanh %a : tensor<{operand}xf32>
      %y = stablehlo.reshape %x : (tensor<{operand}xf32>) -> tensor<{shape}xf32>
      %r = stablehlo.tanh %y : tensor<{shape}xf32>"""
        return kernels(body, f"tensor<{shape}xf32>").count

    # Rows stay what they are, and eights of them.
    assert count("64x8x512") == 1
    assert count("512x4x128") == 3
    assert count("128x4x512") == 3
    # A product writes its result so.
    product = """%x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.reshape %x : (tensor<512x512xf32>) -> tensor<128x4x512xf32>"""
    assert kernels(product, "tensor<128x4x512xf32>").count == 0


def test_a_factorization_is_of_blocks_of_rows() -> None:
    """As libtpu does it for 1024 rows, in 39 kernels."""
    assert kernels("%r = stablehlo.cholesky %a, lower = true : tensor<512x512xf32>").count == 20


def test_slices_of_one_value_are_taken_together() -> None:
    body = """%c = stablehlo.slice %a [0:256, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %d = stablehlo.slice %a [256:512, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %r = stablehlo.concatenate %d, %c, dim = 0
        : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>"""
    assert kernels(body).count == 2


def test_slices_of_one_value_that_others_compute_again_are_not_taken_together() -> None:
    body = """%c = stablehlo.slice %a [0:256, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %d = stablehlo.slice %a [256:512, 0:512] : (tensor<512x512xf32>) -> tensor<256x512xf32>
      %x = stablehlo.tanh %c : tensor<256x512xf32>
      %y = stablehlo.tanh %d : tensor<256x512xf32>
      %r = stablehlo.custom_call @use(%x, %y)
        : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>"""
    assert list(kernels(body).sizes.values()) == [2]


def test_a_kernel_that_concatenates_passes_through_two_values_at_once() -> None:
    text = """
    func.func @main(%a: tensor<512x512xf32>, %b: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
      %c = stablehlo.concatenate %a, %a, dim = 0
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>
      %r = stablehlo.multiply %c, %b : tensor<1024x512xf32>
      return %r : tensor<1024x512xf32>
    }
    """
    found = report_on(module(text), TPU).kernels
    assert found is not None
    [size] = found.sizes
    assert size.elements == pytest.approx((1 + 2 + 2) * 512 * 512 // 2, rel=0.03)


def test_a_scan_is_of_several_kernels() -> None:
    """As libtpu scans [16, 256] and [16, 8192]: in rows of 128, then their sums."""

    def count(columns: int) -> int:
        shape = f"tensor<16x{columns}xf32>"
        text = f"""
        func.func @main(%a: {shape}) -> {shape} {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %r = "stablehlo.reduce_window"(%a, %zero) <{{
            padding = dense<[[0, 0], [{columns - 1}, 0]]> : tensor<2x2xi64>,
            window_dimensions = array<i64: 1, {columns}>}}> ({{
          ^bb0(%x: tensor<f32>, %y: tensor<f32>):
            %s = stablehlo.add %x, %y : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }}) : ({shape}, tensor<f32>) -> {shape}
          return %r : {shape}
        }}
        """
        found = report_on(module(text), TPU).kernels
        assert found is not None
        return found.count

    assert [count(columns) for columns in (8, 256, 8192, 65536)] == [1, 4, 4, 8]


ONE_HOT = """
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %c = stablehlo.constant dense<0.0> : tensor<512x512xf32>
      %at = stablehlo.custom_call @places() : () -> tensor<512x2xi32>
      %one = stablehlo.constant dense<1.0> : tensor<512xf32>
      %x = "stablehlo.scatter"(%c, %at, %one) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        stablehlo.return %v : tensor<f32>
      }) : (tensor<512x512xf32>, tensor<512x2xi32>, tensor<512xf32>) -> tensor<512x512xf32>
"""


def test_a_scatter_of_single_elements_is_computed_where_it_is_read() -> None:
    assert kernels(f"{ONE_HOT} %r = stablehlo.add %a, %x : tensor<512x512xf32>").count == 1


def test_a_product_takes_in_the_reduction_that_reads_its_result_first() -> None:
    found = kernels(
        f"""%x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>{REDUCE}
      %d = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.subtract %x, %d : tensor<512x512xf32>"""
    )
    # The subtraction is the only other kernel.
    assert found.count == 1
    found = kernels(
        f"""%y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %least = stablehlo.constant dense<0.0> : tensor<f32>
      %m = stablehlo.reduce(%y init: %least) applies stablehlo.maximum across dimensions = [1]
        : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
      %d = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %x = stablehlo.subtract %y, %d : tensor<512x512xf32>{REDUCE}
      %r = stablehlo.tanh %s : tensor<512xf32>""",
        "tensor<512xf32>",
    )
    # Nor one that reads the result after another kernel has.
    assert found.count == 2


def test_each_kernel_computes_what_is_made_of_constants() -> None:
    found = kernels(
        """%i = stablehlo.iota dim = 0 : tensor<512x512xf32>
      %m = stablehlo.tanh %i : tensor<512x512xf32>
      %x = stablehlo.add %a, %m : tensor<512x512xf32>
      %y = stablehlo.add %b, %m : tensor<512x512xf32>
      %r = stablehlo.custom_call @use(%x, %y)
        : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>"""
    )
    assert list(found.sizes.values()) == [2]


def test_precision_and_type_change_the_rate() -> None:
    def seconds(type: str, precision: str, machine: str) -> float:
        operand = f"tensor<4096x4096x{type}>"
        text = f"""
        func.func @main(%x: {operand}) -> tensor<f32> {{
          %a = stablehlo.custom_call @make(%x) : ({operand}) -> {operand}
          %b = stablehlo.custom_call @make(%x) : ({operand}) -> {operand}
          %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]{precision}
            : ({operand}, {operand}) -> tensor<4096x4096xf32>
          %r = stablehlo.custom_call @use(%p) : (tensor<4096x4096xf32>) -> tensor<f32>
          return %r : tensor<f32>
        }}
        """
        [product] = time_estimate(
            report_on(module(text), built_in_topology(machine)), built_in_topology(machine)
        ).products
        assert product.seconds is not None
        return float(product.seconds)

    assert seconds("f32", "", "tpu-v5e") == seconds("bf16", "", "tpu-v5e")
    highest = ", precision = [HIGHEST, HIGHEST]"
    assert seconds("f32", highest, "tpu-v5e") == pytest.approx(6 * seconds("f32", "", "tpu-v5e"), rel=0.01)
    # On GPUs, a product takes 2 us without any FLOPs.
    started = 2e-6
    f32, bf16 = (seconds(type, "", "h100") - started for type in ("f32", "bf16"))
    assert f32 == pytest.approx(2 * bf16)
    f8, bf16 = (seconds(type, "", "b200") - started for type in ("f8E4M3FN", "bf16"))
    assert f8 == pytest.approx(bf16 / 2)


def test_what_is_gathered_for_products_alone_is_narrowed_by_a_kernel_before() -> None:
    """Unless another kernel computes it. It reads 4 bytes for each that are written as 2."""
    gather = """= "stablehlo.all_gather"(%x)
        <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
        : (tensor<512x512xf32>) -> tensor<1024x512xf32>"""
    product = """%r = stablehlo.dot_general %g, %b, contracting_dims = [1] x [0]
        : (tensor<1024x512xf32>, tensor<512x512xf32>) -> tensor<1024x512xf32>"""
    result = "tensor<1024x512xf32>"
    found = kernels(f"%g {gather.replace('%x', '%a')}\n{product}", result)
    assert (found.count, found.bytes) == (1, MIB * 3 // 2)
    # What is narrowed once is moved twice.
    again = f"%g {gather.replace('%x', '%a')}\n%h {gather.replace('%x', '%a')}"
    twice = f"{again}\n{product.replace('%r', '%p')}\n{product.replace('%g', '%h').replace('%r', '%q')}"
    found = kernels(
        f"{twice}\n%r = stablehlo.custom_call @use(%p, %q) : ({result}, {result}) -> {result}", result
    )
    assert found.count == 1
    before = "%x = stablehlo.tanh %a : tensor<512x512xf32>"
    assert kernels(f"{before}\n%g {gather}\n{product}", result).bytes == 2 * MIB
    # Others use the shard that is gathered.
    both = f"%g {gather.replace('%x', '%a')}\n{product.replace('%r', '%p')}"
    used = f"%r = stablehlo.custom_call @use(%p, %a) : ({result}, tensor<512x512xf32>) -> {result}"
    assert kernels(f"{both}\n{used}", result).bytes == MIB * 3 // 2


def test_kernels_of_pallas_take_what_they_say() -> None:
    """As JAX lowers a kernel with a `cost_estimate`."""
    cost = r"{\22bytes_accessed\22:1024,\0A\22flops\22:985000000}"
    config = rf"{{\22custom_call_config\22: {{\22cost_estimate\22: {cost}}}}}"
    found = kernels(
        f"""%r = stablehlo.custom_call @tpu_custom_call(%a) {{backend_config = "{config}"}}
        : (tensor<512x512xf32>) -> tensor<512x512xf32>"""
    )
    assert (found.count, found.custom_flops, found.custom_bytes) == (1, 985000000, 1024)


def test_at_most_products_are_as_slow_as_in_whole_steps() -> None:
    shape = "tensor<4096x4096xbf16>"
    report = report_on(
        module(f"""
        func.func @main(%a: {shape}, %b: {shape}) -> {shape} {{
          %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({shape}, {shape}) -> {shape}
          return %r : {shape}
        }}
        """),
        TPU,
    )
    assert report.time is not None
    least, most = time_range(report, report.time)
    # 95 % of the published rate, and 58 %.
    assert most / least == Fraction(95, 58)


@pytest.mark.parametrize(
    ("op", "is_alone"),
    [
        ("stablehlo.slice %a [0:8:2, 0:8, 0:8] : (tensor<8x8x8xf32>) -> tensor<4x8x8xf32>", False),
        ("stablehlo.slice %a [0:8, 0:8:2, 0:8] : (tensor<8x8x8xf32>) -> tensor<8x4x8xf32>", True),
        ("stablehlo.slice %a [0:8, 0:8, 0:8:2] : (tensor<8x8x8xf32>) -> tensor<8x8x4xf32>", True),
        (
            "stablehlo.pad %a, %z, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0]"
            " : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<8x8x10xf32>",
            False,
        ),
        (
            "stablehlo.pad %a, %z, low = [0, 0, 0], high = [0, 0, 0], interior = [1, 0, 0]"
            " : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<15x8x8xf32>",
            True,
        ),
    ],
)
def test_what_moves_elements_within_tiles_is_alone(op: str, is_alone: bool) -> None:
    text = f"func.func @main(%a: tensor<8x8x8xf32>, %z: tensor<f32>) {{\n  %0 = {op}\n  return\n}}"
    made = next(each for each in module(text).walk() if each.signature.name.startswith("stablehlo."))
    assert _is_alone(made.signature) == is_alone


_ALGORITHM = (
    "algorithm = <lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = f32, "
    "lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = {}, "
    "allow_imprecise_accumulation = false>"
)


@pytest.mark.parametrize(
    ("precision", "is_bf16"),
    [
        ("", True),
        (", precision = [DEFAULT, DEFAULT]", True),
        (", precision = [DEFAULT, HIGHEST]", False),
        (f", {_ALGORITHM.format('bf16', 'bf16', 1)}", True),
        # Three products of parts keep more bits.
        (f", {_ALGORITHM.format('bf16', 'bf16', 3)}", False),
        (f", {_ALGORITHM.format('f32', 'f32', 1)}", False),
        (f", {_ALGORITHM.format('tf32', 'tf32', 1)}", False),
    ],
)
def test_products_use_operands_as_bf16_unless_they_say_otherwise(precision: str, is_bf16: bool) -> None:
    type = "tensor<8x8xf32>"
    program = module(f"""
    func.func @main(%a: {type}) -> {type} {{
      %r = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]{precision} : ({type}, {type}) -> {type}
      return %r : {type}
    }}
    """)
    (product,) = (op for op in program.walk() if op.results)
    assert _rounds_operands(product) == is_bf16


def test_a_chain_of_24_operations_is_two_kernels() -> None:
    def count(length: int) -> int:
        lines = [f"%x{n + 1} = stablehlo.tanh %x{n} : tensor<512x512xf32>" for n in range(length - 1)]
        body = "\n".join(["%x0 = stablehlo.negate %a : tensor<512x512xf32>", *lines])
        return kernels(body.replace(f"%x{length - 1} =", "%r =")).count

    assert [count(length) for length in (23, 24, 47, 48)] == [1, 2, 2, 3]


@pytest.mark.parametrize(("size", "count"), [(31, 0), (32, 1), (33, 1)])
def test_kernels_of_less_than_32_bytes_are_of_the_scalar_unit(size: int, count: int) -> None:
    body = f"""%c = stablehlo.constant dense<1> : tensor<i8>
      %r = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<{size}xi8>"""
    assert kernels(body, f"tensor<{size}xi8>").count == count


def test_what_is_computed_of_an_argument_is_computed_for_each_element() -> None:
    """Other than what is computed of sums."""
    found = kernels(
        """%v = stablehlo.slice %a [0:1, 0:512] : (tensor<512x512xf32>) -> tensor<1x512xf32>
      %w = stablehlo.reshape %v : (tensor<1x512xf32>) -> tensor<512xf32>
      %m = stablehlo.rsqrt %w : tensor<512xf32>
      %d = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
      %r = stablehlo.subtract %b, %d : tensor<512x512xf32>"""
    )
    assert found.count == 1


def test_an_update_is_computed_with_what_computes_it_but_not_with_its_indices() -> None:
    """It reads and writes 8 rows."""
    found = kernels(
        """%one = stablehlo.constant dense<1> : tensor<i32>
      %i = stablehlo.custom_call @row() : () -> tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %v = stablehlo.slice %b [0:8, 0:512] : (tensor<512x512xf32>) -> tensor<8x512xf32>
      %u = stablehlo.tanh %v : tensor<8x512xf32>
      %r = stablehlo.dynamic_update_slice %a, %u, %j, %j
        : (tensor<512x512xf32>, tensor<8x512xf32>, tensor<i32>, tensor<i32>) -> tensor<512x512xf32>"""
    )
    assert (found.count, found.bytes) == (1, 2 * 8 * 512 * 4 + 4)


def test_factorizations_of_a_batch_are_of_blocks_of_rows() -> None:
    """Five kernels for each 128 of 256 rows, of all matrices at once."""
    text = """
    func.func @main(%a: tensor<2x3x256x256xf32>) -> tensor<2x3x256x256xf32> {
      %r = stablehlo.cholesky %a, lower = true : tensor<2x3x256x256xf32>
      return %r : tensor<2x3x256x256xf32>
    }
    """
    found = report_on(module(text), TPU).kernels
    assert found is not None
    assert found.count == 10

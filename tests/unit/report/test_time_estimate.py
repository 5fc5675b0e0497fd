"""Estimated times as worked examples: 6 KiB on the wire along "x", and a product of 64 kFLOP."""

import json
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest

from sdyopt.analysis.figures.figures import Collective, Product, Report
from sdyopt.analysis.figures.time_estimate import _seconds_of_ring, time_estimate
from sdyopt.analysis.figures.topology import Compute, Link, Topology, built_in_topology
from sdyopt.analysis.figures.totals import time_totals
from sdyopt.analysis.figures.units import seconds_text
from sdyopt.analysis.report.entry import report_on
from sdyopt.analysis.report.json_report import json_report
from sdyopt.analysis.report.sections import bound_text
from sdyopt.analysis.report.text_report import text_report
from sdyopt.base.dataclasses import replace
from tests.unit.report.programs import module, report

PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %2 = stablehlo.dot_general %1, %b, contracting_dims = [0] x [0]
    : (tensor<32x64xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %3 = sdy.all_reduce {"y"} %2 out_sharding=<@mesh, [{}, {}]> : tensor<64x16xf32>
  return %3 : tensor<64x16xf32>
}
"""
X = Link(bandwidth=Fraction(6144), latency=Fraction(1, 10))
Y = Link(bandwidth=Fraction(1024), latency=Fraction(1))
FAST_X = Topology(flops=Fraction(65536), memory_bandwidth=Fraction(1 << 20), links={"x": X, "y": Y})


@pytest.fixture
def figures() -> Report:
    return report(PROGRAM)


def test_a_collective_takes_its_bytes_and_the_steps_of_the_ring(figures: Report) -> None:
    gather, reduce = time_estimate(figures, FAST_X).collectives
    # 6 KiB at 6 KiB/s, and three steps of the ring.
    assert gather.seconds == 1 + 3 * Fraction(1, 10)
    # 4 KiB at 1 KiB/s, and two steps of the ring.
    assert reduce.seconds == 4 + 2 * 1


def test_an_all_to_all_takes_as_many_steps_as_there_are_other_devices() -> None:
    (exchange,) = time_estimate(
        report("""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> tensor<64x32xf32> {
          %0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<64x32xf32>
          return %0 : tensor<64x32xf32>
        }
        """),
        FAST_X,
    ).collectives
    # Three quarters of 2 KiB at 6 KiB/s, and three steps.
    assert exchange.seconds == Fraction(1, 4) + 3 * Fraction(1, 10)


def test_a_product_is_as_slow_as_its_flops_or_its_memory(figures: Report) -> None:
    (product,) = time_estimate(figures, FAST_X).products
    assert (product.seconds, product.limit) == (Fraction(1), "compute")
    slow_memory = Topology(FAST_X.flops, Fraction(7 * 1024), FAST_X.links)
    (product,) = time_estimate(figures, slow_memory).products
    # Operands of 8 and 2 KiB and a result of 4 KiB.
    assert (product.seconds, product.limit) == (Fraction(2), "memory")


def test_a_product_waits_for_the_collectives_around_it(figures: Report) -> None:
    """The all-gather is before a transposition of the operand."""
    assert figures.products[0].collectives == (0, 1)
    (product,) = time_estimate(figures, FAST_X).products
    assert product.communication == Fraction(13, 10) + 6
    assert product.is_communication_bound


def test_a_product_that_takes_as_long_as_its_collectives_is_not_bound_by_them(figures: Report) -> None:
    # 6 KiB at 12 KiB/s, and 4 KiB at 8 KiB/s.
    links = {"x": Link(Fraction(12288), Fraction(0)), "y": Link(Fraction(8192), Fraction(0))}
    (product,) = time_estimate(figures, Topology(FAST_X.flops, FAST_X.memory_bandwidth, links)).products
    assert product.seconds == product.communication == Fraction(1)
    assert not product.is_communication_bound


def test_a_reduction_after_a_conversion_belongs_to_the_product() -> None:
    converted = PROGRAM.replace('%3 = sdy.all_reduce {"y"} %2', '%3 = sdy.all_reduce {"y"} %4').replace(
        "  %3 =", "  %4 = stablehlo.convert %2 : tensor<64x16xf32>\n  %3 ="
    )
    assert report(converted).products[0].collectives == (0, 1)


SUM = PROGRAM.replace('%3 = sdy.all_reduce {"y"} %2', '%3 = sdy.all_reduce {"y"} %5').replace(
    "  %3 =",
    "  %4 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]\n"
    "    : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>\n"
    "  %5 = stablehlo.add %2, %4 : tensor<64x16xf32>\n  %3 =",
)


def test_a_reduction_of_a_sum_belongs_to_all_of_its_products() -> None:
    figures = report(SUM)
    assert [each.collectives for each in figures.products] == [(0, 1), (0, 1)]
    estimate = time_estimate(figures, FAST_X)
    text = text_report(replace(figures, time=estimate), 120, rows=None)
    # The table says which collectives the time of a product has, and its share of them.
    assert text.count("1/2 of #0 all_gather, 1/2 of #1 all_reduce") == 2
    # What is summed up already is no partial result.
    after = SUM.replace(
        "return %3",
        '%6 = stablehlo.add %3, %3 : tensor<64x16xf32>\n  %7 = sdy.all_reduce {"x"} %6 '
        "out_sharding=<@mesh, [{}, {}]> : tensor<64x16xf32>\n  return %3",
    )
    assert [each.collectives for each in report(after).products] == [(0, 1), (0, 1)]


@pytest.mark.parametrize(
    ("elementwise", "expected"),
    [
        ((0, 0), "bound by communication: all else takes 1.00 s"),
        (
            (0, 7),
            "bound by communication or by compute and memory traffic, which take 1.00 s to 8.00 s, "
            "depending on fusion",
        ),
        ((7, 8), "bound by compute and memory traffic, which take 8.00 s to 9.00 s"),
    ],
)
def test_a_report_says_what_bounds_the_time(
    figures: Report, elementwise: tuple[int, int], expected: str
) -> None:
    estimate = time_estimate(figures, FAST_X)
    low, high = map(Fraction, elementwise)
    estimate = replace(estimate, elementwise=(low, high))
    assert bound_text(figures, estimate) == expected
    data = json.loads(json_report(replace(figures, time=estimate)))
    assert data["time"]["bound"] == ("either" if "fusion" in expected else expected.split()[2].strip(":"))


def test_a_collective_that_two_products_need_counts_in_halves() -> None:
    twice = PROGRAM.replace(
        "%3 = ",
        "%4 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]\n"
        "    : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>\n  %3 = ",
    )
    _, second = time_estimate(report(twice), FAST_X).products
    assert second.communication == Fraction(13, 20)
    assert not second.is_communication_bound


def test_times_are_unknown_without_the_rates_that_they_need(figures: Report) -> None:
    estimate = time_estimate(figures, Topology(None, None, {"x": X, "y": Link(bandwidth=Fraction(1))}))
    assert [each.seconds for each in estimate.collectives] == [Fraction(13, 10), None]
    assert [each.seconds for each in estimate.products] == [None]
    communication, compute = time_totals(figures, estimate)
    assert (communication.high, communication.unknown, compute.unknown) == (Fraction(13, 10), 1, 1)


def test_a_time_beyond_the_range_of_floats_is_an_integer_in_json(figures: Report) -> None:
    slow = Topology(None, None, {"x": Link(Fraction(1, 10**400), Fraction(0)), "y": Y})
    time = json.loads(json_report(replace(figures, time=time_estimate(figures, slow))))["time"]
    assert time["collectives"][0]["seconds"] == 6144 * 10**400


def test_a_ring_along_two_axes_is_as_slow_as_the_slower_axis() -> None:
    assert FAST_X.link(["x", "y"]) == Y
    assert FAST_X.link(["x", "z"]) == FAST_X.link([]) == Link()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (Fraction(0), "0.00 s"),
        (Fraction(5, 2), "2.50 s"),
        (Fraction(1, 80), "12.5 ms"),
        (Fraction(1, 800_000), "1.25 us"),
        (Fraction(1, 8_000_000_000), "0.12 ns"),
        (None, "unknown"),
    ],
)
def test_times_are_printed_in_the_unit_that_fits(seconds: Fraction | None, text: str) -> None:
    assert seconds_text(seconds) == text


def test_a_small_first_product_takes_what_its_arguments_take() -> None:
    """As libtpu estimates 32 rows of 1,800 elements that begin a chain: later weights are copied before."""
    text = """
    func.func @main(%x: tensor<32x1800xbf16>, %v: tensor<1800x192xbf16>, %w: tensor<192x1536xbf16>)
        -> tensor<f32> {
      %p = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
        : (tensor<32x1800xbf16>, tensor<1800x192xbf16>) -> tensor<32x192xbf16>
      %q = stablehlo.dot_general %p, %w, contracting_dims = [1] x [0]
        : (tensor<32x192xbf16>, tensor<192x1536xbf16>) -> tensor<32x1536xbf16>
      %r = stablehlo.custom_call @use(%p, %q) : (tensor<32x192xbf16>, tensor<32x1536xbf16>) -> tensor<f32>
      return %r : tensor<f32>
    }
    """
    topology = built_in_topology("tpu-v5e")
    first, second = time_estimate(report_on(module(text), topology), topology).products
    assert first.seconds is not None and second.seconds is not None
    assert float(first.seconds) == pytest.approx(5.14e-6, rel=0.1)
    assert first.seconds > 2 * second.seconds


def test_a_product_goes_around_a_ring_in_many_kernels() -> None:
    """As libtpu estimates 64 rows, gathered along eight devices for 1,024 columns of each."""
    text = """
    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%x: tensor<64x1024xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
        %w: tensor<1024x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
        -> (tensor<64x8192xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
      %g = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<64x1024xbf16>
      %r = stablehlo.dot_general %g, %w, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
        : (tensor<64x1024xbf16>, tensor<1024x8192xbf16>) -> tensor<64x8192xbf16>
      return %r : tensor<64x8192xbf16>
    }
    """
    topology = built_in_topology("tpu-v5e")
    [product] = time_estimate(report_on(module(text), topology), topology).products
    assert product.seconds is not None
    assert float(product.seconds) == pytest.approx(27.1e-6, rel=0.1)


@pytest.mark.parametrize(
    ("kind", "devices", "seconds"),
    [
        ("all_gather", 3, 0),
        # One product more, which reads nothing; twelve have five more, of which two read. A part, of 3 s on
        # four devices, is in a kernel of 5 s, and then put into the result.
        ("all_gather", 4, 1 * 100 + 0 * 10 + 4 * (5 + 3) + 5 + 4 * 3),
        ("all_gather", 12, 5 * 100 + 2 * 10 + 12 * (5 + 1) + 5 + 12 * 1),
        ("reduce_scatter", 12, 5 * 100 + 2 * 10 + 6 * (2 * 5 + 3 * 1) + 5 + 1),
    ],
)
def test_a_ring_takes_kernels_and_reads_for_each_step(kind: str, devices: int, seconds: int) -> None:
    product = cast(Product, SimpleNamespace(sizes=(2, 3, 2, 99)))
    speed = cast(Compute, SimpleNamespace(vector=Fraction(1), kernel=Fraction(5)))
    ring = cast(Collective, SimpleNamespace(group_size=devices, kind=kind))
    assert _seconds_of_ring(product, ring, speed, Fraction(10), Fraction(100)) == seconds

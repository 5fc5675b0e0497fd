"""Bytes of sdy's collectives, worked out by hand: %a is 8 KiB, 2 KiB on each of 4 devices along "x"."""

from fractions import Fraction

from tests.unit.report.programs import collective, report

KIB = 1024


def test_all_gather_sends_what_the_others_lack() -> None:
    found = collective(
        '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<64x32xf32>'
    )
    assert (found.kind, found.axes, found.group_size) == ("all_gather", '{"x"}', 4)
    assert (found.bytes_in, found.bytes_out) == (2 * KIB, 8 * KIB)
    assert found.wire_bytes == Fraction(3, 4) * 8 * KIB
    assert found.local_operands == ("tensor<16x32xf32>",)
    assert found.local_results == ("tensor<64x32xf32>",)


def test_all_reduce_goes_twice_around_the_ring() -> None:
    found = collective('%0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<64x32xf32>')
    assert (found.bytes_in, found.bytes_out, found.group_size) == (2 * KIB, 2 * KIB, 2)
    assert found.wire_bytes == 2 * Fraction(1, 2) * 2 * KIB


def test_reduce_scatter_goes_once_around_the_ring() -> None:
    found = collective(
        '%0 = sdy.reduce_scatter [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<64x32xf32>'
    )
    assert (found.bytes_in, found.bytes_out) == (2 * KIB, 1 * KIB)
    assert found.wire_bytes == Fraction(1, 2) * 2 * KIB


def test_all_to_all_keeps_one_part() -> None:
    found = collective(
        '%0 = sdy.all_to_all [{"x"}: 0->1] %a out_sharding=<@mesh, [{}, {"x"}]> : tensor<64x32xf32>'
    )
    assert (found.bytes_in, found.bytes_out) == (2 * KIB, 2 * KIB)
    assert found.wire_bytes == Fraction(3, 4) * 2 * KIB


def test_all_slice_sends_nothing() -> None:
    found = collective(
        '%0 = sdy.all_slice [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<64x32xf32>'
    )
    assert found.wire_bytes == 0


def test_permute_sends_the_shards_of_the_devices_whose_shard_changes() -> None:
    # Exchanging the halves of "x" exchanges the shards of the two devices in the middle of four.
    found = collective(
        '%0 = sdy.collective_permute %a out_sharding=<@mesh, [{"x":(2)2, "x":(1)2}, {}]> : tensor<64x32xf32>'
    )
    assert found.wire_bytes == Fraction(2, 4) * 2 * KIB
    assert found.group == '{"x"}'


def test_a_permute_to_a_rotated_order_of_devices_sends_every_shard() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    sdy.mesh @rotated = <["x"=4], device_ids=[1, 2, 3, 0]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
      %0 = sdy.collective_permute %a out_sharding=<@rotated, [{"x"}]> : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    """
    (found,) = report(text).collectives
    assert found.wire_bytes == 8


def test_a_shard_is_rounded_up() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<10xi1> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<10xi1> {
      %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<10xi1>
      return %0 : tensor<10xi1>
    }
    """
    (found,) = report(text).collectives
    assert (found.bytes_in, found.bytes_out) == (3, 10)


def test_a_reshard_is_not_decided_yet() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.reshard %a <@mesh, [{"x"}]> : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    """
    found = report(text)
    assert not found.collectives
    assert [(each.kind, each.value) for each in found.undecided] == [("reshard", "%0")]

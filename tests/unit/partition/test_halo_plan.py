"""Which elements of other shards are received, for dimensions that fit on a line."""

from __future__ import annotations

from sdyopt.mlir.dialects.stablehlo.reducer import WindowDimension
from sdyopt.shardy.partition.halo_exchange import HaloPlan, Piece, plan_halo, reads_of_windows


def test_windows_of_three_read_two_elements_of_the_next_shard() -> None:
    """Shards 0 1 2 3 | 4 5 6 7: six results, three per shard, the second ones from element 3 on."""
    plan = _plan(size=8, result_size=6, shards=2, window=WindowDimension(3))
    assert plan.pieces == [Piece(-1, 3, 4, (1,)), Piece(0, 0, 4, (0, 1)), Piece(1, 0, 1, (0,))]
    assert plan.first_elements == [0, 3]
    assert plan.num_elements == 5
    assert plan.received == 1


def test_windows_with_padding_read_both_neighbors() -> None:
    """Shards 0 1 | 2 3 | 4 5, windows of three with one element of padding on each side."""
    plan = _plan(size=6, result_size=6, shards=3, window=WindowDimension(3, low=1, high=1))
    assert plan.pieces == [Piece(-1, 1, 2, (1, 2)), Piece(0, 0, 2, (0, 1, 2)), Piece(1, 0, 1, (0, 1))]
    assert plan.starts == [0, 0, 0]
    assert plan.has_foreign_padding, "the first device reads element -1 where others have received one"


def test_padding_at_the_end_of_the_own_shard_is_not_foreign() -> None:
    """Shards 0 1 | 2 and padding, windows of three: the second one reads 1, 2 and that padding."""
    plan = _plan(size=3, result_size=2, shards=2, window=WindowDimension(3))
    assert plan.pieces == [Piece(-1, 1, 2, (1,)), Piece(0, 0, 2, (0, 1)), Piece(1, 0, 1, (0,))]
    assert not plan.has_foreign_padding


def test_what_stays_in_its_shard_is_not_received() -> None:
    plan = _plan(size=8, result_size=4, shards=2, window=WindowDimension(2, stride=2))
    assert plan.is_local


def test_large_padding_takes_several_hops() -> None:
    """Two shards of padding, then elements 0 to 3, of shards 0 and 1, and 4 to 7, of shards 2 and 3."""
    plan = _plan(size=8, result_size=16, shards=4, window=WindowDimension(1, low=8))
    assert plan.pieces == [Piece(-2, 0, 2, (2,)), Piece(-1, 0, 2, (2, 3)), Piece(0, 0, 2, (3,))]


def test_only_what_is_read_is_sent() -> None:
    """Element 5 of 0 1 | 2 3 | 4 5 | 6 7."""
    plan = _plan(size=8, result_size=1, shards=4, window=WindowDimension(1, low=-5))
    assert plan.pieces == [Piece(2, 1, 2, (0,))]


def test_shards_may_begin_at_different_phases_of_a_dilation() -> None:
    """Elements at positions 0, 2, 4 and 6, three positions per shard."""
    plan = _plan(size=4, result_size=6, shards=2, window=WindowDimension(1, base_dilation=2))
    assert plan.first_elements == [0, 2]
    assert plan.phases == [0, 1]


def test_halos_as_large_as_the_rest_of_the_dimension_are_not_planned() -> None:
    reads = reads_of_windows(size=4, result_size=8, shards=2, window=WindowDimension(1, low=4))
    assert plan_halo(reads) is None


def test_halos_from_borders_have_no_gap() -> None:
    """Elements 0 to 3 of 0 1 2 3 4 5 | 6 7 8 9 10 11: the second shard gets 2 3 and what follows."""
    reads = reads_of_windows(size=12, result_size=4, shards=2, window=WindowDimension(1))
    plan = plan_halo(reads, from_borders=True)
    assert plan is not None
    assert plan.pieces == [Piece(-1, 2, 6, (1,)), Piece(0, 0, 2, (0,))]
    assert plan.starts == [4, 0]


def test_all_shards_get_halos_from_borders() -> None:
    """Elements 2 to 5 of 0 1 | 2 3 | 4 5 | 6 7: the inner shards read their own."""
    reads = reads_of_windows(size=8, result_size=4, shards=4, window=WindowDimension(1, low=-2))
    plan = plan_halo(reads, from_borders=True)
    assert plan is not None
    assert plan.pieces == [Piece(-1, 1, 2, (1, 2, 3)), Piece(0, 0, 2, (1, 2)), Piece(1, 0, 1, (0, 1, 2))]


def test_long_halos_are_not_from_borders() -> None:
    """Elements 0 to 3 of 0 to 7 | 8 to 15: from 2 to the border are six, and a shard of the result is two."""
    reads = reads_of_windows(size=16, result_size=4, shards=2, window=WindowDimension(1))
    assert plan_halo(reads, from_borders=True) == plan_halo(reads)


def test_shards_that_are_not_neighbors_send_what_is_read() -> None:
    reads = reads_of_windows(size=8, result_size=1, shards=4, window=WindowDimension(1, low=-5))
    assert plan_halo(reads, from_borders=True) == plan_halo(reads)


def test_a_replicated_operand_is_not_received() -> None:
    reads = reads_of_windows(8, 12, 2, WindowDimension(1, low=4), is_replicated=True)
    plan = plan_halo(reads)
    assert plan is not None and plan.is_local
    assert plan.starts == [-4, 2]


def _plan(size: int, result_size: int, shards: int, window: WindowDimension) -> HaloPlan:
    plan = plan_halo(reads_of_windows(size, result_size, shards, window))
    assert plan is not None
    return plan

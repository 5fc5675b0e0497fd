"""Plans of collectives, without a program."""

from fractions import Fraction
from itertools import permutations, product
from math import prod

import pytest

from sdyopt.base.releases import following
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.shardy.sharding.reshard_to_collectives.collectives import gather_dimensions
from sdyopt.shardy.sharding.reshard_to_collectives.plan import (
    Plan,
    elements_of_reshard,
    plan_as_partitioner,
    plan_collectives,
)
from sdyopt.shardy.sharding.reshard_to_collectives.state import ReshardState, align, split_by_capacity

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 2), MeshAxis("z", 4), MeshAxis("w", 12)))
NAME, REVERSED = SymbolRef("mesh"), SymbolRef("reversed")
X, Y, Z, W = map(AxisRef, "xyzw")


def part(axis: str, pre_size: int, size: int) -> AxisRef:
    return AxisRef(axis, SubAxis(pre_size, size))


def sharding(*dims: tuple[AxisRef, ...], mesh: SymbolRef = NAME) -> TensorSharding:
    return TensorSharding(mesh, tuple(DimensionSharding(axes) for axes in dims))


def plan(source: TensorSharding, target: TensorSharding) -> Plan:
    return plan_collectives((48,) * source.rank, source, target, MESH)


@pytest.mark.parametrize(
    ("axes", "others", "aligned"),
    [
        ([W], [part("w", 1, 3)], [part("w", 1, 3), part("w", 3, 4)]),
        ([W], [part("w", 2, 3)], [part("w", 1, 2), part("w", 2, 3), part("w", 6, 2)]),
        ([part("w", 1, 6)], [part("w", 2, 6)], [part("w", 1, 2), part("w", 2, 3)]),
        ([W], [part("w", 1, 2), part("w", 6, 2)], [part("w", 1, 2), part("w", 2, 3), part("w", 6, 2)]),
        ([part("w", 2, 3)], [W], [part("w", 2, 3)]),
        ([X, part("w", 1, 2)], [part("w", 1, 3), Y], [X, part("w", 1, 2)]),
    ],
    ids=["major", "middle", "overlap", "two", "inside", "no common parts"],
)
def test_axes_are_split_where_others_start_and_end(
    axes: list[AxisRef], others: list[AxisRef], aligned: list[AxisRef]
) -> None:
    dims = [axes.copy()]
    align(dims, others, MESH)
    assert dims == [aligned]


@pytest.mark.parametrize(
    ("axis", "capacity", "fitting", "rest", "remaining_capacity"),
    [
        (X, 1, None, X, 1),
        (X, 4, X, None, 2),
        (Z, 2, part("z", 1, 2), part("z", 2, 2), 1),
        (W, 8, None, W, 8),
        (part("w", 3, 4), 2, part("w", 3, 2), part("w", 6, 2), 1),
    ],
)
def test_an_axis_is_split_by_capacity(
    axis: AxisRef, capacity: int, fitting: AxisRef | None, rest: AxisRef | None, remaining_capacity: int
) -> None:
    state = ReshardState((), sharding(), sharding(), MESH)
    assert split_by_capacity(state, axis, capacity) == (fitting, rest, remaining_capacity)


@pytest.mark.parametrize(("release", "gathered"), [("jaxlib-0.12.0.1", [X]), ("jaxlib-0.11.2", [Z, X])])
def test_the_last_axes_that_no_dimension_lacks_are_gathered(release: str, gathered: list[AxisRef]) -> None:
    """Before jaxlib 0.12, with those before them; but nothing of a dimension whose last axis is lacking."""
    source, target = sharding((Z, X), (Y, W), ()), sharding((), (), (Z, W))
    with following(release):
        state = ReshardState((48,) * 3, source, target, MESH)
        assert gather_dimensions(state) == [gathered, [], []]
        assert [len(axes) for axes in state.surplus] == [2 - len(gathered), 2, 0]
        assert gather_dimensions(state) is None


def test_equal_shardings_need_no_collectives() -> None:
    assert plan(sharding((X,), (Y,)), sharding((X,), (Y,))) == ()
    assert plan(sharding(), sharding()) == ()


def test_collectives_that_shrink_tensors_come_first() -> None:
    steps = plan(sharding((X, Y), (), ()), sharding((), (X,), (Z,)))
    assert [step.op_class.name for step in steps] == [
        "sdy.all_slice",
        "sdy.collective_permute",
        "sdy.all_to_all",
        "sdy.all_gather",
    ]


def test_a_permute_replaces_axes_only_if_the_sizes_of_the_first_ones_divide_each_other() -> None:
    """Of 2x6 shards to 3x4: 2 and 3 do not divide each other, so the tensor is gathered. 6 and 3 do."""
    mesh = Mesh((MeshAxis("a", 2), MeshAxis("b", 6), MeshAxis("c", 3), MeshAxis("d", 4)))
    a, b, c, d = map(AxisRef, "abcd")
    steps = plan_collectives((48,), sharding((a, b)), sharding((c, d)), mesh)
    assert [step.op_class.name for step in steps] == ["sdy.all_gather", "sdy.all_slice"]
    steps = plan_collectives((48,), sharding((b, a)), sharding((c, d)), mesh)
    assert [step.op_class.name for step in steps] == ["sdy.collective_permute"]


def test_an_axis_that_moves_with_another_uses_the_capacity_of_its_new_dimension() -> None:
    """ "d" is sliced after "c" and moves with it, so dimension 1 has no capacity for "b" on its way."""
    mesh = Mesh(tuple(MeshAxis(name, 2) for name in "abcd"))
    a, b, c, d = map(AxisRef, "abcd")
    steps = plan_collectives((8, 8, 8), sharding((a,), (), (c,)), sharding((b,), (c, d), ()), mesh)
    assert [step.op_class.name for step in steps] == [
        "sdy.all_slice",
        "sdy.collective_permute",
        "sdy.all_to_all",
    ]
    assert steps[0].sharding == sharding((a,), (), (c, d))


def test_the_partitioner_gathers_dimensions_whose_numbers_of_shards_do_not_divide_each_other() -> None:
    """The first dimension keeps its axis; the second one is gathered, and the third one is sliced."""
    source, target = sharding((X,), (Z,), ()), sharding((X,), (), (Y,))
    steps = plan_as_partitioner((48, 48, 48), source, target, MESH)
    assert [step.op_class.name for step in steps] == ["sdy.all_gather", "sdy.all_slice"]
    assert steps[0].sharding == sharding((X,), (), ())


SMALL = Mesh((MeshAxis("x", 4), MeshAxis("y", 2)))


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        # One dimension after another moves to one that is whole.
        (sharding((), (X,), (Y,)), sharding((Y,), (), (X,)), "all_to_all all_to_all"),
        # The slice is free, because the target is on all devices.
        (sharding((Y,), (), ()), sharding((), (Y,), (X,)), "all_slice all_to_all"),
        (sharding((), (Y,), ()), sharding((), (), (X,)), "all_gather all_slice"),
        # A dimension is gathered first if that leaves as many shards as the target has.
        (sharding((X,), (), (Y,)), sharding((), (), (X,)), "all_gather all_to_all"),
        # A swap needs a dimension that is whole, and a part of a dimension does not move after a slice.
        (sharding((Y,), (), (X,)), sharding((), (Y, X), ()), "all_gather all_slice"),
    ],
    ids=["moved", "sliced first", "on some devices", "gathered first", "merged"],
)
def test_the_partitioner_reshards_in_steps(
    source: TensorSharding, target: TensorSharding, steps: str
) -> None:
    found = plan_as_partitioner((64, 64, 64), source, target, SMALL)
    assert " ".join(step.op_class.name.removeprefix("sdy.") for step in found) == steps


def test_another_device_order_needs_a_permute_even_if_no_axis_changes() -> None:
    (step,) = plan(sharding((X,)), sharding((X,), mesh=REVERSED))
    assert step.op_class.name == "sdy.collective_permute"
    assert step.sharding == sharding((X,), mesh=REVERSED)


# If sizes divide each other, every plan reaches the target, and no tensor in between is larger than both the
# source and the target.
LISTS = [axes for count in range(4) for axes in permutations((X, Y, Z), count)]
PAIRS = [(axes[:count], axes[count:]) for axes in LISTS for count in range(len(axes) + 1)]


def test_plans_reach_the_target() -> None:
    for source, target in product(PAIRS, PAIRS):
        end = sharding(*target)
        steps = plan(sharding(*source), end)
        assert (steps[-1].sharding if steps else sharding(*source)) == end
        fewest = min(shard_count(sharding(*source)), shard_count(end))
        assert all(shard_count(step.sharding) >= fewest for step in steps)


def shard_count(sharding: TensorSharding) -> int:
    """The number of shards of a tensor."""
    return prod(dim.sharded_size(MESH) for dim in sharding.dims)


@pytest.mark.parametrize(
    ("shape", "source", "target", "elements"),
    [
        # Shards of 2 become shards of 3: one element is received, without those for which borders move.
        ((6,), sharding((X, Y)), sharding((X,)), 1),
        # Shards of 3 become shards of 2, whose elements the device has, but for borders.
        ((6,), sharding((X,)), sharding((X, Y)), 0),
        ((6,), sharding((X,)), sharding((Y,)), 3),
        # Half of the 15 elements is received from the other device.
        ((5, 6), sharding((X,), ()), sharding((), (X,)), Fraction(15, 2)),
        ((8, 4), sharding((X,), ()), sharding((), ()), 16),
    ],
)
def test_elements_of_a_reshard_are_those_received_without_borders(
    shape: tuple[int, ...], source: TensorSharding, target: TensorSharding, elements: Fraction
) -> None:
    assert elements_of_reshard(shape, source, target, MESH) == elements

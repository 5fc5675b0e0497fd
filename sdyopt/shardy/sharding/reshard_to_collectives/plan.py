"""The plan of collectives that reshard a tensor.

    [{"x"}, {"y", "z"}]  →  [{"x", "w"}, {"z"}]

    all_slice           [{"w"}, {}]         [{"x", "w"}, {"y", "z"}]
    collective_permute                      [{"x", "w"}, {"z", "y"}]
    all_gather          [{}, {"y"}]         [{"x", "w"}, {"z"}]

Collectives that make the local tensor smaller come first, then those that keep its size, then those that make
it larger. If axis sizes are not all powers of two, this order may not lead to the target; then axes are
gathered first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.releases import cached_by_release
from sdyopt.mlir.dialects.sdy.collectives import (
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectiveOp,
    CollectivePermuteOp,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.shardy.sharding.reshard_to_collectives.collectives import (
    gather_clashing_sub_axes,
    gather_dimensions,
    is_permute_useful,
    move_axes,
    permute,
    slice_dimensions,
)
from sdyopt.shardy.sharding.reshard_to_collectives.state import ReshardState, axes_per_dim

if TYPE_CHECKING:
    from fractions import Fraction

# One round reaches most targets, and two rounds reach all if axis sizes are powers of two. Shardy stops after
# two; other sizes may need a third round. The limit only guards against endless plans.
_MAX_ROUNDS = 8
_SHARDY_ROUNDS = 2


class ReshardStep(NamedTuple):
    """A collective: its class, its own attribute, if any, and the sharding of its result."""

    op_class: type[CollectiveOp]
    parameter: tuple[tuple[str, Attribute], ...]
    sharding: TensorSharding

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes of the operation."""
        return {**dict(self.parameter), "out_sharding": self.sharding}


Plan = tuple[ReshardStep, ...]


def plan_collectives(
    shape: Sequence[int],
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh,
    moves_borders: bool = False,
) -> Plan:
    """The steps from one sharding to another of the same rank.

    `mesh` is the mesh of the source; the target mesh must have the same axes. The source is assumed to have
    the unreduced axes of the target. With `moves_borders`, collectives may move the borders between the
    shards of a dimension; otherwise it is gathered instead.
    """

    def begin() -> ReshardState:
        return ReshardState(shape, source, target, mesh, moves_borders)

    steps = tuple(_steps(begin()))
    if not _has_valid_shardings(steps):
        steps = tuple(_steps_after_gather(begin()))
    return steps if _has_valid_permutes(source, steps, mesh) else tuple(_gather_and_slice(begin()))


@cached_by_release(maxsize=4096)
def elements_of_reshard(
    shape: tuple[int, ...], source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> Fraction:
    """The number of elements that a device receives in a reshard, without those for which borders move."""
    from fractions import Fraction  # noqa: PLC0415  slow to import, and not needed to propagate

    received, before = Fraction(0), shard_elements(shape, source, mesh)
    for step in plan_collectives(shape, source, target, mesh, moves_borders=True):
        after = shard_elements(shape, step.sharding, mesh)
        if step.op_class is CollectivePermuteOp:
            received += after
        elif step.op_class is AllGatherOp:
            received += max(0, after - before)
        elif step.op_class is AllToAllOp:
            received += after * (1 - Fraction(1, _moved_size(source, step.sharding, mesh)))
        source, before = step.sharding, after
    return received


def shard_elements(shape: Sequence[int], sharding: TensorSharding, mesh: Mesh) -> int:
    """The number of elements of the largest shard of a tensor."""
    return prod([-(-size // dim.sharded_size(mesh)) for size, dim in zip(shape, sharding.dims, strict=True)])


def _moved_size(before: TensorSharding, after: TensorSharding, mesh: Mesh) -> int:
    """The number of devices of each group of an all-to-all."""
    return prod(
        [
            max(1, old.sharded_size(mesh) // new.sharded_size(mesh))
            for old, new in zip(before.dims, after.dims, strict=True)
        ]
    )


def _has_valid_shardings(steps: Plan) -> bool:
    """Whether the axes of each sharding can coexist and do not overlap.

    If axis sizes are not all powers of two, a step may shard the tensor along axes of both the source and the
    target that cannot coexist. In Shardy, some devices then have wrong elements, or the verifier fails.
    """
    for step in steps:
        sub_axes = [axis for dim in step.sharding.dims for axis in dim.axes if axis.sub_axis is not None]
        if any(not a.can_coexist(b) or a.overlaps(b) for a, b in combinations(sub_axes, 2)):
            return False
    return True


def _has_valid_permutes(source: TensorSharding, steps: Plan, mesh: Mesh) -> bool:
    """Whether each permute keeps the number of shards of each dimension, as the verifier requires.

    If axis sizes are not all powers of two, a permute may change it. Shardy fails then.
    """
    shardings = [source, *(step.sharding for step in steps)]
    return all(
        step.op_class is not CollectivePermuteOp
        or [dim.sharded_size(mesh) for dim in before.dims]
        == [dim.sharded_size(mesh) for dim in step.sharding.dims]
        for before, step in zip(shardings, steps, strict=False)
    )


def _gather_and_slice(state: ReshardState) -> Iterator[ReshardStep]:
    """Gathers all surplus axes, and then slices along all missing axes."""
    gathered = [state.merged(axes) for axes in state.surplus]
    sliced = [state.merged(axes) for axes in state.missing]
    for dim, axes in enumerate(state.surplus):
        state.drop_current(dim, axes)
    if any(gathered):
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(gathered)),), state.sharding)
    if state.mesh_or_ref is not state.target.mesh_or_ref:
        state.mesh_or_ref = state.target.mesh_or_ref
        yield ReshardStep(CollectivePermuteOp, (), state.sharding)
    for current, axes in zip(state.current, state.missing, strict=True):
        for axis in axes:
            state.append_axis(current, axis)
    if any(sliced):
        yield ReshardStep(AllSliceOp, (("slicing_axes", axes_per_dim(sliced)),), state.sharding)


def _steps_after_gather(state: ReshardState) -> Iterator[ReshardStep]:
    """Gathers the axes of the source that cannot coexist with those of the target first."""
    clashing = gather_clashing_sub_axes(state)
    if clashing is not None:
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(clashing)),), state.sharding)
    yield from _steps(state)


def _steps(state: ReshardState) -> Iterator[ReshardStep]:
    for number in range(_MAX_ROUNDS):
        if state.is_done:
            return
        if number >= _SHARDY_ROUNDS:
            state.release_gathered_axes()
        steps = list(_round(state))
        if not steps and number >= _SHARDY_ROUNDS:
            # What remains missing, if anything, are axes of size 1.
            return
        yield from steps


def _round(state: ReshardState) -> Iterator[ReshardStep]:
    sliced = slice_dimensions(state)
    if sliced is not None:
        yield ReshardStep(AllSliceOp, (("slicing_axes", axes_per_dim(sliced)),), state.sharding)
    yield from _permute(state)
    for in_order in (True, False):
        for params in move_axes(state, in_order):
            yield ReshardStep(AllToAllOp, (("params", params),), state.sharding)
    gathered = gather_dimensions(state)
    if gathered is not None:
        yield ReshardStep(AllGatherOp, (("gathering_axes", axes_per_dim(gathered)),), state.sharding)


def _permute(state: ReshardState) -> Iterator[ReshardStep]:
    """A permute, if it is useful or if the target mesh has another device order."""
    if not state.padded and is_permute_useful(state):
        permute(state)
    elif state.mesh_or_ref is state.target.mesh_or_ref:
        return
    state.mesh_or_ref = state.target.mesh_or_ref
    yield ReshardStep(CollectivePermuteOp, (), state.sharding)

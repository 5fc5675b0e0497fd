"""The collectives that bring a tensor from one sharding to another.

    [{"x"}, {"y", "z"}]  →  [{"x", "w"}, {"z"}]

    all_slice           [{"w"}, {}]         [{"x", "w"}, {"y", "z"}]
    collective_permute                      [{"x", "w"}, {"z", "y"}]
    all_gather          [{}, {"y"}]         [{"x", "w"}, {"z"}]

First comes what makes tensors smaller, then what keeps their size, last what makes them larger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sdyopt.dialects.sdy.collective_base import CollectiveOp
from sdyopt.dialects.sdy.collectives import (
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectivePermuteOp,
)
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.ir.attribute import Attribute
from sdyopt.sharding.reshard_to_collectives import collective_permute
from sdyopt.sharding.reshard_to_collectives.all_gather import gather_state
from sdyopt.sharding.reshard_to_collectives.all_slice import slice_state
from sdyopt.sharding.reshard_to_collectives.all_to_all import moves
from sdyopt.sharding.reshard_to_collectives.state import ReshardState, axes_per_dim

# Where every size divides every larger one, a single round gets to the target. Where not, two rounds nearly
# always do. A third one would finish the others, but the C++ passes stop here.
_MOST_ROUNDS = 2


class Step(NamedTuple):
    """A collective: its class, and what it works along; `sharding` is that of its result."""

    op_class: type[CollectiveOp]
    parameter: tuple[tuple[str, Attribute], ...]
    sharding: TensorSharding

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The attributes of the operation."""
        return {**dict(self.parameter), "out_sharding": self.sharding}


Plan = tuple[Step, ...]


def plan_collectives(
    shape: Sequence[int], source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> Plan:
    """The steps from one sharding to another of the same rank.

    `mesh` is the mesh of the source; that of the target has the same axes. The target's unreduced
    axes are taken for those of the source.
    """
    return tuple(_steps(ReshardState(shape, source, target, mesh)))


def _steps(state: ReshardState) -> Iterator[Step]:
    for _ in range(_MOST_ROUNDS):
        if state.is_done:
            return
        yield from _round(state)


def _round(state: ReshardState) -> Iterator[Step]:
    sliced = slice_state(state)
    if sliced is not None:
        yield Step(AllSliceOp, (("slicing_axes", axes_per_dim(sliced)),), state.sharding)
    yield from _permute(state)
    for in_order in (True, False):
        for params in moves(state, in_order):
            yield Step(AllToAllOp, (("params", params),), state.sharding)
    gathered = gather_state(state)
    if gathered is not None:
        yield Step(AllGatherOp, (("gathering_axes", axes_per_dim(gathered)),), state.sharding)


def _permute(state: ReshardState) -> Iterator[Step]:
    """A permute if it helps, and in any case if the mesh of the target has its devices in another order."""
    if collective_permute.helps(state):
        collective_permute.permute(state)
    elif state.mesh_or_ref is state.target.mesh_or_ref:
        return
    state.mesh_or_ref = state.target.mesh_or_ref
    yield Step(CollectivePermuteOp, (), state.sharding)

"""All shardings on small meshes: every way to give axes and sub-axes to dimensions and unreduced axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from sdyopt.dialects.sdy.axes import AxisRef, SubAxis, sorted_and_merged
from sdyopt.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.ir.attribute import SymbolRef
from sdyopt.ir.types import F32, RankedTensor

RANKS = range(4)
# Permuted devices for some meshes: reversed, and in an order that no dimensions describe.
DEVICE_ORDERS: dict[tuple[int, ...], list[tuple[int, ...]]] = {
    (2, 2): [(3, 2, 1, 0), (0, 2, 1, 3), (0, 1, 3, 2)],
    (4,): [(0, 2, 1, 3), (3, 0, 2, 1)],
    (2, 4): [(0, 4, 1, 5, 2, 6, 3, 7), (7, 1, 2, 3, 4, 5, 6, 0)],
    (3, 2): [(0, 3, 1, 4, 2, 5)],
}


def all_meshes() -> Iterator[Mesh]:
    """Meshes of 1 to 3 axes of sizes 2 to 4, and some of them with other orders of devices."""
    for count in range(1, 4):
        for sizes in product(range(2, 5), repeat=count):
            axes = tuple(MeshAxis(name, size) for name, size in zip("xyz", sizes, strict=False))
            yield Mesh(axes)
            for ids in DEVICE_ORDERS.get(sizes, []):
                yield Mesh(axes, ids)


def all_shardings(mesh: Mesh, rank: int) -> Iterator[TensorSharding]:
    """The valid shardings of a tensor of a rank, with closed dimensions and all sets of unreduced axes."""
    for pieces in _choices_of_pieces(mesh):
        for sharded in _permutations(pieces):
            rest = [piece for piece in pieces if piece not in sharded]
            for dims in _divisions(sharded, rank):
                for count in range(len(rest) + 1):
                    for unreduced in combinations(rest, count):
                        sharding = TensorSharding(
                            SymbolRef("mesh"),
                            tuple(DimensionSharding(tuple(axes)) for axes in dims),
                            (),
                            sorted_and_merged(unreduced, mesh),
                        )
                        if _is_new(sharding, pieces) and is_valid(sharding, mesh):
                            yield sharding


def is_valid(sharding: TensorSharding, mesh: Mesh) -> bool:
    return sharding_problem(sharding, RankedTensor((64,) * sharding.rank, F32), mesh) is None


def _choices_of_pieces(mesh: Mesh) -> Iterator[list[AxisRef]]:
    """Each axis whole, or an axis of size 4 as two sub-axes."""
    choices = [
        [[AxisRef(axis.name)]]
        + ([[AxisRef(axis.name, SubAxis(1, 2)), AxisRef(axis.name, SubAxis(2, 2))]] if axis.size == 4 else [])
        for axis in mesh.axes
    ]
    for chosen in product(*choices):
        yield [piece for pieces in chosen for piece in pieces]


def _permutations(pieces: Sequence[AxisRef]) -> Iterator[list[AxisRef]]:
    """The ordered selections of pieces."""
    yield []
    for index, piece in enumerate(pieces):
        for others in _permutations([*pieces[:index], *pieces[index + 1 :]]):
            yield [piece, *others]


def _divisions(axes: Sequence[AxisRef], rank: int) -> Iterator[list[Sequence[AxisRef]]]:
    """The ways to divide a list among dimensions."""
    if rank == 0:
        if not axes:
            yield []
        return
    for end in range(len(axes) + 1):
        for others in _divisions(axes[end:], rank - 1):
            yield [axes[:end], *others]


def _is_new(sharding: TensorSharding, pieces: Sequence[AxisRef]) -> bool:
    """Whether the sharding is not also one of a choice with fewer pieces: it uses some sub-axis of each."""
    used = {axis.name for axis in sharding.axis_refs if axis.sub_axis is not None}
    return {piece.name for piece in pieces if piece.sub_axis is not None} == used

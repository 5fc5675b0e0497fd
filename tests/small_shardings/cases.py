"""All shardings on small meshes: every assignment of axes and sub-axes to dimensions and unreduced axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.types import F32, RankedTensor

RANKS = range(4)
# Device orders for some meshes, by axis sizes: reversed, transposed and irregular ones.
DEVICE_ORDERS: dict[tuple[int, ...], list[tuple[int, ...]]] = {
    (2, 2): [(3, 2, 1, 0), (0, 2, 1, 3), (0, 1, 3, 2)],
    (4,): [(0, 2, 1, 3), (3, 0, 2, 1)],
    (2, 4): [(0, 4, 1, 5, 2, 6, 3, 7), (7, 1, 2, 3, 4, 5, 6, 0)],
    (3, 2): [(0, 3, 1, 4, 2, 5)],
}


def all_meshes() -> Iterator[Mesh]:
    """Meshes of 1 to 3 axes of sizes 2 to 4, some of them also with other orders of devices."""
    for count in range(1, 4):
        for sizes in product(range(2, 5), repeat=count):
            axes = tuple(MeshAxis(name, size) for name, size in zip("xyz", sizes, strict=False))
            yield Mesh(axes)
            for ids in DEVICE_ORDERS.get(sizes, []):
                yield Mesh(axes, ids)


def all_shardings(mesh: Mesh, rank: int) -> Iterator[TensorSharding]:
    """The valid shardings of tensors of a rank, with closed dimensions and without replicated axes."""
    for axes in _choices_of_axes(mesh):
        for sharded in _permutations(axes):
            rest = [axis for axis in axes if axis not in sharded]
            for dims in _divisions(sharded, rank):
                for count in range(len(rest) + 1):
                    for unreduced in combinations(rest, count):
                        sharding = TensorSharding(
                            SymbolRef("mesh"),
                            tuple(DimensionSharding(tuple(dim)) for dim in dims),
                            (),
                            sorted_and_merged(unreduced, mesh),
                        )
                        if _is_new(sharding, axes) and is_valid(sharding, mesh):
                            yield sharding


def is_valid(sharding: TensorSharding, mesh: Mesh) -> bool:
    return sharding_problem(sharding, RankedTensor((64,) * sharding.rank, F32), mesh) is None


def _choices_of_axes(mesh: Mesh) -> Iterator[list[AxisRef]]:
    """The axes of a mesh, where each axis of size 4 is either a full axis or two sub-axes."""
    choices = [
        [[AxisRef(axis.name)]]
        + ([[AxisRef(axis.name, SubAxis(1, 2)), AxisRef(axis.name, SubAxis(2, 2))]] if axis.size == 4 else [])
        for axis in mesh.axes
    ]
    for chosen in product(*choices):
        yield [axis for axes in chosen for axis in axes]


def _permutations(axes: Sequence[AxisRef]) -> Iterator[list[AxisRef]]:
    """The ordered selections of axes, of any number."""
    yield []
    for index, axis in enumerate(axes):
        for others in _permutations([*axes[:index], *axes[index + 1 :]]):
            yield [axis, *others]


def _divisions(axes: Sequence[AxisRef], rank: int) -> Iterator[list[Sequence[AxisRef]]]:
    """The ways to divide a list of axes, in its order, among dimensions."""
    if rank == 0:
        if not axes:
            yield []
        return
    for end in range(len(axes) + 1):
        for others in _divisions(axes[end:], rank - 1):
            yield [axes[:end], *others]


def _is_new(sharding: TensorSharding, axes: Sequence[AxisRef]) -> bool:
    """Whether the sharding has a sub-axis of each axis that the choice splits.

    If not, it is also a sharding of another choice, with fewer sub-axes.
    """
    used = {axis.name for axis in sharding.axis_refs if axis.sub_axis is not None}
    return {axis.name for axis in axes if axis.sub_axis is not None} == used

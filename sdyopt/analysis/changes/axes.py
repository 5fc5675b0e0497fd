"""The axes of dimensions by name, and the shardings that differ from one in few axes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import SHARDING, Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import largest_mesh_op
from sdyopt.mlir.dialects.sdy.ops import ShardingConstraintOp
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op

# The names of the axes of each dimension.
Axes = tuple[tuple[str, ...], ...]


class MeshOfProgram(NamedTuple):
    """The mesh that shardings of changes are on.

    `orders` are the orders of several axes of one dimension, by their names, where the program has only one.
    """

    mesh: Mesh
    name: MeshOrRef
    orders: Mapping[frozenset[str], tuple[str, ...]]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each axis that can shard something."""
        return {axis.name: axis.size for axis in self.mesh.axes if axis.size > 1}

    def sharding(self, axes: Axes) -> TensorSharding:
        """A closed sharding, as a PartitionSpec is, with axes in the order that the program has elsewhere.

        In another one, values are permuted between devices.
        """
        ordered = (self.orders.get(frozenset(names), names) for names in axes)
        dims = tuple(DimensionSharding(tuple(map(AxisRef, names))) for names in ordered)
        return TensorSharding(self.name, dims)

    def divides(self, name: str, sizes: Iterable[int]) -> bool:
        """Whether an axis divides one of some sizes."""
        return any(size % self.sizes[name] == 0 for size in sizes)

    def fits(self, axes: Axes, shape: Sequence[int]) -> bool:
        """Whether the mesh has the axes, and they divide each dimension into equal shards."""
        return all(
            size > 0
            and all(map(self.mesh.has_axis, names))
            and size % prod(map(self.mesh.axis_size, names)) == 0
            for names, size in zip(axes, shape, strict=True)
        )


def mesh_of(module: Op) -> MeshOfProgram | None:
    """The mesh of a program with the most devices."""
    largest = largest_mesh_op(module)
    if largest is None:
        return None
    orders: dict[frozenset[str], set[tuple[str, ...]]] = {}
    for sharding in dict.fromkeys(_written(module)):
        for names in (tuple([axis.name for axis in dim.axes]) for dim in sharding.dims):
            orders.setdefault(frozenset(names), set()).add(names)
    # Sub-axes of one axis have its name.
    only = {names: next(iter(of)) for names, of in orders.items() if len(of) == 1}
    usable = {names: order for names, order in only.items() if len(order) == len(names)}
    return MeshOfProgram(largest.mesh, SymbolRef(largest.sym_name), usable)


def _written(module: Op) -> Iterator[TensorSharding]:
    """The shardings of arguments, results and constraints."""
    for op in module.walk():
        if isinstance(op, FuncOp):
            for attributes in (*op.argument_attributes, *op.result_attributes):
                if isinstance(sharding := attributes.get(SHARDING), TensorSharding):
                    yield sharding
        elif isinstance(op, ShardingConstraintOp):
            yield op.sharding


def axes_of_sharding(sharding: TensorSharding | None, rank: int) -> Axes | None:
    """The axes of a sharding, none for no annotation. None if a PartitionSpec cannot say them."""
    if sharding is None:
        return ((),) * rank
    # A sharding on a maximal mesh has no dimensions.
    if sharding.rank != rank or sharding.replicated_axes or sharding.unreduced_axes:
        return None
    if any(axis.sub_axis is not None for dim in sharding.dims for axis in dim.axes):
        return None
    return tuple(tuple(axis.name for axis in dim.axes) for dim in sharding.dims)


# In tensors of more dimensions, so many are tried, because each change is as long as the rank.
_MAX_DIMS = 32


def _tried_dims(axes: Axes) -> range:
    return range(min(len(axes), _MAX_DIMS))


def neighbours(current: Axes, sizes: Mapping[str, int]) -> Iterator[Axes]:
    """The axes of a sharding that differs in one axis, or in the places of two."""
    used = {name: dim for dim, names in enumerate(current) for name in names}
    for name in sizes:
        for dim in _tried_dims(current):
            if used.get(name) != dim:
                yield with_axis(without_axis(current, name), dim, name)
        if name in used:
            rest = without_axis(current, name)
            yield rest
            for other in sizes:
                if other not in used:
                    yield _renamed(current, {name: other})
                    yield from (
                        with_axis(rest, dim, other) for dim in _tried_dims(current) if dim != used[name]
                    )
                elif used[other] != used[name] and other > name:
                    yield _renamed(current, {name: other, other: name})


def pairs(replicated: Axes, sizes: Mapping[str, int]) -> Iterator[Axes]:
    """Two axes in place of none: a constraint may replicate what would be sharded along both."""
    for first, second in combinations(sizes, 2):
        for dim in _tried_dims(replicated):
            for other in _tried_dims(replicated):
                yield with_axis(with_axis(replicated, dim, first), other, second)


def axes_of_product(lhs: Axes, rhs: Axes, dims: DotDimensions) -> Axes:
    """The axes of a product as its operands have them, some of them perhaps twice."""
    summed = [{pair[side] for pair in (*dims.batching, *dims.contracting)} for side in (0, 1)]
    return (
        *(lhs[left] or rhs[right] for left, right in dims.batching),
        *(axes for dim, axes in enumerate(lhs) if dim not in summed[0]),
        *(axes for dim, axes in enumerate(rhs) if dim not in summed[1]),
    )


def with_axis(axes: Axes, dim: int, name: str) -> Axes:
    return (*axes[:dim], (*axes[dim], name), *axes[dim + 1 :])


def without_axis(axes: Axes, name: str) -> Axes:
    return tuple(tuple(text for text in names if text != name) for names in axes)


def _renamed(axes: Axes, names: Mapping[str, str]) -> Axes:
    return tuple(tuple(names.get(name, name) for name in of_dim) for of_dim in axes)


def first_dimensions_first(axes: Axes) -> tuple[int, ...]:
    """Sorts axes in the first dimension before those in others, and those before none."""
    return tuple([-len(names) for names in axes])

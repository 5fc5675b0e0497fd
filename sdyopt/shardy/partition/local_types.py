"""Local types: the type of each value on one device, by its sharding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.axis_lists import sharded_size

Axes = tuple[AxisRef, ...]


class LocalTypes:
    """Local types of the values of one module.

    A value without a sharding, or with one on a mesh that does not exist, is whole on every device. All
    shards of a dimension must have the same size: dimensions of other sizes have been padded before.
    """

    def __init__(self, module: Op) -> None:
        self.module = module
        self._meshes: dict[MeshOrRef, Mesh | None] = {}
        self._padded_types: dict[tuple[Type, TensorSharding], Type] = {}
        self._types: dict[tuple[Type, TensorSharding], Type | None] = {}
        # The cache of `replication.dims_to_replicate`, by the signature and the attributes of an operation,
        # and the shardings of its operands.
        self.dims_to_replicate: dict[object, tuple[tuple[int, int], ...]] = {}

    def mesh(self, sharding: TensorSharding) -> Mesh | None:
        """The mesh of a sharding; None if there is none of that name."""
        return self.find_mesh(sharding.mesh_or_ref)

    def find_mesh(self, mesh_or_ref: MeshOrRef) -> Mesh | None:
        """A mesh that is inlined, or that a reference names; None if there is none of that name."""
        if mesh_or_ref not in self._meshes:
            self._meshes[mesh_or_ref] = find_mesh(mesh_or_ref, self.module)
        return self._meshes[mesh_or_ref]

    def declared_sharding(self, value: Value) -> TensorSharding | None:
        """The sharding of a value, even if its mesh does not exist."""
        return sharding_of(value)

    def sharding(self, value: Value) -> TensorSharding | None:
        """The sharding of a value; None if it has none or if its mesh does not exist."""
        sharding = sharding_of(value)
        if sharding is None or (
            self._meshes.get(sharding.mesh_or_ref) is None and self.mesh(sharding) is None
        ):
            return None
        return sharding

    def local_type(self, type: Type, sharding: TensorSharding | None, op: Op) -> Type:
        """The local type for a global type and a sharding. If shards differ in size, the error is at `op`."""
        if sharding is None or not isinstance(type, RankedTensor) or sharding.rank != type.rank:
            return type
        key = type, sharding
        if key not in self._types:
            self._types[key] = self._divided(type, sharding)
        local = self._types[key]
        if local is None:
            raise op.error("Failed to compute local type due to non-divisible sharding").help(
                "run -sdy-pad-for-divisibility before"
            )
        return local

    def _divided(self, type: RankedTensor, sharding: TensorSharding) -> Type | None:
        mesh = self.mesh(sharding)
        if mesh is None:
            return type
        shape = []
        for size, dim in zip(type.shape, sharding.dims, strict=True):
            shards = dim.sharded_size(mesh)
            if size != DYNAMIC and size % shards:
                return None
            shape.append(size if size == DYNAMIC else size // shards)
        return RankedTensor(tuple(shape), type.element, type.encoding)

    def padded_type(self, type: Type, sharding: TensorSharding | None) -> Type:
        """The type whose dimensions are rounded up to multiples of their numbers of shards."""
        mesh = None if sharding is None else self.mesh(sharding)
        if (
            mesh is None
            or sharding is None
            or not isinstance(type, RankedTensor)
            or sharding.rank != type.rank
        ):
            return type
        key = type, sharding
        if key not in self._padded_types:
            counts = [dim.sharded_size(mesh) for dim in sharding.dims]
            shape = [
                size if size == DYNAMIC else -(-size // count) * count
                for size, count in zip(type.shape, counts, strict=True)
            ]
            self._padded_types[key] = RankedTensor(tuple(shape), type.element, type.encoding)
        return self._padded_types[key]

    def shard_size(self, size: int, axes: Axes, value: Value) -> int:
        """The size of the shards of a dimension of a value; the last ones may be smaller."""
        return -(-size // self.shard_count(axes, value))

    def shard_count(self, axes: Axes, value: Value) -> int:
        """The number of shards of a dimension of a value that is sharded along `axes`."""
        sharding = self.sharding(value)
        mesh = None if sharding is None else self.mesh(sharding)
        return 1 if mesh is None else sharded_size(axes, mesh)

    def axes_per_dim(self, value: Value) -> Sequence[Axes]:
        """The axes that shard each dimension of a value."""
        sharding, rank = self.sharding(value), rank_of(value.type)
        if sharding is None or sharding.rank != rank:  # of another rank on a maximal mesh
            return ((),) * rank
        return [dim.axes for dim in sharding.dims]


class AssumedTypes(LocalTypes):
    """Local types if some values had other shardings."""

    def __init__(self, types: LocalTypes, shardings: Mapping[Value, TensorSharding]) -> None:
        super().__init__(types.module)
        self._assumed = shardings

    def sharding(self, value: Value) -> TensorSharding | None:
        """The assumed sharding of a value, or else the one that it has."""
        return self._assumed.get(value) or super().sharding(value)


class _ShardingsByValue(dict[Value, TensorSharding | None]):
    def __init__(self, types: LocalTypes) -> None:
        super().__init__()
        self._types = types

    def __missing__(self, value: Value) -> TensorSharding | None:
        sharding = self[value] = self._types.sharding(value)
        return sharding


class FinalLocalTypes(LocalTypes):
    """Local types of values whose shardings do not change any more: each is looked up once.

    `shardings[value]` is `sharding(value)`.
    """

    def __init__(self, module: Op) -> None:
        super().__init__(module)
        self.shardings = _ShardingsByValue(LocalTypes(module))

    def sharding(self, value: Value) -> TensorSharding | None:
        """The sharding of a value; None if it has none or if its mesh does not exist."""
        return self.shardings[value]

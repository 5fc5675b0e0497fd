"""The context of lowerings (local types, builders, devices, channels), and the tables that they register in.

    @lowering(SliceOp)
    def lower_slice(op: SliceOp, local: LocalContext) -> Lowered: ...

A lowering runs when the operands of the operation have their local types and its own signature still has the
global types. It returns one of

- `None`: the operation is local. It is kept, with local result types, and with the operands and inherent
  attributes that the lowering has set.
- the values that replace its results, created with `local.builder(op)`.

Operations of classes without a lowering are local if no factor of their sharding rule forbids it
(`passes.partitioning.convert_global_to_local`). The other tables are `crosses_shards` (`replication.py`),
`exchanges_halos` (`sharded_body.py`) and `pads` (`padding.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Generic, TypeVar

from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, axis_refs_text, with_axes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo.nullary import PartitionIdOp, ReplicaIdOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, UI32, RankedTensor, Type, tensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import Channels, LocalBuilder, dense_integers
from sdyopt.shardy.sharding.axis_lists import (
    MAX_DEVICES,
    groups_by_axes,
    replica_groups,
    shard_indices,
    sharded_size,
)

RESHARD_HELP = "run -sdy-resolve-permutation-factors and -sdy-reshard-to-collectives before"
FULL_RESHARD_HELP = "run -sdy-insert-explicit-reshards=enable-full-version before"


@dataclass(frozen=True)
class LoweringOptions:
    """The options of `-sdy-convert-global-to-local`."""

    per_dim_all_gather: bool = False
    combine_multi_dimension_reduce_scatter: bool = False
    enable_rgv3: bool = False
    replica_count: int = 1
    update_in_place: bool = False


class ReplicaGroups(NamedTuple):
    """Replica groups as an attribute, and the number of devices in each."""

    attribute: Attribute
    size: int


def raw_device_id(builder: LocalBuilder, is_replicated: bool) -> Value:
    """The id of the device that runs the program, a replica or a partition, as a scalar `ui32`."""
    id_class = ReplicaIdOp if is_replicated else PartitionIdOp
    return builder.create(id_class, (), [tensor((), UI32)]).result


def device_id(builder: LocalBuilder, is_replicated: bool) -> Value:
    """The id of the device that runs the program as a scalar `i64`."""
    return builder.convert(raw_device_id(builder, is_replicated), I64)


class LocalContext:
    """The context that the lowerings of one module share."""

    def __init__(self, module: ModuleOp, options: LoweringOptions, rewriter: Rewriter) -> None:
        self.options = options
        self.rewriter = rewriter
        self.types = FinalLocalTypes(module)
        # By reduction and axes: the combined results of a reduction that no single collective can combine.
        self.combined: dict[object, Sequence[Value]] = {}
        # The axes of partial results that no operation of the program combines.
        self.uncombined: dict[Op, Axes] = {}
        self._channels = Channels(module)

    def builder(self, op: Op) -> LocalBuilder:
        """A builder that creates operations before `op`, which is being lowered."""
        return LocalBuilder(op, self.rewriter)

    # --- Shardings ----------------------------------------------------------------------------

    def sharding(self, value: Value) -> TensorSharding | None:
        """The sharding of a value; None if it has none or if its mesh does not exist."""
        return self.types.sharding(value)

    def axes_per_dim(self, value: Value) -> Sequence[Axes]:
        """The axes that shard each dimension of a value."""
        return self.types.axes_per_dim(value)

    def mesh(self, sharding: TensorSharding, op: Op) -> Mesh:
        """The mesh of a sharding. Raises DiagnosticError if it does not exist."""
        mesh = self.types.mesh(sharding)
        if mesh is None:
            raise op.op_error("failed to resolve mesh")
        return mesh

    def common_mesh(self, op: Op) -> Mesh:
        """The mesh of the first sharded operand or result. Raises DiagnosticError if none is sharded."""
        return self.mesh(self.first_sharding(op), op)

    def first_sharding(self, op: Op) -> TensorSharding:
        """The sharding of the first sharded operand or result. Raises DiagnosticError if none is sharded."""
        for value in (*op.operands, *op.results):
            sharding = self.sharding(value)
            if sharding is not None and not sharding.is_fully_replicated:
                return sharding
        raise op.op_error("failed to resolve mesh")

    def local_type(self, value: Value, op: Op) -> Type:
        """The local type of a value that still has its global type."""
        return self.types.local_type(value.type, self.sharding(value), op)

    def local_tensor(self, value: Value, op: Op) -> RankedTensor:
        """The local type of a tensor that still has its global type."""
        type = self.local_type(value, op)
        assert isinstance(type, RankedTensor)
        return type

    def check_same_axes(self, op: Op, operand: Value, needed: str = "reshard") -> None:
        """Checks that an operand and the result of an operation are sharded along the same axes."""
        result_axes = self.axes_per_dim(op.results[0])
        for dim, (axes, others) in enumerate(zip(self.axes_per_dim(operand), result_axes, strict=True)):
            if axes != others:
                raise op.op_error(
                    f"dimension {dim} has mismatched sharding axes ({axis_refs_text(axes)} vs "
                    f"{axis_refs_text(others)}). This requires a {needed} which should have been handled by "
                    "previous passes."
                ).help(RESHARD_HELP)

    # --- Devices ------------------------------------------------------------------------------

    def replica_groups(
        self, axes: Sequence[AxisRef], mesh: Mesh, mesh_or_ref: MeshOrRef, op: Op
    ) -> ReplicaGroups:
        """The groups of devices that differ along `axes` only."""
        if Behavior.STABLEHLO_AXIS_REFS.active:
            axes = with_axes((), axes, mesh)
        if self.options.enable_rgv3 and (by_axes := groups_by_axes(axes, mesh_or_ref)) is not None:
            return ReplicaGroups(by_axes, sharded_size(axes, mesh))
        check_device_count(mesh, op)
        return _dense_groups(tuple(axes), mesh)

    def new_channel(self) -> ChannelHandle:
        """A channel handle that is not used yet."""
        return self._channels.new()

    def device_id(self, builder: LocalBuilder) -> Value:
        """The id of the device that runs the program, as an index into tables by device id."""
        id = raw_device_id if Behavior.INT32_OFFSETS.active else device_id
        return id(builder, self.options.replica_count > 1)

    def lookup(self, builder: LocalBuilder, per_device: Sequence[int], element: Type) -> Value:
        """The element for this device of a table by device id, as a tensor of one element."""
        return builder.look_up(per_device, element, self.device_id(builder))

    def offset(
        self, builder: LocalBuilder, axes: Axes, mesh: Mesh, shard_size: int, element: Type | None = None
    ) -> Value:
        """The offset of this device's shard in a dimension that is sharded along `axes`, as a scalar."""
        check_device_count(mesh, builder.before)
        offsets = [index * shard_size for index in shard_indices(axes, mesh)]
        element = element or offset_type([max(offsets)])
        return builder.reshape(self.lookup(builder, offsets, element), ())

    def slice_for_axes(
        self,
        builder: LocalBuilder,
        value: Value,
        axes_per_dim: Sequence[Axes],
        mesh: Mesh,
        type: RankedTensor,
    ) -> Value:
        """This device's shard, of type `type`, of a tensor that is not sharded along `axes_per_dim` yet."""
        element = offset_type(
            (sharded_size(axes, mesh) - 1) * size for axes, size in zip(axes_per_dim, type.shape, strict=True)
        )
        starts = [
            self.offset(builder, axes, mesh, size, element) if axes else builder.index(0, element)
            for axes, size in zip(axes_per_dim, type.shape, strict=True)
        ]
        return builder.dynamic_slice(value, starts, type.shape)


def offset_type(offsets: Iterable[int]) -> Type:
    """The type of offsets up to some numbers."""
    return I32 if Behavior.INT32_OFFSETS.active and max(offsets, default=0) < 1 << 31 else I64


@cache
def _dense_groups(axes: Axes, mesh: Mesh) -> ReplicaGroups:
    groups = replica_groups(axes, mesh)
    type = tensor((len(groups), len(groups[0])), I64)
    return ReplicaGroups(dense_integers(type, [d for group in groups for d in group]), len(groups[0]))


def check_device_count(mesh: Mesh, op: Op) -> None:
    """Raises DiagnosticError if a table with one entry for each device would be too large."""
    if mesh.total_size > MAX_DEVICES:
        raise op.op_error(f"needs a table of all {mesh.total_size} devices; the limit is {MAX_DEVICES}")


def first_shard_table(axes: Axes, mesh: Mesh, op: Op) -> list[int]:
    """By device id: 1 if the device has the first shard along `axes`, else 0."""
    check_device_count(mesh, op)
    return [int(index == 0) for index in shard_indices(axes, mesh)]


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


F = TypeVar("F", bound=Callable[..., Any])


class OpTable(Generic[F]):
    """A function for each class of operations, registered by calling the table as a decorator.

    A function only takes operations of the classes that it is registered for, so their parameters are `Any`
    in the type of the function.
    """

    def __init__(self) -> None:
        self._functions: dict[type[Op], F] = {}
        self._properties: dict[type[Op], dict[str, bool]] = {}

    def __call__(self, *op_classes: type[Op], **properties: bool) -> Callable[[F], F]:
        """Registers a function, with properties of these operations."""

        def register(function: F) -> F:
            for op_class in op_classes:
                assert op_class not in self._functions, f"{op_class.name} is registered twice"
                self._functions[op_class] = function
                self._properties[op_class] = properties
            return function

        return register

    def get(self, op_class: type[Op]) -> F | None:
        """The function of a class of operations, if it has one."""
        _load_operations()
        return self._functions.get(op_class)

    def has(self, op_class: type[Op], name: str) -> bool:
        """Whether operations of a class are registered with a property."""
        _load_operations()
        return self._properties.get(op_class, {}).get(name, False)


@cache
def _load_operations() -> None:
    """Imports the modules that register functions, at the first use, not at start-up."""
    import_module("sdyopt.shardy.partition.operations")


Lowered = Sequence[Value] | None
lowering: OpTable[Callable[[Any, Any], Lowered]] = OpTable()

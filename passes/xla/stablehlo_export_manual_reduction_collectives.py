"""xla-sdy-stablehlo-export-manual-reduction-collectives: export the reduction of user-defined unreduced axes.

    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
becomes, if the sharding of %0 has unreduced axes
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}], unreduced={"x"}>]
        out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%a: tensor<8xf32>) {
      %2 = "stablehlo.all_reduce"(%a) …
      sdy.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>

XLA's partitioner reduces partial results where it computes them. Values that the program keeps unreduced have
to be reduced by the program. So `sdy.all_reduce`, `sdy.reduce_scatter`, `sdy.sharded_to_unreduced` and
`sdy.replicated_to_unreduced` become computations that are manual along all axes of the mesh. Before that, a
constant with unreduced axes becomes a replicated one with a `sdy.replicated_to_unreduced`, and operands of
transposes, reshapes and copies get the unreduced axes of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.mhlo.ops import CopyOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef, AxisRefList, ManualAxes
from sdyopt.mlir.dialects.sdy.collectives import (
    AllReduceOp,
    CollectiveOp,
    ReduceScatterOp,
    ReplicatedToUnreducedOp,
    ShardedToUnreducedOp,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import unknown_mesh
from sdyopt.mlir.dialects.sdy.ops import ConstantOp, ManualComputationOp, ReturnOp
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, AndOp, DivOp, MaxOp, MinOp, MulOp, RemOp
from sdyopt.mlir.dialects.stablehlo.nullary import PartitionIdOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicUpdateSliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import ranked
from sdyopt.mlir.ir.attribute import UnitAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense_array, integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I32, I64, IntegerType, RankedTensor, Signedness, tensor
from sdyopt.mlir.ir.value import BlockArgument, Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register
from sdyopt.shardy.partition.local_builder import Channels, LocalBuilder, dense_integers
from sdyopt.shardy.partition.local_context import LocalTypes
from sdyopt.shardy.sharding.axis_lists import replica_groups

_SCALAR = tensor((), I32)
_COMBINERS = {ReductionKind.SUM: AddOp, ReductionKind.MAX: MaxOp, ReductionKind.MIN: MinOp}


@register("xla-sdy-stablehlo-export-manual-reduction-collectives")
class StablehloExportManualReductionCollectives(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        collectives = (AllReduceOp, ReduceScatterOp, ShardedToUnreducedOp, ReplicatedToUnreducedOp)
        if not module.nested(*collectives, ConstantOp):
            return False
        for constant in module.nested(ConstantOp):
            _replicate(constant, rewriter)
        for op in reversed(module.nested(TransposeOp, ReshapeOp, CopyOp)):
            _extend_to_operand(op, rewriter)
        exporter = _Exporter(module, rewriter)
        for op in module.nested(*collectives):
            exporter.export(op)
        return rewriter.changed


def _replicate(constant: ConstantOp, rewriter: Rewriter) -> None:
    result = constant.results[0]
    sharding = sharding_of(result)
    if sharding is None or not sharding.unreduced_axes:
        return
    set_sharding(result, sharding.with_unreduced_axes(()), rewriter)
    attributes = {"axes": AxisRefList(sharding.unreduced_axes), "out_sharding": sharding}
    unreduced = rewriter.create(
        ReplicatedToUnreducedOp,
        [result],
        [result.type],
        attributes,
        after=constant,
        location=constant.lazy_location,
    )
    rewriter.replace_uses_except(result, unreduced.results[0], unreduced)


def _extend_to_operand(op: Op, rewriter: Rewriter) -> None:
    """Gives the operand the unreduced axes of the result, if it is not sharded along one of them."""
    operand, outside = op.operands[0], sharding_of(op.results[0])
    if isinstance(operand, BlockArgument) or outside is None or not outside.unreduced_axes:
        return
    sharding = sharding_of(operand)
    if sharding is None:
        sharding = fully_replicated(rank_of(operand.type), outside.mesh_or_ref, is_closed=True)
    used = [*(axis for dim in sharding.dims for axis in dim.axes), *sharding.replicated_axes]
    if sharding.unreduced_axes == outside.unreduced_axes:
        return
    if any(axis.overlaps(other) for axis in used for other in outside.unreduced_axes):
        op.warning("has unreduced axes along which the operand is sharded, which cannot be exported")
        return
    set_sharding(operand, sharding.with_unreduced_axes(outside.unreduced_axes), rewriter)


class _Exporter:
    """Replaces collectives by manual computations."""

    def __init__(self, module: ModuleOp, rewriter: Rewriter) -> None:
        self._types = LocalTypes(module)
        self._channels = Channels(module)
        self._rewriter = rewriter

    def export(self, op: CollectiveOp) -> None:
        sharding = sharding_of(op.tensor)
        is_unreduced = sharding is not None and bool(sharding.unreduced_axes)
        match op:
            case AllReduceOp():
                if is_unreduced:
                    self._replace(op, lambda local, mesh, value: self._all_reduce(op, local, mesh, value))
            case ReduceScatterOp():
                if is_unreduced:
                    self._replace(op, lambda local, mesh, value: self._reduce_scatter(op, local, mesh, value))
            case ShardedToUnreducedOp():
                self._replace(op, lambda local, mesh, value: self._from_sharded(op, local, mesh, value))
            case ReplicatedToUnreducedOp():
                self._replace(op, lambda local, mesh, value: _from_replicated(op, local, mesh, value))

    def _replace(self, op: CollectiveOp, compute: Callable[[LocalBuilder, Mesh, Value], Value]) -> None:
        """Replaces an operation by a computation that is manual along all axes."""
        outside = op.out_sharding
        mesh = self._types.mesh(outside)
        if mesh is None:
            raise op.op_error(unknown_mesh(outside.mesh_name or ""))
        value, location = op.tensor, op.lazy_location
        inside = sharding_of(value)
        if inside is None:
            inside = fully_replicated(rank_of(value.type), outside.mesh_or_ref, is_closed=False)
        region = Region()
        block = region.add_block()
        argument = block.add_argument(self._types.local_type(value.type, inside, op), value.lazy_location)
        terminator = self._rewriter.create(ReturnOp, [argument], at_end_of=block, location=location)
        result = compute(LocalBuilder(terminator, self._rewriter), mesh, argument)
        self._rewriter.set_operands(terminator, [result])
        computation = self._rewriter.create(
            ManualComputationOp,
            [value],
            [op.results[0].type],
            {
                "in_shardings": ShardingPerValue((inside,)),
                "out_shardings": ShardingPerValue((outside,)),
                "manual_axes": ManualAxes(tuple([axis.name for axis in mesh.axes])),
            },
            before=op,
            location=location,
            regions=[region],
        )
        self._rewriter.replace(op, computation)

    def _all_reduce(self, op: AllReduceOp, local: LocalBuilder, mesh: Mesh, value: Value) -> Value:
        groups, _ = _groups(tuple(op.reduction_axes), mesh)
        return local.all_reduce(value, groups, self._channels.new(), _COMBINERS[op.reduction_op])

    def _reduce_scatter(self, op: ReduceScatterOp, local: LocalBuilder, mesh: Mesh, value: Value) -> Value:
        for dim, axes in enumerate(op.reduce_scatter_axes):
            if not len(axes):
                continue
            groups, size = _groups(tuple(axes), mesh)
            type = ranked(value)
            shape = list(type.shape)
            if shape[dim] % size:
                raise op.op_error("with unreduced axes must divide the dimensions that it shards")
            shape[dim] //= size
            attributes = {
                "scatter_dimension": integer(dim, I64),
                "replica_groups": groups,
                "channel_handle": self._channels.new(),
                "use_global_device_ids": UnitAttr(),
            }
            body = local.reducer(type.element, _COMBINERS[op.reduction_op])
            types = [tensor(tuple(shape), type.element)]
            value = local.create(stablehlo.ReduceScatterOp, [value], types, attributes, [body]).result
        return value

    def _from_sharded(self, op: ShardedToUnreducedOp, local: LocalBuilder, mesh: Mesh, value: Value) -> Value:
        """The local chunk in a tensor of zeros."""
        if op.out_sharding.reduction is not ReductionKind.SUM:
            raise op.op_error(f"of partial results of {op.out_sharding.reduction} cannot be exported")
        type = self._types.local_type(op.results[0].type, op.out_sharding, op)
        assert isinstance(type, RankedTensor)
        background = _zeros(local, type)
        coordinates, sizes = _coordinates(local, mesh)
        no_offset = local.integers(_SCALAR, [0])
        offsets = []
        for axes, size in zip(op.axes, ranked(value).shape, strict=True):
            offset: Value | None = None
            for axis in axes:
                _check_whole(op, axis)
                coordinate = coordinates[axis.name]
                if offset is None:
                    offset = coordinate
                else:
                    scaled = local.binary(MulOp, offset, sizes[axis.name])
                    offset = local.binary(AddOp, scaled, coordinate)
            if offset is None:
                offsets.append(no_offset)
            else:
                offsets.append(local.binary(MulOp, offset, local.integers(_SCALAR, [size])))
        return local.create(DynamicUpdateSliceOp, [background, value, *offsets], [type]).result


def _from_replicated(op: ReplicatedToUnreducedOp, local: LocalBuilder, mesh: Mesh, value: Value) -> Value:
    """The value on the first device along the axes, zero on the others."""
    coordinates, _ = _coordinates(local, mesh)
    zero = local.integers(_SCALAR, [0])
    is_first: Value | None = None
    for axis in op.axes:
        _check_whole(op, axis)
        is_zero = local.compare(coordinates[axis.name], zero, "EQ")
        is_first = is_zero if is_first is None else local.binary(AndOp, is_first, is_zero)
    # The maximum of equal values is the value.
    if is_first is None or op.out_sharding.reduction is not ReductionKind.SUM:
        return value
    return local.select(is_first, value, _zeros(local, ranked(value)))


def _check_whole(op: Op, axis: AxisRef) -> None:
    if axis.sub_axis is not None:
        raise op.op_error("along sub-axes cannot be exported")


def _zeros(local: LocalBuilder, type: RankedTensor) -> Value:
    zero = local.zero(tensor((), type.element))
    return local.create(BroadcastOp, [zero], [type], {"broadcast_sizes": dense_array(I64, type.shape)}).result


def _groups(axes: Sequence[AxisRef], mesh: Mesh) -> tuple[DenseElements, int]:
    """The groups of devices along axes, and their size."""
    groups = replica_groups(axes, mesh)
    shape = len(groups), len(groups[0])
    return dense_integers(tensor(shape, I64), [device for group in groups for device in group]), shape[1]


def _coordinates(local: LocalBuilder, mesh: Mesh) -> tuple[dict[str, Value], dict[str, Value]]:
    """The coordinates of the device along the axes of the mesh, and the sizes of the axes."""
    partition = local.create(PartitionIdOp, (), [tensor((), IntegerType(32, Signedness.UNSIGNED))]).result
    rest = local.convert(partition, I32)
    coordinates: dict[str, Value] = {}
    sizes: dict[str, Value] = {}
    for axis in reversed(mesh.axes):
        sizes[axis.name] = local.integers(_SCALAR, [axis.size])
        coordinates[axis.name] = local.binary(RemOp, rest, sizes[axis.name])
        rest = local.binary(DivOp, rest, sizes[axis.name])
    return coordinates, sizes

"""Constants are sliced to the shard of this device; an iota starts at the offset of the shard."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, IotaOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.shardy.partition.local_context import LocalContext
from sdyopt.shardy.partition.registry import Lowered, lowering


@lowering(SdyConstantOp, ConstantOp)
def lower_constant(op: SdyConstantOp | ConstantOp, local: LocalContext) -> Lowered:
    """A splat becomes a local splat; any other constant is sliced to the shard of this device."""
    sharding, type = local.types.declared_sharding(op.output), local.local_tensor(op.output, op)
    if sharding is not None and local.types.mesh(sharding) is None:
        raise op.op_error("failed to resolve mesh for constant")
    is_local = type is op.signature.result_types[0]
    if is_local and isinstance(op, ConstantOp):
        return None
    builder, value = local.builder(op), op.value
    if isinstance(value, DenseElements) and value.is_splat:
        return [builder.splat(type, value.data)]
    whole = builder.create(ConstantOp, (), op.signature.result_types, {"value": value}).result
    if is_local or sharding is None:
        return [whole]
    mesh = local.mesh(sharding, op)
    return [local.slice_for_axes(builder, whole, local.axes_per_dim(op.output), mesh, type)]


@lowering(IotaOp)
def lower_iota(op: IotaOp, local: LocalContext) -> Lowered:
    """A local iota, plus the offset of the shard if the dimension that it counts is sharded."""
    axes_per_dim, type = local.axes_per_dim(op.output), local.local_tensor(op.output, op)
    if not any(axes_per_dim):
        return None
    builder, dimension = local.builder(op), op.iota_dimension
    iota = builder.iota(type, dimension)
    axes = axes_per_dim[dimension]
    if not axes:
        return [iota]
    mesh = local.common_mesh(op)
    offset = local.offset(builder, axes, mesh, type.shape[dimension])
    offset = builder.convert(offset, type.element)
    return [builder.binary(AddOp, iota, builder.broadcast(offset, type))]

"""concatenate and pad."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import ConcatenateOp, PadOp
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.device_positions import shard_indices
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import LocalContext, check_device_count, offset_type
from sdyopt.shardy.partition.local_types import Axes
from sdyopt.shardy.partition.registry import Lowered, lowering

_HELP = "run -sdy-resolve-permutation-factors and -sdy-reshard-to-collectives before"
_MISMATCH = "This requires a reshard which should have been handled by previous passes."


@lowering(ConcatenateOp)
def lower_concatenate(op: ConcatenateOp, local: LocalContext) -> Lowered:
    """A concatenation is local if the concatenated dimension is not sharded."""
    result_axes, dimension = local.axes_per_dim(op.out), op.dimension
    if result_axes[dimension]:
        raise op.op_error(
            f"dimension {dimension} is sharded but the concatenation is on this dimension."
        ).help(_HELP)
    for number, operand in enumerate(op.inputs):
        axes_per_dim = local.axes_per_dim(operand)
        if axes_per_dim[dimension]:
            raise op.op_error(
                f"operand {number} is sharded on concatenation dimension {dimension}. This is not supported."
            ).help(_HELP)
        for dim, (axes, others) in enumerate(zip(axes_per_dim, result_axes, strict=True)):
            if axes != others:
                raise op.op_error(
                    f"dimension {dim} has mismatched sharding axes ({axis_refs_text(axes)} vs "
                    f"{axis_refs_text(others)}). {_MISMATCH}"
                ).help(_HELP)
    return None


@lowering(PadOp)
def lower_pad(op: PadOp, local: LocalContext) -> Lowered:
    """Pads each shard; it is an error if an element moves to another shard.

    If the shards need different padding, each is padded by the largest amount that any needs, and a dynamic
    slice takes the part of this device.
    """
    axes_per_dim = local.axes_per_dim(op.operand)
    for dim, (axes, others) in enumerate(zip(axes_per_dim, local.axes_per_dim(op.out), strict=True)):
        if axes != others:
            raise op.op_error(
                f"dimension {dim} has mismatched sharding axes ({axis_refs_text(axes)} vs "
                f"{axis_refs_text(others)}). This requires a reshard collective which should have been "
                "handled by previous passes."
            ).help(_HELP)
    if not any(axes_per_dim):
        return None
    type = local.local_tensor(op.out, op)
    lows, highs, offsets = [], [], []
    for dim in range(type.rank):
        low, high, offset = _local_padding(op, dim, axes_per_dim[dim], type, local)
        lows.append(low)
        highs.append(high)
        offsets.append(offset)
    builder = local.builder(op)
    padded = builder.pad(op.operand, op.padding_value, lows, highs, op.interior_padding)
    if not any(offsets):
        return [padded]
    starts: list[Value] = []
    element = offset_type(start for offset in offsets for start in offset)
    for offset in offsets:
        if offset:
            starts.append(builder.reshape(local.lookup(builder, offset, element), ()))
        else:
            starts.append(builder.index(0, element))
    return [builder.dynamic_slice(padded, starts, type.shape)]


def _local_padding(
    op: PadOp, dim: int, axes: Axes, type: RankedTensor, local: LocalContext
) -> tuple[int, int, Sequence[int]]:
    """Low and high padding of all shards and, if shards differ, the start of the slice of each device."""
    low, interior = op.edge_padding_low[dim], op.interior_padding[dim]
    if not axes:
        return low, op.edge_padding_high[dim], ()
    size, result_size = shape_of(op.operand)[dim], type.shape[dim]
    expanded = size + (size - 1) * interior
    mesh = local.common_mesh(op)
    check_device_count(mesh, op)
    shards = shard_indices(axes, mesh)
    # Where the elements of a shard start in the corresponding shard of the result.
    starts = {
        shard: shard * size * (interior + 1) + low - shard * result_size for shard in sorted(set(shards))
    }
    _check_stays(op, dim, starts, expanded, result_size)
    if len(set(starts.values())) == 1:
        return starts[0], result_size - starts[0] - expanded, ()
    largest, smallest = max(0, *starts.values()), min(starts.values())
    table = [largest - starts[shard] for shard in shards]
    return largest, max(0, result_size - smallest - expanded), table


def _check_stays(op: PadOp, dim: int, starts: dict[int, int], expanded: int, result_size: int) -> None:
    """Checks that no element of a shard is needed in another shard of the result."""
    last = len(starts) - 1
    for shard, start in starts.items():
        before = shard > 0 and start < 0
        after = shard < last and start + expanded > result_size
        # Elements that are cut off at either end of the whole tensor are in no shard.
        if before or after:
            raise op.op_error(
                f"dimension {dim} is sharded but the padding moves elements between shards and requires "
                "device communication."
            ).help(_HELP)

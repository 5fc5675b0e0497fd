"""Slices of padded tensors, which are pads with other padding.

    %1 = stablehlo.pad %0, %v, low = [1], high = [0], interior = [0] : … -> tensor<17xf32>
    %2 = stablehlo.slice %1 [0:16] : (tensor<17xf32>) -> tensor<16xf32>
becomes
    %2 = stablehlo.pad %0, %v, low = [1], high = [-1], interior = [0] : … -> tensor<16xf32>

Over eight devices, 17 elements have shards of three, and 16 have shards of two, so the pad and the slice
would both move most of the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.sdy.dialect import SHARDING_RULE
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import dense_array
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I64
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.local_context import LocalTypes


def merge_with_pad(op: SliceOp, types: LocalTypes, rewriter: Rewriter) -> None:
    """Replaces a slice and a pad by one pad, if the slice is the only user of the pad and sharded like it."""
    pad = op.operand.defining_op
    if not isinstance(pad, PadOp) or any(use.owner is not op for use in op.operand.uses):
        return
    before, after = types.sharding(op.operand), types.sharding(op.out)
    if before is None or not before.shards_like(after) or any(stride != 1 for stride in op.strides):
        return
    high = [
        old - (size - limit)
        for old, size, limit in zip(
            pad.edge_padding_high, shape_of(op.operand), op.limit_indices, strict=True
        )
    ]
    low = [old - start for old, start in zip(pad.edge_padding_low, op.start_indices, strict=True)]
    attributes = {
        **dict(pad.signature.attributes),
        **dict(op.attributes.without(SHARDING_RULE)),
        "edge_padding_low": _array(low),
        "edge_padding_high": _array(high),
    }
    merged = rewriter.create(
        PadOp, pad.operands, [op.out.type], attributes, before=op, location=op.lazy_location
    )
    rewriter.replace(op, merged.results)
    rewriter.erase(pad)


def _array(numbers: Sequence[int]) -> Attribute:
    return dense_array(I64, numbers)

"""Whether an operation is elementwise.

Operations with an elementwise trait are elementwise, and so are `sdy.propagation_barrier`,
`sdy.sharding_constraint`, `sdy.reshard`, and a `bitcast_convert` that keeps the shape.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.ops import PropagationBarrierOp, ReshardOp, ShardingConstraintOp
from sdyopt.mlir.dialects.stablehlo.conversion import BitcastConvertOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import BROADCASTING_ELEMENTWISE
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.mlir.ir.types import RankedShapedType, Type

_ELEMENTWISE_SDY_OPS = (PropagationBarrierOp, ShardingConstraintOp, ReshardOp)


def is_elementwise(signature: OpSignature) -> bool:
    """Whether every element of the results depends on one element of each operand."""
    if issubclass(signature.op_class, BitcastConvertOp):
        return _shape(signature.operand_types[0]) == _shape(signature.result_types[0])
    traits = signature.op_class.traits
    return (
        ELEMENTWISE in traits
        or BROADCASTING_ELEMENTWISE in traits
        or issubclass(signature.op_class, _ELEMENTWISE_SDY_OPS)
    )


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShapedType) else ()

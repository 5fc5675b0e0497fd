"""Sharding rules of mhlo's operations, in programs that XLA has imported from HLO.

XLA adds rules of its own dialect to those of Shardy; other tools, and the C++ passes of jaxlib, do not know
them. So only the modules of dumps have these rules. They are recognized by an attribute that XLA always sets.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.mhlo.dialect import mhlo
from sdyopt.mlir.dialects.mhlo.ops import TopKOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.shardy.sharding.op_sharding_rule_builder import (
    FactorType,
    NoRule,
    OpShardingRuleBuilder,
    sharding_rule,
)

# The attribute that XLA gives every module that it converts from HLO.
IMPORTED_FROM_HLO = "mhlo.is_dynamic"


def _is_imported(op: Op) -> bool:
    root = op
    while root.parent_op is not None:
        root = root.parent_op
    return IMPORTED_FROM_HLO in root.attributes


def _unknown(signature: OpSignature) -> NoRule:
    return NoRule("op", f"'{signature.name}'")


def _shapes(signature: OpSignature) -> list[tuple[int, ...]] | None:
    """The shapes of operands and results; None if there are other types."""
    types = (*signature.operand_types, *signature.result_types)
    shapes = [type.shape for type in types if isinstance(type, RankedShapedType)]
    return shapes if len(shapes) == len(types) else None


_ELEMENTWISE_OPS = [op_class for op_class in mhlo.ops.values() if ELEMENTWISE in op_class.traits]


@sharding_rule(*_ELEMENTWISE_OPS, context=_is_imported)
def elementwise(signature: OpSignature, builder: OpShardingRuleBuilder, is_imported: bool) -> NoRule | None:
    """([i, j])->([i, j])"""
    shapes = _shapes(signature)
    if not is_imported or shapes is None or any(shape != shapes[0] for shape in shapes):
        return _unknown(signature)
    builder.add_pointwise(shapes[0])
    return None


@sharding_rule(TopKOp, context=_is_imported)
def top_k(signature: OpSignature, builder: OpShardingRuleBuilder, is_imported: bool) -> NoRule | None:
    """([i, j])->([i, j], [i, j]) need_replication={j} blocked_propagation={j}"""
    shapes = _shapes(signature)
    if not is_imported or shapes is None:
        return _unknown(signature)
    for dim, size in enumerate(shapes[0]):
        if size == shapes[1][dim]:
            builder.add_common_factor(dim, size)
        else:
            builder.add_common_factor(dim, size, FactorType.NEED_REPLICATION, is_blocked=True)
    return None

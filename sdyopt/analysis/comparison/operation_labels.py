"""Labels of operations: equal for operations that compute the same, whatever their symbols and shardings."""

from __future__ import annotations

from collections.abc import Hashable

from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op

# Symbols may be renamed; shardings are what is compared.
_IGNORED: tuple[type[Attribute], ...] = (
    SymbolRef,
    TensorSharding,
    ShardingPerValue,
    ManualAxes,
    OpShardingRule,
)


def label_of(op: Op) -> Hashable:
    """The label of an operation: its signature without symbols and shardings."""
    return op.signature.cached(_label)


def _label(signature: OpSignature) -> Hashable:
    kept = [(name, value) for name, value in signature.attributes if not isinstance(value, _IGNORED)]
    if len(kept) == len(signature.attributes):
        return signature
    return signature.name, tuple(kept), signature.operand_types, signature.result_types

"""Values that stand for all values of an operation, where a question depends on type and sharding only."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION, RENAMES_OPERANDS
from sdyopt.mlir.ir.value import Value


def distinct_values(root: Op) -> Iterator[Value]:
    """Values with every pair of a type and a sharding that occurs in `root`.

    They are much fewer than all values, because the layers of a model repeat their types and shardings.
    """
    seen: set[tuple[OpSignature, DictAttr]] = set()
    for op in root.walk():
        if op.regions and (op.data_flow is not None or not op.traits.isdisjoint(_WITH_SHARDED_ARGUMENTS)):
            for region in op.regions:
                for block in region.blocks:
                    yield from block.arguments
        key = op.signature, op.attributes
        # Shardings that results do not store themselves are stored by a `sdy.data_flow_edge`.
        if key not in seen:
            seen.add(key)
            yield from op.results


# Besides operations with data-flow edges, those whose block arguments have shardings.
_WITH_SHARDED_ARGUMENTS = (FUNCTION, RENAMES_OPERANDS)

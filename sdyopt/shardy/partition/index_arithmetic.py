"""Arithmetic on run-time indices of any integer type."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, ShardingPerValue, fully_replicated
from sdyopt.mlir.dialects.stablehlo.compare_select import ClampOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import can_be_negative
from sdyopt.mlir.ir.types import IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.partition.local_builder import LocalBuilder, ranked


def clamp_index(builder: LocalBuilder, index: Value, largest: int) -> Value:
    """An index, or a tensor of them, clamped to 0 … largest."""
    type = ranked(index)
    lower = builder.integers(type, [0])
    upper = builder.integers(type, [largest_index(type.element, largest)])
    return builder.create(ClampOp, [lower, index, upper], [type]).result


def largest_index(element: Type, largest: int) -> int:
    """`largest`, or the largest number of the element type of indices if that is smaller."""
    assert isinstance(element, IntegerType)
    return min(largest, (1 << (element.width - can_be_negative(element))) - 1)


def broadcast_components(
    builder: LocalBuilder,
    components: Sequence[Value],
    type: RankedTensor,
    vector_dim: int,
    mesh: MeshOrRef | None = None,
) -> Value:
    """A tensor of index vectors along `vector_dim`, all with these scalar components.

    With a mesh, it has a sharding on it, since jaxlib 0.12.0.1.
    """
    attributes: dict[str, Attribute] = {}
    if mesh is not None and Behavior.SHARDED_INDEX_VECTORS.active:
        sharding = fully_replicated(type.rank, mesh, is_closed=True)
        attributes[SHARDING] = ShardingPerValue((sharding,))
    if len(components) == 1:
        return builder.broadcast(components[0], type, attributes=attributes)
    rows = [builder.reshape(component, (1,)) for component in components]
    return builder.broadcast(builder.concatenate(rows, 0), type, [vector_dim], attributes)

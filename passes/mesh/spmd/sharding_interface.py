"""What shardings have to know of an operation: the loops it stands for, and who is indexed by which.

`iteration_space_of(op)` gives, for an operation that can be sharded, a list of loops, each of which runs over
independent elements or combines them, and for each operand and result which loop runs along which of
its dimensions. An operation that is not described here cannot be sharded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from sdyopt.dialects.arith.compare import CmpIOp
from sdyopt.dialects.arith.floats import FloatBinary, NegFOp
from sdyopt.dialects.arith.integers import Binary
from sdyopt.dialects.linalg import MatmulOp
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.dialect_version import mesh_dialect_of
from sdyopt.dialects.mesh.reduction import ReductionKind
from sdyopt.dialects.tosa.elementwise import ElementwiseOp
from sdyopt.dialects.tosa.matmul import MatMulOp
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedTensor

from .iterator_types import IterationSpace, IteratorType

Find = Callable[[Op], IterationSpace | None]


def elementwise(op: Op) -> IterationSpace | None:
    """One loop per dimension, and everything indexed by all of them."""
    types = [type for type in (*op.operand_types, *op.result_types) if isinstance(type, RankedTensor)]
    if len(types) != len(op.operand_types) + len(op.result_types) or not types:
        return None
    identity = tuple(range(types[0].rank))
    return IterationSpace(
        (IteratorType.PARALLEL,) * len(identity),
        (identity,) * len(op.operand_types),
        (identity,) * len(op.result_types),
    )


def _matmul(op: Op) -> IterationSpace:
    """Batch, rows and columns, and the dimension that is summed over."""
    return IterationSpace(
        (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION),
        ((0, 1, 3), (0, 3, 2)),
        ((0, 1, 2),),
        ReductionKind.SUM,
        is_local=False,
    )


def _linalg_matmul(op: Op) -> IterationSpace:
    """Rows and columns, and the dimension that is summed over; the result starts from the last operand."""
    return IterationSpace(
        (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION),
        ((0, 2), (2, 1), (0, 1)),
        ((0, 1),),
        ReductionKind.SUM,
    )


# The loops of operations, by class; a class's own entry comes before those of its bases.
_TABLE: dict[type[Op], Find] = {ElementwiseOp: elementwise, MatMulOp: _matmul, MatmulOp: _linalg_matmul}

# Those that can be sharded in the form of LLVM 21 only.
_LATER_TABLE: dict[type[Op], Find] = {
    Binary: elementwise,
    FloatBinary: elementwise,
    NegFOp: elementwise,
    CmpIOp: elementwise,
}


def has_iteration_space(op: Op) -> bool:
    """Whether operations like this one can be sharded at all."""
    return _finder(op) is not None


def iteration_space_of(op: Op) -> IterationSpace | None:
    """The loops of an operation; None if it cannot be sharded, or not with these types."""
    find = _finder(op)
    return None if find is None else find(op)


@cache
def _stablehlo_finder() -> Find:
    """The loops by sharding rules, which nobody waits for whose program has no StableHLO in it."""
    find: Find = import_module(".stablehlo_iterators", __package__).stablehlo_iteration_space
    return find


def _finder(op: Op) -> Find | None:
    if op.dialect_name == "stablehlo":
        return None if op.regions and op.name != "stablehlo.reduce" else _stablehlo_finder()
    for base in type(op).__mro__:
        if base in _TABLE:
            return _TABLE[base]
        if base in _LATER_TABLE:
            return _LATER_TABLE[base] if mesh_dialect_of(op) is not mesh else None
    return None

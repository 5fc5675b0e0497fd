"""Sharding models of linalg."""

from __future__ import annotations

from typing import Any

from sdyopt.mlir.dialects.arith.floats import AddFOp, MaximumFOp, MinimumFOp, MulFOp
from sdyopt.mlir.dialects.arith.integers import AddIOp, MaxSIOp, MaxUIOp, MinSIOp, MinUIOp, MulIOp
from sdyopt.mlir.dialects.linalg.contractions import MatmulOp
from sdyopt.mlir.dialects.linalg.layout import GenericOp
from sdyopt.mlir.dialects.linalg.map_reduce import BroadcastOp, DestinationOp, MapOp, ReduceOp, TransposeOp
from sdyopt.mlir.dialects.linalg.named import ElementwiseOp, FillOp
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind, mesh
from sdyopt.mlir.dialects.mesh.mesh_op import mesh_dialect_of
from sdyopt.mlir.ir.affine import AffineDim
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import FloatAttr, integer
from sdyopt.mlir.ir.floats import extreme_bits
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FloatType, IntegerType, RankedTensor, Type

from ..sharding_interface import IterationSpace, ShardedIterator, ShardingModel

# Rows, columns and the contracting dimension.
_MATMUL = IterationSpace(
    (ShardedIterator.PARALLEL, ShardedIterator.PARALLEL, ShardedIterator.REDUCTION),
    ((0, 2), (2, 1), (0, 1)),
    ((0, 1),),
    ReductionKind.SUM,
)


def find_model(op: Op) -> ShardingModel | None:
    if isinstance(op, FillOp) and mesh_dialect_of(op) is not mesh:
        return _fill
    if isinstance(op, ElementwiseOp):
        return _elementwise
    if isinstance(op, GenericOp):
        return _generic
    if isinstance(op, DestinationOp):
        return _DESTINATION_MODELS[type(op)]
    return _matmul if isinstance(op, MatmulOp) and op.indexing_maps is None else None


def _matmul(_op: Op) -> IterationSpace:
    return _MATMUL


# The reduction of a body that yields the result of one operation.
_REDUCTIONS: dict[type[Op], ReductionKind] = {
    AddFOp: ReductionKind.SUM,
    AddIOp: ReductionKind.SUM,
    MulFOp: ReductionKind.PRODUCT,
    MulIOp: ReductionKind.PRODUCT,
    MaximumFOp: ReductionKind.MAX,
    MaxSIOp: ReductionKind.MAX,
    MaxUIOp: ReductionKind.MAX,
    MinimumFOp: ReductionKind.MIN,
    MinSIOp: ReductionKind.MIN,
    MinUIOp: ReductionKind.MIN,
}


def _reducer(op: Op) -> Op | None:
    """The operation whose result the body yields."""
    terminator = op.regions[0].blocks[0].last
    return terminator.operands[0].defining_op if terminator is not None and terminator.operands else None


def neutral_element(op: Op, type: Type) -> Attribute | None:
    """The element that the reduction of a linalg operation leaves as it is; None if there is none."""
    reducer = _reducer(op)
    type_of_reducer = None if reducer is None else reducer.__class__
    kind = None if type_of_reducer is None else _REDUCTIONS.get(type_of_reducer)
    if kind is None:
        return None
    if isinstance(type, FloatType):
        one = type.format.bias << type.format.mantissa_bits
        bits = {
            ReductionKind.SUM: 0,
            ReductionKind.PRODUCT: one,
            ReductionKind.MAX: extreme_bits(is_negative=True, format=type.format),
            ReductionKind.MIN: extreme_bits(is_negative=False, format=type.format),
        }
        return FloatAttr(bits[kind], type)
    if not isinstance(type, IntegerType):
        return None
    half = 1 << (type.width - 1)
    extremes: dict[Any, int] = {MaxSIOp: -half, MaxUIOp: 0, MinSIOp: half - 1, MinUIOp: -1}
    default = 1 if kind is ReductionKind.PRODUCT else 0
    return integer(extremes.get(type_of_reducer, default), type)


def _generic(op: Op) -> IterationSpace | None:
    """The loops of the operation, with the indexing maps whose results are dimensions."""
    assert isinstance(op, GenericOp)
    yielded = _reducer(op)
    types = {"parallel": ShardedIterator.PARALLEL, "reduction": ShardedIterator.REDUCTION}
    maps = tuple(
        tuple(result.position if isinstance(result, AffineDim) else None for result in map.results)
        for map in op.maps
    )
    return IterationSpace(
        tuple(types.get(kind, ShardedIterator.REPLICATED) for kind in op.iterators),
        maps,
        maps[len(op.inputs) :],
        ReductionKind.GENERIC if yielded is None else _REDUCTIONS.get(type(yielded), ReductionKind.GENERIC),
        requires_iterators=False,
    )


def _elementwise(op: Op) -> IterationSpace | None:
    """An elementwise operation; a scalar operand is on every device."""
    (type,) = op.result_types or (None,)
    if not isinstance(type, RankedTensor):
        return None
    identity = tuple(range(type.rank))
    maps = tuple(identity if isinstance(value, RankedTensor) else () for value in op.operand_types)
    parallel = (ShardedIterator.PARALLEL,) * type.rank
    return IterationSpace(parallel, maps, (identity,), requires_iterators=False)


def _map(op: Op) -> IterationSpace | None:
    (type, *_) = op.result_types or (None,)
    if not isinstance(type, RankedTensor):
        return None
    identity = tuple(range(type.rank))
    parallel = (ShardedIterator.PARALLEL,) * type.rank
    return IterationSpace(parallel, (identity,) * len(op.operands), (identity,), requires_iterators=False)


def _reduce(op: Op) -> IterationSpace | None:
    assert isinstance(op, ReduceOp)
    type, yielded = op.operand_types[0], _reducer(op)
    if not isinstance(type, RankedTensor) or not op.results:
        return None
    dimensions = range(type.rank)
    kept = tuple(dimension for dimension in dimensions if dimension not in op.dimensions)
    kinds = [ShardedIterator.PARALLEL if d in kept else ShardedIterator.REDUCTION for d in dimensions]
    return IterationSpace(
        tuple(kinds),
        (*((tuple(dimensions),) * len(op.inputs)), *((kept,) * len(op.inits))),
        (kept,) * len(op.results),
        ReductionKind.GENERIC
        if yielded is None
        else _REDUCTIONS.get(yielded.__class__, ReductionKind.GENERIC),
        requires_iterators=False,
    )


def _transpose(op: Op) -> IterationSpace | None:
    assert isinstance(op, TransposeOp)
    rank = len(op.permutation)
    source = tuple(op.permutation.index(dimension) for dimension in range(rank))
    parallel = (ShardedIterator.PARALLEL,) * rank
    identity = tuple(range(rank))
    return IterationSpace(parallel, (source, identity), (identity,), requires_iterators=False)


def _broadcast(op: Op) -> IterationSpace | None:
    assert isinstance(op, BroadcastOp)
    type = op.operand_types[1]
    assert isinstance(type, RankedTensor)
    identity = tuple(range(type.rank))
    source = tuple(dimension for dimension in identity if dimension not in op.dimensions)
    parallel = (ShardedIterator.PARALLEL,) * type.rank
    return IterationSpace(parallel, (source, identity), (identity,), requires_iterators=False)


_DESTINATION_MODELS: dict[type[Op], ShardingModel] = {
    MapOp: _map,
    ReduceOp: _reduce,
    TransposeOp: _transpose,
    BroadcastOp: _broadcast,
}


def _fill(op: Op) -> IterationSpace | None:
    """A fill of a tensor; the scalar is on every device. LLVM 19 has no model of it."""
    (type,) = op.result_types or (None,)
    if not isinstance(type, RankedTensor):
        return None
    identity = tuple(range(type.rank))
    parallel = (ShardedIterator.PARALLEL,) * type.rank
    return IterationSpace(parallel, ((), identity), (identity,), requires_iterators=False)

"""Init values of sharded linalg reductions: only the first device of each group starts from the init."""

from __future__ import annotations

from sdyopt.mlir.dialects.arith.compare import CmpIOp, predicate_attr
from sdyopt.mlir.dialects.linalg import FillOp
from sdyopt.mlir.dialects.mesh.attributes import Axes
from sdyopt.mlir.dialects.mesh.mesh_op import MeshShapeOp, ProcessMultiIndexOp
from sdyopt.mlir.dialects.scf import IfOp, YieldOp
from sdyopt.mlir.dialects.tensor import EmptyOp
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, FloatAttr, integer
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, I32, FloatType, RankedTensor, Type
from sdyopt.mlir.ir.value import LazyLocation, Value

from .index_builder import IndexBuilder


def init_on_first_device(
    rewriter: Rewriter, block: Block, mesh: SymbolRef, axes: Axes, init: Value, location: LazyLocation
) -> Value:
    """`init` on the first device of each group along `axes`, zeros on the others.

    The operations are appended to `block`.
    """
    builder = IndexBuilder(rewriter, location, at_end_of=block)
    indices = builder.query(ProcessMultiIndexOp, mesh, axes)
    sizes = builder.query(MeshShapeOp, mesh, axes)
    zero = builder.index(0)
    position = builder.linear_index(indices, sizes)
    is_first = builder.create(CmpIOp, [position, zero], I1, {"predicate": predicate_attr("eq")})
    type = init.type
    assert isinstance(type, RankedTensor)
    then_region, else_region = Region(), Region()
    _yield(rewriter, then_region.add_block(), init, location)
    else_block = else_region.add_block()
    _yield(rewriter, else_block, _zeros(rewriter, else_block, type, location), location)
    choice = rewriter.create(
        IfOp, [is_first], [type], at_end_of=block, regions=[then_region, else_region], location=location
    )
    return choice.results[0]


def _yield(rewriter: Rewriter, block: Block, value: Value, location: LazyLocation) -> None:
    rewriter.create(YieldOp, [value], (), at_end_of=block, location=location)


def _zeros(rewriter: Rewriter, block: Block, type: RankedTensor, location: LazyLocation) -> Value:
    """A tensor of zeros."""
    builder = IndexBuilder(rewriter, location, at_end_of=block)
    empty = builder.create(EmptyOp, [], type)
    zero = builder.constant(_zero(type.element), type.element)
    fill = rewriter.create(
        FillOp,
        [zero, empty],
        [type],
        {"operandSegmentSizes": DenseArray(I32, (1, 1))},
        at_end_of=block,
        regions=[FillOp.body_for([type.element, type])],
        location=location,
    )
    return fill.results[0]


def _zero(type: Type) -> Attribute:
    return FloatAttr(0, type) if isinstance(type, FloatType) else integer(0, type)

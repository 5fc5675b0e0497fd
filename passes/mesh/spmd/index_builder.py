"""Creates operations that compute sizes and positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from sdyopt.mlir.dialects.affine import ApplyOp
from sdyopt.mlir.dialects.arith.compare import CmpIOp, make_constant, predicate_attr
from sdyopt.mlir.dialects.arith.integers import MulIOp
from sdyopt.mlir.dialects.linalg.named import FillOp
from sdyopt.mlir.dialects.mesh.attributes import Axes, axes_attribute
from sdyopt.mlir.dialects.mesh.halo import ShardShapeOp
from sdyopt.mlir.dialects.mesh.mesh_op import AxesQuery, MeshShapeOp, ProcessMultiIndexOp, op_class_in
from sdyopt.mlir.dialects.scf import IfOp, YieldOp
from sdyopt.mlir.dialects.tensor.values import EmptyOp
from sdyopt.mlir.ir.affine import AffineExpr, AffineMapAttr, AffineSymbol, add, multiply
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, integer
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I1, I32, I64, INDEX, RankedTensor, Type
from sdyopt.mlir.ir.value import LazyLocation, Value


class IndexBuilder:
    """Creates operations with one result, of type `index` by default, at one insertion point."""

    def __init__(
        self, rewriter: Rewriter, location: LazyLocation, **insertion_point: Unpack[InsertionPoint]
    ) -> None:
        self._rewriter = rewriter
        self._location = location
        self._insertion_point = insertion_point

    def create(
        self,
        op_class: type[Op],
        operands: Sequence[Value],
        type: Type = INDEX,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Value:
        op = self._rewriter.create(
            op_class, operands, [type], attributes, location=self._location, **self._insertion_point
        )
        return op.results[0]

    def constant(self, value: Attribute, type: Type) -> Value:
        op = make_constant(value, type, self._location)
        assert op is not None
        self._rewriter.insert(op, **self._insertion_point)
        return op.results[0]

    def index(self, value: int) -> Value:
        return self.constant(integer(value, INDEX), INDEX)

    def query(
        self, base: type[AxesQuery], dialect: Dialect, mesh: SymbolRef, axes: Axes, rank: int = 0
    ) -> Sequence[Value]:
        """The results of a query: the size of each axis, or the index of the device along each axis.

        The query is the subclass of `base` in this version of the dialect. Without `axes`, it is one of all
        axes of a mesh of this rank.
        """
        op_class = op_class_in(dialect, base)
        op = self._rewriter.create(
            op_class,
            (),
            [INDEX] * (len(axes) or rank),
            {op_class.mesh.name: mesh, "axes": axes_attribute(axes)},
            location=self._location,
            **self._insertion_point,
        )
        return op.results

    def shard_shape(
        self,
        dialect: Dialect,
        shape: Sequence[int],
        sizes: Sequence[Value],
        sharding: Value,
        position: Sequence[Value],
    ) -> Sequence[Value]:
        """The sizes of the shard of a device: of a tensor with these dynamic sizes, at this position."""
        op = self._rewriter.create(
            op_class_in(dialect, ShardShapeOp),
            [*sizes, sharding, *position],
            [INDEX] * len(shape),
            {
                "dims": DenseArray(I64, tuple(shape)),
                "device": DenseArray(I64, (DYNAMIC,) * len(position)),
                "operandSegmentSizes": DenseArray(I32, (len(sizes), 1, len(position))),
            },
            location=self._location,
            **self._insertion_point,
        )
        return op.results

    def product(self, factors: Sequence[Value]) -> Value:
        product = factors[0]
        for factor in factors[1:]:
            product = self.create(MulIOp, [product, factor])
        return product

    def linear_index(self, indices: Sequence[Value], sizes: Sequence[Value]) -> Value:
        """The row-major linear index of these indices in a group of these sizes."""
        if len(indices) == 1:
            return indices[0]
        map, operands = _linear_map(indices, sizes)
        return self.create(ApplyOp, operands, INDEX, {"map": map})


def _linear_map(indices: Sequence[Value], sizes: Sequence[Value]) -> tuple[AffineMapAttr, list[Value]]:
    """The row-major map and its operands, for two axes or more.

    The operand order is that of MLIR: all indices but the last, the last size, the last index, then the
    other sizes except the first, which the result does not depend on.
    """
    rank = len(indices)
    operands = [*indices[:-1], sizes[-1], indices[-1], *sizes[1:-1]]
    last_size, last_index = AffineSymbol(rank - 1), AffineSymbol(rank)
    total: AffineExpr = add(multiply(AffineSymbol(rank - 2), last_size), last_index)
    for axis in range(rank - 2):
        stride: AffineExpr = last_size
        for minor_axis in range(rank - 2, axis, -1):
            stride = multiply(stride, AffineSymbol(rank + minor_axis))
        total = add(total, multiply(AffineSymbol(axis), stride))
    return AffineMapAttr(0, len(operands), (total,)), operands


def init_on_first_device(
    rewriter: Rewriter,
    block: Block,
    dialect: Dialect,
    mesh: SymbolRef,
    axes: Axes,
    init: Value,
    neutral: Attribute,
    location: LazyLocation,
) -> Value:
    """`init` on the first device of each group along `axes`, the neutral element on the others.

    The operations are appended to `block`.
    """
    builder = IndexBuilder(rewriter, location, at_end_of=block)
    indices = builder.query(ProcessMultiIndexOp, dialect, mesh, axes)
    sizes = builder.query(MeshShapeOp, dialect, mesh, axes)
    zero = builder.index(0)
    position = builder.linear_index(indices, sizes)
    is_first = builder.create(CmpIOp, [position, zero], I1, {"predicate": predicate_attr("eq")})
    type = init.type
    assert isinstance(type, RankedTensor)
    then_region, else_region = Region(), Region()
    _yield(rewriter, then_region.add_block(), init, location)
    else_block = else_region.add_block()
    _yield(rewriter, else_block, _filled(rewriter, else_block, type, neutral, location), location)
    choice = rewriter.create(
        IfOp, [is_first], [type], at_end_of=block, regions=[then_region, else_region], location=location
    )
    return choice.results[0]


def _yield(rewriter: Rewriter, block: Block, value: Value, location: LazyLocation) -> None:
    rewriter.create(YieldOp, [value], (), at_end_of=block, location=location)


def _filled(
    rewriter: Rewriter, block: Block, type: RankedTensor, element: Attribute, location: LazyLocation
) -> Value:
    """A tensor filled with an element."""
    builder = IndexBuilder(rewriter, location, at_end_of=block)
    empty = builder.create(EmptyOp, [], type)
    constant = builder.constant(element, type.element)
    fill = rewriter.create(
        FillOp,
        [constant, empty],
        [type],
        {"operandSegmentSizes": DenseArray(I32, (1, 1))},
        at_end_of=block,
        regions=[FillOp.body_for([type.element, type], {})],
        location=location,
    )
    return fill.results[0]

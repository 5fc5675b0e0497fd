"""Linalg operations that sum over a split dimension: only one device of a group starts from the init."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.affine.ops import ApplyOp
from sdyopt.dialects.arith.compare import CmpIOp, predicate
from sdyopt.dialects.arith.constant import make_constant
from sdyopt.dialects.linalg import FillOp
from sdyopt.dialects.mesh.axes import Axes, axes_attribute
from sdyopt.dialects.mesh.mesh_queries import MeshShapeOp, ProcessMultiIndexOp
from sdyopt.dialects.scf import IfOp, YieldOp
from sdyopt.dialects.tensor.creation import EmptyOp
from sdyopt.ir.attribute import Attribute, SymbolRef
from sdyopt.ir.block import Block, Region
from sdyopt.ir.elements_attributes import DenseArray
from sdyopt.ir.numeric_attributes import FloatAttr, integer
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import I1, I32, INDEX, FloatType, RankedTensor, Type
from sdyopt.ir.value import Value

from ..mesh_all_slice_op_lowering import linear_map


class InitOnFirstDevice:
    """Makes the start of a sum that devices along some axes have parts of."""

    def __init__(self, rewriter: Rewriter, block: Block, mesh: SymbolRef, axes: Axes, op: Op) -> None:
        self._rewriter = rewriter
        self._block = block
        self._mesh = mesh
        self._axes = axes
        self._op = op

    def of(self, init: Value) -> Value:
        """`init` on the first device of each group, zeros on the others."""
        insertion_point, sizes = self._ask(ProcessMultiIndexOp), self._ask(MeshShapeOp)
        zero = self._constant(integer(0, INDEX), INDEX, self._block)
        number = insertion_point[0]
        if len(insertion_point) > 1:
            map, operands = linear_map(insertion_point, sizes)
            number = self._make(ApplyOp, operands, INDEX, self._block, {"map": map})
        is_first = self._make(CmpIOp, [number, zero], I1, self._block, {"predicate": predicate("eq")})
        then, otherwise = Region(), Region()
        self._yield(then.add_block(), init)
        block = otherwise.add_block()
        type = init.type
        assert isinstance(type, RankedTensor)
        empty = self._make(EmptyOp, [], type, block)
        neutral = self._constant(_zero(type.element), type.element, block)
        filled = self._rewriter.create(
            FillOp,
            [neutral, empty],
            [type],
            {"operandSegmentSizes": DenseArray(I32, (1, 1))},
            at_end_of=block,
            regions=[FillOp.body_for([type.element, type])],
            location=self._op.location,
        )
        self._yield(block, filled.results[0])
        made = self._rewriter.create(
            IfOp,
            [is_first],
            [type],
            at_end_of=self._block,
            regions=[then, otherwise],
            location=self._op.location,
        )
        return made.results[0]

    def _ask(self, query: type[Op]) -> Sequence[Value]:
        attributes = {"mesh": self._mesh, "axes": axes_attribute(self._axes)}
        types = [INDEX] * len(self._axes)
        made = self._rewriter.create(
            query, (), types, attributes, at_end_of=self._block, location=self._op.location
        )
        return made.results

    def _yield(self, block: Block, value: Value) -> None:
        self._rewriter.create(YieldOp, [value], (), at_end_of=block, location=self._op.location)

    def _constant(self, value: Attribute, type: Type, block: Block) -> Value:
        made = make_constant(value, type, self._op.location)
        assert made is not None
        self._rewriter.insert(made, at_end_of=block)
        return made.results[0]

    def _make(
        self,
        op_class: type[Op],
        operands: Sequence[Value],
        type: Type,
        block: Block,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        made = self._rewriter.create(
            op_class, operands, [type], attributes, at_end_of=block, location=self._op.location
        )
        return made.results[0]


def _zero(type: Type) -> Attribute:
    return FloatAttr(0, type) if isinstance(type, FloatType) else integer(0, type)

"""test-mesh-all-slice-op-lowering: turn a collective slice into a slice at a place that is worked out.

    %1 = mesh.all_slice %0 on @grid mesh_axes = [0] slice_axis = 0 : tensor<8xf32> -> tensor<2xf32>
becomes
    %place = mesh.process_multi_index on @grid axes = [0] : index
    %count = mesh.mesh_shape @grid axes = [0] : index
    … an assertion that 8 is divisible by %count …
    %size = arith.divui %c8, %count : index
    %offset = arith.muli %place, %size : index
    %part = tensor.extract_slice %0[%offset] [%size] [1] : tensor<8xf32> to tensor<?xf32>
    %1 = tensor.cast %part : tensor<?xf32> to tensor<2xf32>

All slicing is local: it needs no communication. Run test-mesh-simplifications and canonicalize behind
it, and where the mesh is known all but the product and the slice goes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.affine.ops import ApplyOp
from sdyopt.dialects.arith.compare import CmpIOp, predicate
from sdyopt.dialects.arith.constant import make_constant
from sdyopt.dialects.arith.integers import DivUIOp, MulIOp, RemUIOp
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.cf import AssertOp
from sdyopt.dialects.mesh.collectives import AllSliceOp
from sdyopt.dialects.mesh.mesh_queries import MeshShapeOp, ProcessMultiIndexOp
from sdyopt.dialects.tensor.casts import CastOp, DimOp
from sdyopt.dialects.tensor.slices import Mixed, extract
from sdyopt.ir.affine import AffineExpr, AffineMapAttr, AffineSymbol, add, multiply
from sdyopt.ir.attribute import Attribute, string
from sdyopt.ir.numeric_attributes import integer
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern, apply_greedily
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import DYNAMIC, I1, INDEX, RankedTensor, Type
from sdyopt.ir.value import Value
from sdyopt.pipeline import Pass
from sdyopt.registry import register

_MESSAGE = (
    "Slicing a tensor with axis size that is not exactly divisible by the mesh process group size is not "
    "supported."
)


class _Lowering:
    """The lowering of one operation, before which everything is put."""

    def __init__(self, op: AllSliceOp, rewriter: Rewriter) -> None:
        self.op = op
        self._rewriter = rewriter

    def run(self) -> None:
        op = self.op
        value = self._slice() if op.mesh_axes else op.input
        if value.type is not op.result_types[0]:
            value = self._make(CastOp, [value], op.result_types[0])
        self._rewriter.replace(op, [value])

    def _slice(self) -> Value:
        op, axis = self.op, self.op.slice_axis
        zero = self._constant(0)
        insertion_point = self._ask(ProcessMultiIndexOp)
        sizes = self._ask(MeshShapeOp)
        count = self._product(self._ask(MeshShapeOp))
        whole = self._dimension(axis)
        rest = self._make(RemUIOp, [whole, count])
        is_divisible = self._make(CmpIOp, [rest, zero], I1, {"predicate": predicate("eq")})
        self._rewriter.create(
            AssertOp, [is_divisible], (), {"msg": string(_MESSAGE)}, before=op, location=op.location
        )
        part = self._make(DivUIOp, [whole, count])
        number = self._linear(insertion_point, sizes)
        type = op.input.type
        assert isinstance(type, RankedTensor)
        lengths: Mixed = [
            part if dimension == axis else self._dimension(dimension) for dimension in range(type.rank)
        ]
        offsets: Mixed = [0] * type.rank
        offsets[axis] = self._make(MulIOp, [number, part])
        unknown = RankedTensor((DYNAMIC,) * type.rank, type.element, type.encoding)
        made = extract(self._rewriter, op.input, offsets, lengths, [1] * type.rank, unknown, op)
        return made.results[0]

    def _linear(self, insertion_point: Sequence[Value], sizes: Sequence[Value]) -> Value:
        """The position in the group, which has several axes or one."""
        if len(insertion_point) == 1:
            return insertion_point[0]
        map, operands = linear_map(insertion_point, sizes)
        return self._make(ApplyOp, operands, INDEX, {"map": map})

    def _product(self, values: Sequence[Value]) -> Value:
        product = values[0]
        for value in values[1:]:
            product = self._make(MulIOp, [product, value])
        return product

    def _dimension(self, dimension: int) -> Value:
        """The size of a dimension of the operand."""
        type = self.op.input.type
        assert isinstance(type, RankedTensor)
        size = type.shape[dimension]
        if size != DYNAMIC:
            return self._constant(size)
        return self._make(DimOp, [self.op.input, self._constant(dimension)])

    def _ask(self, query: type[Op]) -> tuple[Value, ...]:
        op = self.op
        attributes = {"mesh": op.signature.attributes["mesh"], "axes": op.signature.attributes["mesh_axes"]}
        types = [INDEX] * len(op.mesh_axes)
        made = self._rewriter.create(query, (), types, attributes, before=op, location=op.location)
        return made.results

    def _constant(self, value: int) -> Value:
        made = make_constant(integer(value, INDEX), INDEX, self.op.location)
        assert made is not None
        self._rewriter.insert(made, before=self.op)
        return made.results[0]

    def _make(
        self,
        op_class: type[Op],
        operands: Sequence[Value],
        type: Type = INDEX,
        attributes: dict[str, Attribute] | None = None,
    ) -> Value:
        op = self.op
        made = self._rewriter.create(op_class, operands, [type], attributes, before=op, location=op.location)
        return made.results[0]


def linear_map(insertion_point: Sequence[Value], sizes: Sequence[Value]) -> tuple[AffineMapAttr, list[Value]]:
    """The map from coordinates and sizes, at least two each, to the number in row-major order.

    The coordinates but the last come first, then the last size and the last coordinate, then the other
    sizes but the first, of which nothing depends: that is how the reference has them.
    """
    rank = len(insertion_point)
    operands = [*insertion_point[:-1], sizes[-1], insertion_point[-1], *sizes[1:-1]]
    last_size, last_place = AffineSymbol(rank - 1), AffineSymbol(rank)
    total: AffineExpr = add(multiply(AffineSymbol(rank - 2), last_size), last_place)
    for axis in range(rank - 2):
        stride: AffineExpr = last_size
        for faster in range(rank - 2, axis, -1):
            stride = multiply(stride, AffineSymbol(rank + faster))
        total = add(total, multiply(AffineSymbol(axis), stride))
    return AffineMapAttr(0, len(operands), (total,)), operands


def _lower(op: AllSliceOp, rewriter: Rewriter) -> bool:
    _Lowering(op, rewriter).run()
    return True


_PATTERNS = (Pattern(_lower),)


def _patterns(op_class: type[Op]) -> Sequence[Pattern]:
    return _PATTERNS if issubclass(op_class, AllSliceOp) else ()


@register("test-mesh-all-slice-op-lowering")
class TestMeshAllSliceOpLowering(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(module, _patterns)
        return changed

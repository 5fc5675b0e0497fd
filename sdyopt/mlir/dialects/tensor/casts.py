"""tensor.cast and tensor.dim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, TypeOf, assembly
from sdyopt.mlir.asm.format.directives import ImpliedType
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.folding import Constants, FoldResult
from sdyopt.mlir.dialects.tensor.dialect import ANY_TENSOR, INDEX_VALUE, tensor_dialect
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.constraints import TypeConstraint
from sdyopt.mlir.ir.op_fields import operand, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import DYNAMIC, INDEX, RankedTensor, Type, UnrankedTensor, element_of
from sdyopt.mlir.ir.value import Value

_WITH_DIMENSIONS = TypeConstraint[UnrankedTensor](
    "non-0-ranked or unranked tensor",
    lambda type: isinstance(type, UnrankedTensor) or (isinstance(type, RankedTensor) and type.rank > 0),
)


def _join_shapes(*types: Type) -> tuple[int, ...] | None:
    """The shape with the static sizes of all ranked types; None if no type is ranked or shapes conflict."""
    shapes = [type.shape for type in types if isinstance(type, RankedTensor)]
    if not shapes or len(set(map(len, shapes))) > 1:
        return None
    joined = []
    for sizes in zip(*shapes, strict=True):
        static = {size for size in sizes if size != DYNAMIC}
        if len(static) > 1:
            return None
        joined.append(static.pop() if static else DYNAMIC)
    return tuple(joined)


def _merge_casts(op: CastOp, rewriter: Rewriter) -> bool:
    """Merges two casts, unless the type between them has static sizes that neither source nor result has."""
    inner = op.source.defining_op
    if not isinstance(inner, CastOp):
        return False
    source_type, inner_type, dest_type = inner.source.type, inner.dest.type, op.dest.type
    joined = _join_shapes(source_type, inner_type, dest_type)
    if joined is None or joined != _join_shapes(source_type, dest_type):
        return False
    cast = rewriter.create(CastOp, [inner.source], [dest_type], before=op, location=op.location)
    rewriter.replace(op, cast)
    return True


@tensor_dialect.op("cast", PURE)
class CastOp(Op):
    """Casts a tensor between types of compatible shapes."""

    __slots__ = ()

    source = operand(ANY_TENSOR)
    dest = result(ANY_TENSOR)

    assembly = assembly(Operand("source"), AttrDict(), ":", TypeOf("source"), "to", TypeOf("dest"))
    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_merge_casts),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        source, dest = signature[CastOp.source], signature[CastOp.dest]
        if element_of(source) is not element_of(dest) or not are_compatible_shapes([source, dest]):
            raise signature.op_error(
                f"operand type '{plain_type(source)}' and result type '{plain_type(dest)}' are cast "
                "incompatible"
            )

    def fold(self, constants: Constants) -> FoldResult:
        return [self.source] if self.source.type is self.dest.type else None

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "cast")]


def loses_static_sizes(op: CastOp) -> bool:
    """Whether a cast only makes static sizes dynamic, so that its users can use the source."""
    source, dest = op.source.type, op.dest.type
    if not isinstance(source, RankedTensor) or not isinstance(dest, RankedTensor):
        return False
    if source.rank != dest.rank or source.encoding is not dest.encoding:
        return False
    return all(old != DYNAMIC or new == DYNAMIC for old, new in zip(source.shape, dest.shape, strict=True))


def _use_cast_source(op: DimOp, rewriter: Rewriter) -> bool:
    """Queries the source of a cast instead of its result."""
    cast = op.source.defining_op
    if not isinstance(cast, CastOp):
        return False
    rewriter.set_operand(op.operand_uses[0], cast.source)
    return True


@tensor_dialect.op("dim", PURE)
class DimOp(Op):
    """The size of a dimension of a tensor."""

    __slots__ = ()

    source = operand(_WITH_DIMENSIONS)
    index = operand(INDEX_VALUE)
    out = result(INDEX_VALUE)

    assembly = assembly(
        AttrDict(),
        Operand("source"),
        ",",
        Operand("index"),
        ImpliedType("index", INDEX),
        ":",
        TypeOf("source"),
    )

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_use_cast_source),)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX]

    def fold(self, constants: Constants) -> FoldResult:
        type, index = self.source.type, constants[1]
        if not isinstance(index, IntegerAttr) or not isinstance(type, RankedTensor):
            return None
        if not 0 <= index.value < type.rank:
            return None
        size = type.shape[index.value]
        if size != DYNAMIC:
            return [integer(size, INDEX)]
        source = self.source.defining_op
        value = source.dynamic_size(index.value) if isinstance(source, ReifiesShape) else None
        return None if value is None else [value]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "dim")]


class ReifiesShape(Op):
    """Base of the operations whose operands define the shape of their result."""

    __slots__ = ()

    def dynamic_size(self, dimension: int) -> Value | None:
        """The operand that defines a size of the result; None if the size is static."""
        raise NotImplementedError

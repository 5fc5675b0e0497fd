"""tensor.cast and tensor.dim: more or less known sizes of one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.asm.format.assembly_format import AttrDict, Operand, TypeOf, assembly
from sdyopt.asm.format.typed_operands import ImpliedType
from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.tensor.dialect import ANY_TENSOR, INDEX_VALUE, tensor_dialect
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import TypeConstraint
from sdyopt.ir.numeric_attributes import IntegerAttr, integer
from sdyopt.ir.op_fields import operand, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.shape_traits import are_compatible_shapes
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import DYNAMIC, INDEX, RankedTensor, Type, UnrankedTensor, element_of
from sdyopt.ir.value import Value

Folded = Sequence[Value | Attribute] | None

_WITH_DIMENSIONS = TypeConstraint[UnrankedTensor](
    "non-0-ranked or unranked tensor",
    lambda type: isinstance(type, UnrankedTensor) or (isinstance(type, RankedTensor) and type.rank > 0),
)


def _join(*types: Type) -> tuple[int, ...] | None:
    """The shape with all that any of the types knows; None if none has a rank or they disagree."""
    shapes = [type.shape for type in types if isinstance(type, RankedTensor)]
    if not shapes or len(set(map(len, shapes))) > 1:
        return None
    joined = []
    for sizes in zip(*shapes, strict=True):
        known = {size for size in sizes if size != DYNAMIC}
        if len(known) > 1:
            return None
        joined.append(known.pop() if known else DYNAMIC)
    return tuple(joined)


def _drop_inner_cast(op: CastOp, rewriter: Rewriter) -> bool:
    """Of two casts one is enough, unless the type between them says more than the ends do."""
    inner = op.source.defining_op
    if not isinstance(inner, CastOp):
        return False
    first, between, last = inner.source.type, inner.dest.type, op.dest.type
    joined = _join(first, between, last)
    if joined is None or joined != _join(first, last):
        return False
    new = rewriter.create(CastOp, [inner.source], [last], before=op, location=op.location)
    rewriter.replace(op, new)
    return True


@tensor_dialect.op("cast", PURE)
class CastOp(Op):
    """A tensor with another type, which knows more or less of its shape."""

    __slots__ = ()

    source = operand(ANY_TENSOR)
    dest = result(ANY_TENSOR)

    assembly = assembly(Operand("source"), AttrDict(), ":", TypeOf("source"), "to", TypeOf("dest"))
    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_drop_inner_cast),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        before, after = signature.operand_types[0], signature.result_types[0]
        if element_of(before) is not element_of(after) or not are_compatible_shapes([before, after]):
            raise signature.op_error(
                f"operand type '{plain_type(before)}' and result type '{plain_type(after)}' are cast "
                "incompatible"
            )

    def fold(self, constants: Sequence[Attribute | None]) -> Folded:
        return [self.source] if self.source.type is self.dest.type else None

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "cast")]


def loses_static_sizes(op: CastOp) -> bool:
    """Whether a cast only forgets sizes, so that users may as well take its source."""
    before, after = op.source.type, op.dest.type
    if not isinstance(before, RankedTensor) or not isinstance(after, RankedTensor):
        return False
    if before.rank != after.rank or before.encoding is not after.encoding:
        return False
    return all(old != DYNAMIC or new == DYNAMIC for old, new in zip(before.shape, after.shape, strict=True))


def _look_through(op: DimOp, rewriter: Rewriter) -> bool:
    """A cast has the sizes of what it casts."""
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

    canonicalizations: ClassVar[tuple[Pattern, ...]] = (Pattern(_look_through),)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX]

    def fold(self, constants: Sequence[Attribute | None]) -> Folded:
        type, index = self.source.type, constants[1]
        if not isinstance(index, IntegerAttr) or not isinstance(type, RankedTensor):
            return None
        if not 0 <= index.value < type.rank:
            return None
        size = type.shape[index.value]
        if size != DYNAMIC:
            return [integer(size, INDEX)]
        made = self.source.defining_op
        value = made.size_of(index.value) if isinstance(made, KnowsSizes) else None
        return None if value is None else [value]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "dim")]


class KnowsSizes(Op):
    """An operation whose operands say how large its result is."""

    __slots__ = ()

    def size_of(self, dimension: int) -> Value | None:
        """The value of an unknown size of the result, if it is an operand."""
        raise NotImplementedError

"""tensor.empty: a tensor of which only the shape is defined."""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import AttrDict, Operand, TypeOf, assembly
from sdyopt.asm.format.typed_operands import ImpliedType
from sdyopt.dialects.tensor.casts import CastOp, KnowsSizes
from sdyopt.dialects.tensor.dialect import INDEX_VALUE, RANKED, constant_index, tensor_dialect
from sdyopt.ir.op_fields import operands, result
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import DYNAMIC, INDEX, RankedTensor
from sdyopt.ir.value import Value


def _take_known_sizes(op: EmptyOp, rewriter: Rewriter) -> bool:
    """A size that is a constant belongs into the type."""
    type = op.tensor_type
    values = iter(op.sizes)
    sizes: list[Value] = []
    shape = list(type.shape)
    for dimension, size in enumerate(type.shape):
        if size != DYNAMIC:
            continue
        value = next(values)
        known = constant_index(value)
        if known is None or known < 0:
            sizes.append(value)
        else:
            shape[dimension] = known
    if tuple(shape) == type.shape:
        return False
    static = RankedTensor(tuple(shape), type.element, type.encoding)
    made = rewriter.create(EmptyOp, sizes, [static], before=op, location=op.location)
    cast = rewriter.create(CastOp, made.results, [type], before=op, location=op.location)
    rewriter.replace(op, cast)
    return True


def _be_what_it_is_cast_to(op: CastOp, rewriter: Rewriter) -> bool:
    """An empty tensor that is cast may as well have the type that it is cast to."""
    empty, wanted = op.source.defining_op, op.dest.type
    if not isinstance(empty, EmptyOp) or not isinstance(wanted, RankedTensor):
        return False
    type = empty.tensor_type
    values = iter(empty.sizes)
    sizes: list[Value] = []
    for old, new in zip(type.shape, wanted.shape, strict=True):
        value = next(values) if old == DYNAMIC else None
        if new == DYNAMIC:
            if value is None:
                # The cast forgets a size, which would have to become a constant.
                return False
            sizes.append(value)
    made = rewriter.create(EmptyOp, sizes, [wanted], before=op, location=op.location)
    rewriter.replace(op, made)
    return True


@tensor_dialect.op("empty", PURE)
class EmptyOp(KnowsSizes):
    """A tensor whose elements nobody has set. Each unknown size is an operand."""

    __slots__ = ()

    sizes = operands(INDEX_VALUE)
    out = result(RANKED)

    assembly = assembly(
        "(",
        Operand("sizes"),
        ImpliedType("sizes", INDEX),
        ")",
        AttrDict(),
        ":",
        TypeOf("out"),
    )
    canonicalizations = (Pattern(_take_known_sizes),)

    @property
    def tensor_type(self) -> RankedTensor:
        type = self.out.type
        assert isinstance(type, RankedTensor)
        return type

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        expected, got = signature.out.shape.count(DYNAMIC), len(signature.sizes)
        if expected != got:
            raise signature.op_error(f"incorrect number of dynamic sizes, has {got}, expected {expected}")

    def size_of(self, dimension: int) -> Value | None:
        shape = self.tensor_type.shape
        if shape[dimension] != DYNAMIC:
            return None
        return self.sizes[shape[:dimension].count(DYNAMIC)]


CastOp.canonicalizations = (*CastOp.canonicalizations, Pattern(_be_what_it_is_cast_to))

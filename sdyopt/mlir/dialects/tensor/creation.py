"""tensor.empty."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Operand, TypeOf, assembly
from sdyopt.mlir.asm.format.directives import ImpliedType
from sdyopt.mlir.dialects.tensor.casts import CastOp, ReifiesShape
from sdyopt.mlir.dialects.tensor.dialect import INDEX_VALUE, RANKED, constant_index, tensor_dialect
from sdyopt.mlir.ir.op_fields import operands, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import DYNAMIC, INDEX, RankedTensor
from sdyopt.mlir.ir.value import Value


def _fold_constant_sizes(op: EmptyOp, rewriter: Rewriter) -> bool:
    """Makes constant sizes static."""
    type = op.tensor_type
    values = iter(op.sizes)
    sizes: list[Value] = []
    shape = list(type.shape)
    for dimension, size in enumerate(type.shape):
        if size != DYNAMIC:
            continue
        value = next(values)
        constant = constant_index(value)
        if constant is None or constant < 0:
            sizes.append(value)
        else:
            shape[dimension] = constant
    if tuple(shape) == type.shape:
        return False
    static = RankedTensor(tuple(shape), type.element, type.encoding)
    empty = rewriter.create(EmptyOp, sizes, [static], before=op, location=op.location)
    cast = rewriter.create(CastOp, empty.results, [type], before=op, location=op.location)
    rewriter.replace(op, cast)
    return True


def _merge_into_empty(op: CastOp, rewriter: Rewriter) -> bool:
    """Replaces the cast of an empty tensor with an empty tensor of the cast's result type."""
    empty, dest_type = op.source.defining_op, op.dest.type
    if not isinstance(empty, EmptyOp) or not isinstance(dest_type, RankedTensor):
        return False
    type = empty.tensor_type
    values = iter(empty.sizes)
    sizes: list[Value] = []
    for old, new in zip(type.shape, dest_type.shape, strict=True):
        value = next(values) if old == DYNAMIC else None
        if new == DYNAMIC:
            if value is None:
                # A static size that the cast makes dynamic would need a constant.
                return False
            sizes.append(value)
    new_op = rewriter.create(EmptyOp, sizes, [dest_type], before=op, location=op.location)
    rewriter.replace(op, new_op)
    return True


@tensor_dialect.op("empty", PURE)
class EmptyOp(ReifiesShape):
    """A tensor with undefined elements, and an operand per dynamic size."""

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
    canonicalizations = (Pattern(_fold_constant_sizes),)

    @property
    def tensor_type(self) -> RankedTensor:
        type = self.out.type
        assert isinstance(type, RankedTensor)
        return type

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        expected, got = signature[EmptyOp.out].shape.count(DYNAMIC), len(signature[EmptyOp.sizes])
        if expected != got:
            raise signature.op_error(f"incorrect number of dynamic sizes, has {got}, expected {expected}")

    def dynamic_size(self, dimension: int) -> Value | None:
        shape = self.tensor_type.shape
        if shape[dimension] != DYNAMIC:
            return None
        return self.sizes[shape[:dimension].count(DYNAMIC)]


CastOp.canonicalizations = (*CastOp.canonicalizations, Pattern(_merge_into_empty))

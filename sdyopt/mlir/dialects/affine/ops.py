"""affine.apply and affine.delinearize_index."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import AttrDict, Custom, Operand, TypeOf, assembly
from sdyopt.mlir.asm.format.directives import ImpliedType
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.affine.compose import (
    INDEX_VALUE,
    AffineApply,
    AppliedMap,
    canonicalize,
    fold_operands,
    is_symbol,
)
from sdyopt.mlir.dialects.arith.constant import make_constant
from sdyopt.mlir.ir.affine import AffineConstant, AffineDim, AffineMapAttr, AffineSymbol
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import operand, operands, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import INDEX, Type
from sdyopt.mlir.ir.value import Value

affine = Dialect("affine")
affine.is_inlinable = True
affine.materialize_constant = make_constant


def _parse_apply(op_parser: OpAsmParser) -> None:
    offset = op_parser.skip_trivia()
    map = op_parser.attribute()
    if not isinstance(map, AffineMapAttr):
        raise op_parser.error("invalid kind of attribute specified", offset)
    dims = op_parser.comma_list(op_parser.operand, "(", ")")
    symbols = op_parser.comma_list(op_parser.operand, "[", "]") if op_parser.looking_at("[") else []
    op_parser.attributes["map"] = map
    op_parser.operand_names["map_operands"] = dims + symbols
    op_parser.types["map_operands"] = [INDEX] * (len(dims) + len(symbols))
    if (map.num_dims, map.num_symbols) != (len(dims), len(symbols)):
        raise op_parser.error("dimension or symbol index mismatch", op_parser.offset)
    op_parser.result_types = [INDEX] * len(map.results)


def _write_apply(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    map = signature[ApplyOp.map]
    out.word(out.attribute_printer.attribute(map))
    out.text("(")
    _write_operands(out, range(map.num_dims))
    out.text(")")
    if map.num_symbols:
        out.text("[")
        _write_operands(out, range(map.num_dims, len(signature.operand_types)))
        out.text("]")


def _write_operands(out: Template, indices: range) -> None:
    for position, index in enumerate(indices):
        if position:
            out.text(", ")
        out.parts.append(index)


def _simplify(op: ApplyOp, rewriter: Rewriter) -> bool:
    """Composes the map with the maps of affine.apply operands, folds constants, and drops unused operands."""
    old = AppliedMap(op.map, tuple(op.map_operands))
    new = canonicalize(old)
    if new.map is old.map and new.operands == old.operands:
        return False
    new_op = rewriter.create(
        ApplyOp, new.operands, [INDEX], {"map": new.map}, before=op, location=op.location
    )
    rewriter.replace(op, new_op)
    return True


@affine.op("apply", PURE)
class ApplyOp(AffineApply):
    """Applies an affine map with one result to dimension and symbol operands: `(%dims)[%symbols]`."""

    __slots__ = ()

    out = result(INDEX_VALUE)

    assembly = assembly(Custom(_parse_apply, _write_apply, elides=["map"]), AttrDict())
    canonicalizations = (Pattern(_simplify),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        map = signature[ApplyOp.map]
        if len(signature.operand_types) != map.num_dims + map.num_symbols:
            raise signature.op_error("operand count and affine map dimension and symbol count must match")
        if len(map.results) != 1:
            raise signature.op_error("mapping must produce one value")

    def verify_in_context(self) -> None:
        for value in self.map_operands[self.map.num_dims :]:
            if not is_symbol(value):
                raise self.op_error("symbols must be valid symbols")

    def fold(self, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
        numbers = [c.value if isinstance(c, IntegerAttr) else None for c in constants]
        (expression,) = fold_operands(self.map, numbers)
        if isinstance(expression, AffineDim):
            return [self.map_operands[expression.position]]
        if isinstance(expression, AffineSymbol):
            return [self.map_operands[self.map.num_dims + expression.position]]
        if isinstance(expression, AffineConstant):
            return [integer(expression.value, INDEX)]
        return None


def _parse_into(op_parser: OpAsmParser) -> None:
    op_parser.expect("into")
    op_parser.expect("(")


def _write_into(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    out.literal("into")
    out.text(" ")
    out.literal("(")


@affine.op("delinearize_index", PURE)
class DelinearizeIndexOp(Op):
    """The multi-index of a row-major linear index, in a grid whose sizes are the basis."""

    __slots__ = ()

    linear_index = operand(INDEX_VALUE)
    basis = operands(INDEX_VALUE)
    multi_index = results(INDEX_VALUE)

    assembly = assembly(
        Operand("linear_index"),
        ImpliedType("linear_index", INDEX),
        Custom(_parse_into, _write_into),
        Operand("basis"),
        ImpliedType("basis", INDEX),
        ")",
        AttrDict(),
        ":",
        TypeOf("multi_index"),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [INDEX] * len(signature[DelinearizeIndexOp.basis])

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        basis = signature[DelinearizeIndexOp.basis]
        if not basis:
            raise signature.op_error("basis should not be empty")
        if len(basis) != len(signature.result_types):
            raise signature.op_error("should return an index for each basis element")

"""affine.apply and affine.delinearize_index."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, Custom, Operand, TypeOf, assembly
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.format.typed_operands import ImpliedType
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.dialects.affine.compose import AppliedMap, canonical, is_symbol, partial_constant
from sdyopt.dialects.arith.constant import make_constant
from sdyopt.ir.affine import AffineConstant, AffineDim, AffineMapAttr, AffineSymbol
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import TypeConstraint, of_class
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.numeric_attributes import IntegerAttr, integer
from sdyopt.ir.op_fields import attr, operand, operands, result, results
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.patterns import Pattern
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import INDEX, Type
from sdyopt.ir.value import Value

affine = Dialect("affine")
affine.is_inlinable = True
affine.materialize_constant = make_constant

_INDEX = TypeConstraint[Type]("index", lambda type: type is INDEX)
_MAP = of_class(AffineMapAttr, "AffineMap attribute")


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
    if map.num_dims != len(dims) or map.num_dims + map.num_symbols != len(dims) + len(symbols):
        raise op_parser.error("dimension or symbol index mismatch", op_parser.offset)
    op_parser.result_types = [INDEX] * len(map.results)


def _write_apply(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    map = signature.map
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
    """Maps of maps become one, constants go into the map, what is not needed goes."""
    old = AppliedMap(op.map, tuple(op.map_operands))
    new = canonical(old)
    if new.map is old.map and new.operands == old.operands:
        return False
    made = rewriter.create(ApplyOp, new.operands, [INDEX], {"map": new.map}, before=op, location=op.location)
    rewriter.replace(op, made)
    return True


@affine.op("apply", PURE)
class ApplyOp(Op):
    """The value of an affine map: dimensions in round brackets, symbols in square ones."""

    __slots__ = ()

    map = attr(_MAP)
    map_operands = operands(_INDEX)
    out = result(_INDEX)

    assembly = assembly(Custom(_parse_apply, _write_apply, elides=["map"]), AttrDict())
    canonicalizations = (Pattern(_simplify),)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        map = signature.map
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
        (expression,) = partial_constant(self.map, numbers)
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
    """The coordinates, in a grid of the sizes of the basis, of what has a number in row-major order."""

    __slots__ = ()

    linear_index = operand(_INDEX)
    basis = operands(_INDEX)
    multi_index = results(_INDEX)

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
        return [INDEX] * len(signature.basis)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if not signature.basis:
            raise signature.op_error("basis should not be empty")
        if len(signature.basis) != len(signature.result_types):
            raise signature.op_error("should return an index for each basis element")

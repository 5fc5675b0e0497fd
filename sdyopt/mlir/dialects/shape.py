"""The subset of the shape dialect that programs of dynamic shapes use."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.arith.dialect import Constants, FoldResult
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, dictionary
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import ends_with, has_parent
from sdyopt.mlir.ir.op_fields import attr, operand, operands, region, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import (
    ANY_TYPE,
    BOOL_ATTR,
    CONSTANT_LIKE,
    ONE_BLOCK,
    PURE,
    RECURSIVE_EFFECTS,
    TERMINATOR,
    TypeConstraint,
    exactly,
    of_class,
)
from sdyopt.mlir.ir.types import INDEX, RankedTensor, ShapedType, Type
from sdyopt.mlir.ir.value import LazyLocation

shape = DIALECT = Dialect("shape", is_partial=True)
shape.is_inlinable = True


class ShapeType(Type):
    """`!shape.shape`: the shape of a value, or an error."""

    dialect = "shape"


class WitnessType(Type):
    """`!shape.witness`: the evidence that a constraint holds."""

    dialect = "shape"


@shape.type("shape")
def parse_shape_type(parser: AsmParser) -> Type:
    return ShapeType()


@shape.printer(ShapeType)
def print_shape_type(type: ShapeType, attribute_printer: AttributePrinter) -> str:
    return "shape"


@shape.type("witness")
def parse_witness_type(parser: AsmParser) -> Type:
    return WitnessType()


@shape.printer(WitnessType)
def print_witness_type(type: WitnessType, attribute_printer: AttributePrinter) -> str:
    return "witness"


def is_extent_tensor(type: Type) -> bool:
    """Whether a type is a list of sizes: `tensor<?xindex>`, or of known length."""
    return isinstance(type, RankedTensor) and type.rank == 1 and type.element is INDEX


SHAPED = TypeConstraint[Type]("shaped of any type values", lambda type: isinstance(type, ShapedType))
SHAPE = TypeConstraint[Type](
    "shape or extent tensor", lambda type: isinstance(type, ShapeType) or is_extent_tensor(type)
)
WITNESS = exactly(WitnessType(), "witness")
_SIZES = of_class(DenseElements, "index elements attribute")


def sizes_attribute(sizes: Sequence[int]) -> DenseElements:
    """The attribute `dense<sizes> : tensor<…xindex>`."""
    data = b"".join([size.to_bytes(8, "little", signed=True) for size in sizes])
    return dense(RankedTensor((len(sizes),), INDEX), data)


@shape.op("const_shape", CONSTANT_LIKE, PURE)
class ConstShapeOp(Op):
    """A constant shape."""

    shape = attr(_SIZES)
    out = result(SHAPE)

    def _print_sizes(self, printer: OpAsmPrinter) -> None:
        printer.write(" ")
        printer.attribute_dictionary(self, "shape")
        printer.write(f"[{', '.join(map(str, self.shape.values))}] : {printer.type(self.out.type)}")

    @staticmethod
    def _parse_sizes(op_parser: OpAsmParser) -> None:
        op_parser.attribute_dictionary()
        sizes = op_parser.comma_list(op_parser.integer, "[", "]")
        op_parser.attributes["shape"] = sizes_attribute(sizes)
        op_parser.expect(":")
        op_parser.types["out"] = [op_parser.type()]

    assembly = assembly("custom<sizes>", sizes=custom(_parse_sizes, print=_print_sizes))


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not isinstance(value, DenseElements) or not SHAPE.accepts(type):
        return make_constant(value, type, location)
    signature = OpSignature(ConstShapeOp, ConstShapeOp.name, dictionary({"shape": value}), (), (type,))
    return build(signature, (), EMPTY_DICT, location)


shape.materialize_constant = _materialize


@shape.op("const_witness", CONSTANT_LIKE, PURE)
class ConstWitnessOp(Op):
    """A constant witness: whether a constraint holds."""

    passing = attr(BOOL_ATTR)
    out = result(WITNESS)

    assembly = assembly("$passing attr-dict")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [WitnessType()]


@shape.op("shape_of", PURE)
class ShapeOfOp(Op):
    """The shape of a tensor."""

    arg = operand(SHAPED)
    out = result(SHAPE)

    assembly = assembly("$arg attr-dict `:` type($arg) `->` type($out)")

    def fold(self, constants: Constants) -> FoldResult:
        type = self.arg.type
        if not isinstance(type, RankedTensor) or not type.has_static_shape:
            return None
        return [sizes_attribute(type.shape)]


@shape.op("broadcast", PURE)
class BroadcastOp(Op):
    """The shape to which shapes are broadcast."""

    shapes = operands(SHAPE)
    out = result(SHAPE)

    assembly = assembly("$shapes attr-dict `:` type($shapes) `->` type($out)")


@shape.op("cstr_broadcastable")
class CstrBroadcastableOp(Op):
    """Evidence that shapes can be broadcast; an error at run time if they cannot."""

    shapes = operands(SHAPE)
    out = result(WITNESS)

    assembly = assembly("$shapes attr-dict `:` type($shapes)")

    @staticmethod
    def is_effect_free(signature: OpSignature) -> bool:
        return True

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [WitnessType()]


@shape.op("assuming_yield", PURE, has_parent("shape.assuming"), TERMINATOR)
class AssumingYieldOp(Op):
    """Returns the results of the region of `shape.assuming`."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")


@shape.op("assuming", RECURSIVE_EFFECTS, ends_with("shape.assuming_yield", is_implied=True))
class AssumingOp(Op):
    """Executes its region, which may rely on the constraint that the witness is of."""

    witness = operand(WITNESS)
    results_ = results(ANY_TYPE)
    do_region = region(ONE_BLOCK)

    def _print_assuming(self, printer: OpAsmPrinter) -> None:
        if self.results:
            printer.write(f" -> ({printer.types(self.result_types)})")
        printer.write(" ")
        printer.region(self.do_region, print_terminator=bool(self.results))

    @staticmethod
    def _parse_assuming(op_parser: OpAsmParser) -> None:
        accepts = op_parser.accept("->")
        op_parser.types["results_"] = op_parser.comma_list(op_parser.type, "(", ")") if accepts else []
        body = op_parser.region()
        block = body.blocks[0] if body.blocks else body.add_block()
        if block.last is None or not block.last.is_terminator:
            block.append(build(OpSignature(AssumingYieldOp, AssumingYieldOp.name, EMPTY_DICT, (), ()), ()))

    assembly = assembly(
        "$witness custom<body> attr-dict", body=custom(_parse_assuming, print=_print_assuming)
    )

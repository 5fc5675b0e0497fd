"""The irdl dialect object, its types, and the operations that are constraints of attributes and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import UNIT, StringAttr, SymbolRef, Type, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operands, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import SymbolTableOp, lookup_path, lookup_symbol
from sdyopt.mlir.ir.traits import ANY_ATTR, I32_ATTR, STRING_ATTR, UNIT_ATTR, Trait, exactly, of_class
from sdyopt.mlir.ir.types import I32

irdl = Dialect("irdl")


class AttributeType(Type):
    """`!irdl.attribute`: a constraint of an attribute or a type."""

    dialect = "irdl"


class RegionType(Type):
    """`!irdl.region`: a constraint of a region."""

    dialect = "irdl"


ATTRIBUTE_TYPE, REGION_TYPE = AttributeType(), RegionType()
ATTRIBUTE = exactly(ATTRIBUTE_TYPE, "IRDL handle to an `mlir::Attribute`")
_SYMBOL = of_class(SymbolRef, "symbol reference attribute")
REGION = exactly(REGION_TYPE, "IRDL handle to a region definition")


@irdl.type("attribute")
def parse_attribute_type(_parser: AsmParser) -> AttributeType:
    return ATTRIBUTE_TYPE


@irdl.type("region")
def parse_region_type(_parser: AsmParser) -> RegionType:
    return REGION_TYPE


@irdl.printer(AttributeType)
def print_attribute_type(_type: AttributeType, _attribute_printer: AttributePrinter) -> str:
    return "attribute"


@irdl.printer(RegionType)
def print_region_type(_type: RegionType, _attribute_printer: AttributePrinter) -> str:
    return "region"


def in_one_of(*names: str) -> Trait:
    """The parent must be one of these operations."""
    expected = f"'{names[0]}'" if len(names) == 1 else f"to be one of '{', '.join(names)}'"

    def check(op: Op) -> None:
        parent = op.parent_op
        if parent is None or parent.signature.name not in names:
            raise op.op_error(f"expects parent op {expected}")

    return Trait(f"in {names}", verify_in_context=check)


IN_DEFINITION = in_one_of("irdl.type", "irdl.attribute", "irdl.operation")
IN_OPERATION = in_one_of("irdl.operation")


class Constraint(Op):
    """Base of the constraints of attributes and types."""

    output = result(ATTRIBUTE)

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [ATTRIBUTE_TYPE]


@irdl.op("is", IN_DEFINITION)
class IsOp(Constraint):
    """Exactly one attribute or type."""

    expected = attr(ANY_ATTR)

    assembly = assembly("$expected ` ` attr-dict")


@irdl.op("any", IN_DEFINITION)
class AnyOp(Constraint):
    """Any attribute or type."""

    assembly = assembly("attr-dict")


class _Alternatives(Constraint):
    args = operands(ATTRIBUTE)

    assembly = assembly("`(` $args `)` ` ` attr-dict")


@irdl.op("any_of", IN_DEFINITION)
class AnyOfOp(_Alternatives):
    """At least one of several constraints."""


@irdl.op("all_of", IN_DEFINITION)
class AllOfOp(_Alternatives):
    """All of several constraints."""


@irdl.op("c_pred", IN_DEFINITION)
class CPredOp(Constraint):
    """A predicate in C++, which is not checked."""

    pred = attr(STRING_ATTR)

    assembly = assembly("$pred ` ` attr-dict")


@irdl.op("base", IN_DEFINITION)
class BaseOp(Constraint):
    """An attribute or type of a definition, or of a name such as `!builtin.integer`."""

    base_ref = optional_attr(_SYMBOL)
    base_name = optional_attr(STRING_ATTR)

    def _print_base(self, printer: OpAsmPrinter) -> None:
        for name in ("base_ref", "base_name"):
            if (value := self.signature.attributes.get(name)) is not None:
                printer.write(f" {printer.attribute(value)}")
        printer.write(" ")
        printer.attribute_dictionary(self, "base_ref", "base_name")

    @staticmethod
    def _parse_base(op_parser: OpAsmParser) -> None:
        if op_parser.looking_at("@"):
            op_parser.attributes["base_ref"] = op_parser.attribute()
        elif (name := op_parser.accept_string()) is not None:
            op_parser.attributes["base_name"] = string(name)
        op_parser.attribute_dictionary()

    assembly = assembly("custom<base>", base=custom(_parse_base, print=_print_base))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        name = signature.attributes.get("base_name")
        if (name is None) is (signature.attributes.get("base_ref") is None):
            raise signature.op_error(
                "the base type or attribute should be specified by either a name or a reference"
            )
        if isinstance(name, StringAttr) and not name.value.startswith(("!", "#")):
            raise signature.op_error("the base type or attribute name should start with '!' or '#'")

    def verify_symbol_uses(self) -> None:
        reference = self.signature.attributes.get("base_ref")
        if isinstance(reference, SymbolRef):
            check_definition(self, reference)


@irdl.op("parametric", IN_DEFINITION)
class ParametricOp(Constraint):
    """An attribute or type of a definition, with constraints of its parameters."""

    base_type = attr(_SYMBOL)
    args = operands(ATTRIBUTE)

    assembly = assembly("$base_type `<` $args `>` ` ` attr-dict")

    def verify_symbol_uses(self) -> None:
        reference = self.signature.attributes.get("base_type")
        assert isinstance(reference, SymbolRef)
        check_definition(self, reference)


def check_definition(op: Op, reference: SymbolRef) -> None:
    """Raises unless a symbol is the definition of an attribute or a type."""
    target = definition_of(op, reference)
    text = AttributePrinter().attribute(reference)
    if target is None:
        raise op.op_error(f"symbol '{text}' not found")
    if target.signature.name not in ("irdl.type", "irdl.attribute"):
        raise op.op_error(
            f"symbol '{text}' does not refer to a type or attribute definition (refers to "
            f"'{target.signature.name}')"
        )


def definition_of(op: Op, reference: SymbolRef) -> Op | None:
    """The operation that defines a symbol, seen from the dialect or from around it; None without one."""
    dialect: Op | None = op
    while dialect is not None and dialect.signature.name != "irdl.dialect":
        dialect = dialect.parent_op
    outer = None if dialect is None else dialect.parent_op
    path = [] if outer is None else lookup_path(cast(SymbolTableOp, outer), reference)
    is_complete = len(path) == 1 + len(reference.nested)
    return path[-1] if is_complete else lookup_symbol(op, reference)


@irdl.op("region", IN_OPERATION)
class RegionOp(Op):
    """The arguments of a region's entry block, and the number of its blocks."""

    args = operands(ATTRIBUTE)
    number_of_blocks = optional_attr(I32_ATTR, name="numberOfBlocks")
    constrained = optional_attr(UNIT_ATTR, name="constrainedArguments")
    output = result(REGION)

    def _print_region(self, printer: OpAsmPrinter) -> None:
        if self.constrained:
            printer.write(f"({printer.name_list(self.args)})")
        if self.number_of_blocks is not None:
            printer.write(f" with size {self.number_of_blocks}")
        printer.attribute_dictionary(self, "constrainedArguments", "numberOfBlocks")

    @staticmethod
    def _parse_region(op_parser: OpAsmParser) -> None:
        op_parser.operand_names["args"] = []
        if op_parser.accept("("):
            op_parser.attributes["constrainedArguments"] = UNIT
            if not op_parser.looking_at(")"):
                op_parser.operand_names["args"] = op_parser.operand_list()
            op_parser.expect(")")
        if op_parser.accept("with"):
            op_parser.expect("size")
            op_parser.attributes["numberOfBlocks"] = integer(op_parser.integer(), I32)
        op_parser.attribute_dictionary()
        op_parser.types["args"] = [ATTRIBUTE_TYPE] * len(op_parser.operand_names["args"])

    assembly = assembly("custom<region>", region=custom(_parse_region, print=_print_region))

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [REGION_TYPE]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        count = signature[RegionOp.number_of_blocks]
        if count is not None and count < 1:
            raise signature.op_error(f"the number of blocks is expected to be >= 1 but got {count}")

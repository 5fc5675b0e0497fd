"""The operations of irdl that define dialects, attributes, types, operations and their parts."""

from __future__ import annotations

from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import quote
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter, name_text
from sdyopt.mlir.dialects.irdl.constraints import (
    ATTRIBUTE,
    ATTRIBUTE_TYPE,
    IN_OPERATION,
    REGION,
    REGION_TYPE,
    in_one_of,
    irdl,
)
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, StringAttr, Type, array, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import attr, operands, region
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE, SymbolTableOp
from sdyopt.mlir.ir.traits import ARRAY_ATTR, NO_TERMINATOR, ONE_BLOCK, STRING_ATTR, SYMBOL, Trait, of_class

SINGLE, OPTIONAL, VARIADIC = "single", "optional", "variadic"


class Variadicities(Attribute):
    """`#irdl<variadicity_array[ single,  variadic]>`: how many values each name is for."""

    kinds: tuple[str, ...]

    dialect = "irdl"


@irdl.attribute("variadicity_array")
def parse_variadicities(parser: AsmParser) -> Variadicities:
    def kind() -> str:
        offset = parser.skip_trivia()
        keyword = parser.accept_keyword()
        if keyword not in (SINGLE, OPTIONAL, VARIADIC):
            raise parser.error(
                "expected ::mlir::irdl::Variadicity to be one of: single, optional, variadic", offset
            )
        return keyword

    return Variadicities(tuple(parser.comma_list(kind, "[", "]")))


@irdl.printer(Variadicities)
def print_variadicities(attribute: Variadicities, _attribute_printer: AttributePrinter) -> str:
    return f"variadicity_array[{', '.join(f' {kind}' for kind in attribute.kinds)}]"


def check_name(signature: OpSignature, name: str, label: str) -> None:
    """Raises unless a name is a valid one of a `label`."""
    for index, character in enumerate(name):
        if character == "_" and (not index or name[index - 1] == "_"):
            raise signature.error(f"name of {label} should not contain leading or double underscores")
        if character != "_" and not (character.isascii() and character.isalnum()):
            raise signature.error(
                f"name of {label} must contain only lowercase letters, digits and underscores"
            )
        if character.isupper():
            raise signature.error(f"name of {label} should not contain uppercase letters")


# --- Dialects, types, attributes and operations -----------------------------------------------


class Definition(Op):
    """Base of the operations that define a symbol in a region without terminator."""

    sym_name = attr(STRING_ATTR)
    body = region(ONE_BLOCK)

    def _print_definition(self, printer: OpAsmPrinter) -> None:
        printer.write(f" @{name_text(self.sym_name)}")
        printer.attribute_dictionary(self, "sym_name", with_keyword=True)
        printer.write(" ")
        if self.body.blocks[0].first is not None:
            printer.region(self.body)

    @staticmethod
    def _parse_definition(op_parser: OpAsmParser) -> None:
        op_parser.attributes["sym_name"] = string(op_parser.symbol())
        op_parser.attribute_dictionary_with_keyword()
        if op_parser.looking_at("{"):
            body = op_parser.region()
        else:
            body = Region()
            op_parser.regions.append(body)
        if not body.blocks:
            body.add_block()

    assembly = assembly("custom<definition>", definition=custom(_parse_definition, print=_print_definition))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        check_name(signature, signature[Definition.sym_name], op_class.name.partition(".")[2])


_IN_DIALECT = in_one_of("irdl.dialect")


@irdl.op("dialect", SYMBOL, SYMBOL_TABLE, NO_TERMINATOR)
class DialectOp(Definition, SymbolTableOp):
    """A dialect."""


def _at_most_one(name: str) -> Trait:
    def check(op: Op) -> None:
        blocks = op.regions[0].blocks
        if blocks and sum(inner.signature.name == name for inner in blocks[0].ops) > 1:
            raise op.error(
                "failed to verify AtMostOneChildOf trait: the operation contains at least two operations of "
                f"type {name}"
            )

    return Trait(f"at most one {name}", verify_in_context=check)


@irdl.op("type", SYMBOL, NO_TERMINATOR, _IN_DIALECT, _at_most_one("irdl.parameters"))
class TypeOp(Definition):
    """A type."""


@irdl.op("attribute", SYMBOL, NO_TERMINATOR, _IN_DIALECT, _at_most_one("irdl.parameters"))
class AttributeOp(Definition):
    """An attribute."""


_PARTS = ("operands", "results", "attributes", "regions")


@irdl.op("operation", SYMBOL, NO_TERMINATOR, _IN_DIALECT, *(_at_most_one(f"irdl.{part}") for part in _PARTS))
class OperationOp(Definition):
    """An operation."""

    def verify_regions(self) -> None:
        names: dict[str, str] = {}
        for kind in (OperandsOp, ResultsOp, RegionsOp):
            part = next((op for op in self.body.blocks[0].ops if isinstance(op, kind)), None)
            for name in () if part is None else names_of(part):
                if (other := names.setdefault(name, kind.plural)) != kind.plural:
                    first, second = (kind.plural, other) if kind is RegionsOp else (other, kind.plural)
                    raise self.op_error(f"contains a value named '{name}' for both its {first} and {second}")


# --- Their parts ------------------------------------------------------------------------------


def names_of(op: Op) -> list[str]:
    """The names that an operation gives to constraints."""
    names = op.signature.attributes.get("names")
    elements = names.elements if isinstance(names, ArrayAttr) else ()
    return [name.value for name in elements if isinstance(name, StringAttr)]


class NamedConstraints(Op):
    """Base of the operations that give names to constraints: `irdl.operands(x: %0, y: variadic %1)`."""

    names = attr(ARRAY_ATTR)

    singular: ClassVar[str]
    plural: ClassVar[str]
    has_variadicity: ClassVar[bool] = False
    argument_type: ClassVar[Type] = ATTRIBUTE_TYPE

    def _print_named(self, printer: OpAsmPrinter) -> None:
        kinds = self.signature.attributes.get("variadicity")
        words = kinds.kinds if isinstance(kinds, Variadicities) else (SINGLE,) * len(self.operands)
        entries = [
            f"{name}: {'' if word == SINGLE else f'{word} '}{printer.name(value)}"
            for name, word, value in zip(names_of(self), words, self.operands, strict=True)
        ]
        printer.write(f"({', '.join(entries)})")
        printer.attribute_dictionary(self, "names", "variadicity")

    @staticmethod
    def _parse_named(op_parser: OpAsmParser) -> None:
        op_class = op_parser.op_class
        assert issubclass(op_class, NamedConstraints)
        names: list[str] = []
        kinds: list[str] = []
        op_parser.operand_names["args"] = []

        def entry() -> None:
            offset = op_parser.skip_trivia()
            name = op_parser.accept_keyword()
            if name is None:
                raise op_parser.error("expected valid keyword", offset)
            names.append(name)
            op_parser.expect(":")
            kind = SINGLE
            if op_class.has_variadicity:
                kind = next((k for k in (SINGLE, OPTIONAL, VARIADIC) if op_parser.accept(k)), SINGLE)
            kinds.append(kind)
            op_parser.operand_names["args"].append(op_parser.operand())

        op_parser.comma_list(entry, "(", ")")
        op_parser.attribute_dictionary()
        op_parser.attributes["names"] = array([string(name) for name in names])
        if op_class.has_variadicity:
            op_parser.attributes["variadicity"] = Variadicities(tuple(kinds))
        op_parser.types["args"] = [op_class.argument_type] * len(names)

    assembly = assembly("custom<named>", named=custom(_parse_named, print=_print_named))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        assert issubclass(op_class, NamedConstraints)
        names = [
            name.value for name in signature[NamedConstraints.names].elements if isinstance(name, StringAttr)
        ]
        count, singular = len(signature.operand_types), op_class.singular
        kinds = signature.attributes.get("variadicity")
        if isinstance(kinds, Variadicities) and len(kinds.kinds) != count:
            raise signature.op_error(
                f"the number of {op_class.plural} and their variadicities must be the same, but got {count} "
                f"and {len(kinds.kinds)} respectively"
            )
        if len(names) != count:
            raise signature.op_error(
                f"the number of {op_class.plural} and their names must be the same, but got {count} and "
                f"{len(names)} respectively"
            )
        for index, name in enumerate(names):
            check_name(signature, name, f"{singular} #{index}")
            if (first := names.index(name)) < index:
                raise signature.op_error(
                    f"name of {singular} #{index} is a duplicate of the name of {singular} #{first}"
                )


@irdl.op("parameters", in_one_of("irdl.attribute", "irdl.type"))
class ParametersOp(NamedConstraints):
    """The parameters of an attribute or a type."""

    args = operands(ATTRIBUTE)
    singular, plural = "parameter", "parameters"


_VARIADICITY = of_class(Variadicities, "array of variadicities")


@irdl.op("operands", IN_OPERATION)
class OperandsOp(NamedConstraints):
    """The operands of an operation."""

    args = operands(ATTRIBUTE)
    variadicity = attr(_VARIADICITY)
    singular, plural, has_variadicity = "operand", "operands", True


@irdl.op("results", IN_OPERATION)
class ResultsOp(NamedConstraints):
    """The results of an operation."""

    args = operands(ATTRIBUTE)
    variadicity = attr(_VARIADICITY)
    singular, plural, has_variadicity = "result", "results", True


@irdl.op("regions", IN_OPERATION)
class RegionsOp(NamedConstraints):
    """The regions of an operation."""

    args = operands(REGION)
    singular, plural, argument_type = "region", "regions", REGION_TYPE


@irdl.op("attributes", IN_OPERATION)
class AttributesOp(Op):
    """The attributes that an operation must have."""

    args = operands(ATTRIBUTE)
    value_names = attr(ARRAY_ATTR, name="attributeValueNames")

    def _print_attributes(self, printer: OpAsmPrinter) -> None:
        names = [name.value for name in self.value_names.elements if isinstance(name, StringAttr)]
        if names:
            entries = [f"{quote(n)} = {printer.name(v)}" for n, v in zip(names, self.operands, strict=True)]
            printer.write(f" {{{', '.join(entries)}}}")
        printer.attribute_dictionary(self, "attributeValueNames")

    @staticmethod
    def _parse_attributes(op_parser: OpAsmParser) -> None:
        names: list[Attribute] = []
        op_parser.operand_names["args"] = []

        def entry() -> None:
            names.append(string(op_parser.string()))
            op_parser.expect("=")
            op_parser.operand_names["args"].append(op_parser.operand())

        if op_parser.looking_at("{"):
            op_parser.comma_list(entry, "{", "}")
        op_parser.attribute_dictionary()
        op_parser.attributes["attributeValueNames"] = array(names)
        op_parser.types["args"] = [ATTRIBUTE_TYPE] * len(names)

    assembly = assembly("custom<attributes>", attributes=custom(_parse_attributes, print=_print_attributes))

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        names, count = len(signature[AttributesOp.value_names].elements), len(signature.operand_types)
        if names != count:
            raise signature.op_error(
                "the number of attribute names and their constraints must be the same but got "
                f"{names} and {count} respectively"
            )

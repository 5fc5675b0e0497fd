"""linalg.generic."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import WRONG_KEYWORD, AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.linalg.structured import (
    MAPS,
    StructuredOp,
    check_results,
    check_structure,
    linalg,
    parse_operands,
    parse_result_types,
    print_operands,
    result_types,
)
from sdyopt.mlir.ir.affine import AffineMapAttr
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr, StringAttr, array, dictionary, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.constraints import ARRAY_ATTR, STRING_ATTR
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import attr, optional_attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE
from sdyopt.mlir.ir.value import BlockArgument


class KeywordAttr(Attribute):
    """`#linalg.mnemonic<keyword>`."""

    kind: str

    dialect = "linalg"
    mnemonic: ClassVar[str]


K = TypeVar("K", bound=type[KeywordAttr])


def keyword_attribute(mnemonic: str, cpp_type: str, *keywords: str) -> Callable[[K], K]:
    """Decorator of a class: registers it with its keywords."""

    def register(cls: K) -> K:
        cls.mnemonic = mnemonic

        def parse(parser: AsmParser) -> KeywordAttr:
            parser.expect("<")
            offset = parser.skip_trivia()
            keyword = parser.keyword()
            if keyword not in keywords:
                error = parser.error(WRONG_KEYWORD(what=cpp_type, names=", ".join(keywords)), offset)
                failed = f"failed to parse {cls.__name__}Attr parameter 'value' which is to be a `{cpp_type}`"
                raise error.then(parser.error(failed))
            parser.expect(">")
            return cls(keyword)

        linalg.attribute(mnemonic)(parse)
        linalg.printer(cls)(lambda attribute, _attribute_printer: f"{mnemonic}<{attribute.kind}>")
        return cls

    return register


_ITERATOR_TYPES = ("parallel", "reduction", "window")


@keyword_attribute("iterator_type", "::mlir::utils::IteratorType", *_ITERATOR_TYPES)
class IteratorType(KeywordAttr):
    """`#linalg.iterator_type<parallel>`: how the iterations along a dimension depend on each other."""


_GENERIC_ATTRIBUTES = ("doc", "indexing_maps", "iterator_types", "library_call")


@linalg.op("generic", ATTR_SIZED_OPERANDS, PURE, SINGLE_BLOCK)
class GenericOp(StructuredOp):
    """Computes each element of the outputs with a region, from the elements that the indexing maps select."""

    indexing_maps = attr(MAPS)
    iterator_types = attr(ARRAY_ATTR)
    doc = optional_attr(STRING_ATTR)
    library_call = optional_attr(STRING_ATTR)

    def _print_generic(self, printer: OpAsmPrinter) -> None:
        shown: dict[str, Attribute] = {}
        for name in _GENERIC_ATTRIBUTES:
            value = self.signature.attributes.get(name)
            if name == "iterator_types" and isinstance(value, ArrayAttr):
                value = array([string(e.kind) if isinstance(e, IteratorType) else e for e in value.elements])
            if value is not None:
                shown[name] = value
        printer.dictionary(dictionary(shown))
        print_operands(self, printer)
        if self.attributes.entries:
            printer.write(" attrs = ")
            printer.dictionary(self.attributes)
        printer.write(" ")
        printer.region(self.body, print_arguments=True)
        if self.results:
            printer.write(f" -> {result_types(self, printer)}")

    @staticmethod
    def _parse_generic(op_parser: OpAsmParser) -> None:
        offset = op_parser.skip_trivia()
        given = op_parser.attribute()
        if not isinstance(given, DictAttr):
            raise op_parser.error("invalid kind of attribute specified", offset)
        if not isinstance(given.get("iterator_types"), ArrayAttr):
            raise op_parser.error('expected "iterator_types" array attribute')
        for name, value in given.entries:
            if name == "iterator_types" and isinstance(value, ArrayAttr):
                for word in [e.value for e in value.elements if isinstance(e, StringAttr)]:
                    if word not in _ITERATOR_TYPES:
                        raise op_parser.error(f"unexpected iterator_type ({word})")
                kinds = [IteratorType(e.value) if isinstance(e, StringAttr) else e for e in value.elements]
                op_parser.attributes[name] = array(kinds)
            elif name in _GENERIC_ATTRIBUTES:
                op_parser.attributes[name] = value
            else:
                op_parser.dictionary_attributes[name] = value
        parse_operands(op_parser)
        if op_parser.accept("attrs"):
            op_parser.expect("=")
            op_parser.attribute_dictionary()
        op_parser.region()
        op_parser.types["results_"] = parse_result_types(op_parser)

    assembly = assembly("custom<format>", format=custom(_parse_generic, print=_print_generic))

    def name_arguments(self, region: Region) -> list[tuple[BlockArgument, str]]:
        count = len(self.inputs)
        return [
            (argument, "in" if index < count else "out")
            for block in region.blocks[:1]
            for index, argument in enumerate(block.arguments)
        ]

    @property
    def maps(self) -> list[AffineMapAttr]:
        """The indexing map of each operand."""
        return [map for map in self.indexing_maps.elements if isinstance(map, AffineMapAttr)]

    @property
    def iterators(self) -> list[str]:
        """The kind of each iterator."""
        return [kind.kind for kind in self.iterator_types.elements if isinstance(kind, IteratorType)]

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_results(signature, len(signature[GenericOp.inputs]))
        maps = [map for map in signature[GenericOp.indexing_maps].elements if isinstance(map, AffineMapAttr)]
        check_structure(signature, maps, len(signature[GenericOp.iterator_types].elements))

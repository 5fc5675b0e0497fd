"""The linalg dialect object, linalg.yield, and the base class of named operations.

The region of a named operation is implied by its name and operand types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr, Attribute
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.constraints import ANY_TYPE, ONE_BLOCK, AttrConstraint, TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import operands, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, build
from sdyopt.mlir.ir.traits import PURE, TERMINATOR
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    MemRefType,
    RankedShapedType,
    RankedTensor,
    Type,
    UnrankedMemRef,
    element_of,
)
from sdyopt.mlir.ir.value import Value

linalg = DIALECT = Dialect("linalg", is_partial=True)
linalg.materialize_constant = make_constant
linalg.is_inlinable = True

INDEXING_MAPS = "linalg.memoized_indexing_maps"
TENSOR = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)
MAPS = AttrConstraint[ArrayAttr](
    "AffineMap array attribute",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, AffineMapAttr) for e in a.elements),
    lambda a: a,
    lambda a: isinstance(a, ArrayAttr),
)


class UnsupportedElementError(Exception):
    """A named operation has no body for elements of these types."""


@linalg.op("yield", PURE, TERMINATOR)
class YieldOp(Op):
    """Terminates the region of a named operation, and yields one element of the operation's result."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")


def parse_operands(op_parser: OpAsmParser) -> None:
    """Parses `ins(%a : type) outs(%b : type)`."""
    for word, field in (("ins", "inputs"), ("outs", "outputs")):
        op_parser.operand_names[field] = []
        op_parser.types[field] = []
        if not op_parser.accept(word):
            continue
        op_parser.expect("(")
        op_parser.operand_names[field] = op_parser.operand_list()
        op_parser.expect(":")
        op_parser.types[field] = op_parser.comma_list(op_parser.type)
        op_parser.expect(")")


def parse_result_types(op_parser: OpAsmParser) -> list[Type]:
    """Parses `-> type`, `-> (types)` or nothing."""
    if not op_parser.accept("->"):
        return []
    if op_parser.looking_at("("):
        return op_parser.comma_list(op_parser.type, "(", ")")
    return op_parser.comma_list(op_parser.type)


def _parse(op_parser: OpAsmParser) -> None:
    offset = op_parser.skip_trivia()
    op_parser.check_attributes(op_parser.attribute_dictionary(), offset)
    parse_operands(op_parser)
    op_parser.types["results_"] = parse_result_types(op_parser)
    parse_implied_body(op_parser, offset)


def parse_implied_body(op_parser: OpAsmParser, offset: int) -> None:
    """Adds the region that is implied by the name, the types of the operands and the attributes."""
    op_class = op_parser.op_class
    assert issubclass(op_class, NamedOp)
    types = [*op_parser.types["inputs"], *op_parser.types["outputs"]]
    attributes = {**op_parser.attributes, **op_parser.dictionary_attributes}
    count = op_class.arguments_for(attributes)
    if len(types) != count:
        raise op_parser.error(
            f"[parseNamedStructuredOpRegion] ods-gen generated region expects {count} args, got {len(types)}",
            op_parser.offset,
        )
    try:
        op_parser.regions.append(op_class.body_for(types, attributes))
    except UnsupportedElementError as error:
        raise op_parser.error(str(error), offset) from None
    op_class.add_indexing_maps(op_parser)


def _print(op: NamedOp, printer: OpAsmPrinter) -> None:
    printer.attribute_dictionary(op, INDEXING_MAPS)
    print_operands(op, printer)
    if op.results:
        printer.write(f" -> {result_types(op, printer)}")


def print_operands(op: StructuredOp, printer: OpAsmPrinter) -> None:
    for word, values in (("ins", op.inputs), ("outs", op.outputs)):
        if values:
            types = printer.types([value.type for value in values])
            printer.write(f" {word}({printer.name_list(values)} : {types})")


def result_types(op: Op, printer: OpAsmPrinter) -> str:
    types = printer.types(op.result_types)
    return types if len(op.results) == 1 else f"({types})"


def has_no_memref(signature: OpSignature) -> bool:
    """Whether an operation reads and writes no buffers, so that it has no effects."""
    return not any(isinstance(type, MemRefType | UnrankedMemRef) for type in signature.operand_types)


class StructuredOp(Op):
    """Base of the operations on inputs and init values, with a region that computes one element."""

    inputs = operands(ANY_TYPE)
    outputs = operands(ANY_TYPE)
    results_ = results(TENSOR)
    body = region(ONE_BLOCK)

    is_effect_free = staticmethod(has_no_memref)


class NamedOp(StructuredOp):
    """Base of the named operations, whose region is implied."""

    # The number of arguments of the region: one for each operand.
    body_arguments: ClassVar[int]
    # The attributes that are written before the dictionary.
    printed_first: ClassVar[tuple[str, ...]] = ()

    assembly = assembly("custom<format>", format=custom(_parse, print=_print))

    @staticmethod
    def body_for(types: list[Type], attributes: dict[str, Attribute]) -> Region:
        """Builds the region for operands of these types and for these attributes."""
        raise NotImplementedError

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        """The indexing maps of the operands; empty if they are not known."""
        maps = signature.attributes.get("indexing_maps")
        elements = maps.elements if isinstance(maps, ArrayAttr) else ()
        return [map for map in elements if isinstance(map, AffineMapAttr)]

    def maps_by_default(self) -> list[AffineMapAttr]:
        """The indexing maps of an operation without the attribute, which the custom form does not show."""
        return []

    @classmethod
    def arguments_for(cls, attributes: Mapping[str, Attribute]) -> int:
        """The number of arguments of the region of an operation with these attributes."""
        return cls.body_arguments

    @classmethod
    def takes_maps(cls, op_parser: OpAsmParser) -> bool:
        """Parses what precedes `= [maps]`, and returns whether that is next."""
        return op_parser.accept("indexing_maps")

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        """Adds the indexing maps as an attribute, for operations that memoize them."""

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_results(signature, signature[NamedOp.outputs])
        op_class = signature.op_class
        assert issubclass(op_class, NamedOp)
        count = op_class.arguments_for(dict(signature.attributes.entries))
        if len(signature.operand_types) != count:
            raise signature.op_error(
                f"expected the number of indexing_map ({count}) to be equal to the number of input/output "
                f"operands ({len(signature.operand_types)})"
            )
        check_shapes(signature, op_class.maps_for(signature))

    def verify_regions(self) -> None:
        check_body(self, self.body)


def check_results(signature: OpSignature, outputs: Sequence[Type]) -> None:
    """Raises unless the results have the types of the output tensors."""
    init_types = [type for type in outputs if isinstance(type, RankedTensor)]
    if len(signature.result_types) != len(init_types):
        raise signature.op_error(
            "expected the number of tensor results to be equal to the number of output tensors"
        )
    for init, result in zip(init_types, signature.result_types, strict=True):
        if init is not result:
            raise signature.op_error("expected type of operand to match type of corresponding result")


def check_shapes(signature: OpSignature, maps: Sequence[AffineMapAttr]) -> None:
    """Raises unless the sizes of all operands fit the loops, which the first operand with a dimension gives.

    As in C++, only if the sizes of all loops are static.
    """
    shapes = [type.shape if isinstance(type, RankedShapedType) else () for type in signature.operand_types]
    loops: dict[int, int] = {}
    for map, shape in zip(maps, shapes, strict=False):
        for result, size in zip(map.results, shape, strict=False):
            if isinstance(result, AffineDim):
                loops.setdefault(result.position, size)
    if DYNAMIC in loops.values():
        return
    for number, (map, shape) in enumerate(zip(maps, shapes, strict=False)):
        for dimension, (result, size) in enumerate(zip(map.results, shape, strict=False)):
            if size in (DYNAMIC, 0) or not isinstance(result, AffineDim):
                continue
            if loops[result.position] != size:
                raise signature.op_error(
                    f"inferred input/output operand #{number} has shape's dimension #{dimension} to be "
                    f"{loops[result.position]}, but found {size}"
                )


def check_body(op: Op, body: Region) -> None:
    """Raises unless the region has an argument of each operand's element type."""
    arguments = body.blocks[0].arguments
    if len(arguments) != len(op.operands):
        raise op.op_error(
            "expected as many non-induction variable region arguments as the number of input/output operands"
        )
    for index, (argument, operand) in enumerate(zip(arguments, op.operands, strict=True)):
        if argument.type is not element_of(operand.type):
            raise op.op_error(
                f"expected type of bb argument #{index} to match element or self type of the "
                "corresponding operand"
            )


def make_body(types: list[Type], build_result: Callable[[Block, list[Value]], Value]) -> Region:
    """A region with an argument of each operand's element type; it yields the value from `build_result`."""
    region = Region()
    block = region.add_block()
    arguments: list[Value] = [block.add_argument(element_of(type), UNKNOWN) for type in types]
    result = build_result(block, arguments)
    block.append(build(OpSignature(YieldOp, YieldOp.name, EMPTY_DICT, (result.type,), ()), [result]))
    return region

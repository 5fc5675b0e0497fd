"""The subset of the linalg dialect that programs of the mesh dialect use: matmul, fill, generic, yield.

The region of a named operation is implied by its name and operand types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.arith.dialect import NO_FAST_MATH, NO_OVERFLOW
from sdyopt.mlir.dialects.arith.floats import AddFOp, MulFOp
from sdyopt.mlir.dialects.arith.integers import AddIOp, MulIOp
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr, Attribute, StringAttr, array, dictionary, string
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.constraints import ANY_TYPE, ARRAY_ATTR, ONE_BLOCK, STRING_ATTR, TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operands, optional_attr, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, build
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR
from sdyopt.mlir.ir.types import FloatType, RankedTensor, Type, element_of
from sdyopt.mlir.ir.value import BlockArgument, Value

linalg = DIALECT = Dialect("linalg", is_partial=True)
linalg.materialize_constant = make_constant
linalg.is_inlinable = True

_INDEXING_MAPS = "linalg.memoized_indexing_maps"
_TENSOR = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)


@linalg.op("yield", PURE, TERMINATOR)
class YieldOp(Op):
    """Terminates the region of a named operation, and yields one element of the operation's result."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")


def _parse_operands(op_parser: OpAsmParser) -> None:
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


def _parse_result_types(op_parser: OpAsmParser) -> list[Type]:
    """Parses `-> type`, `-> (types)` or nothing."""
    if not op_parser.accept("->"):
        return []
    if op_parser.looking_at("("):
        return op_parser.comma_list(op_parser.type, "(", ")")
    return op_parser.comma_list(op_parser.type)


def _parse(op_parser: OpAsmParser) -> None:
    op_parser.attribute_dictionary()
    _parse_operands(op_parser)
    op_parser.types["results_"] = _parse_result_types(op_parser)
    op_class = op_parser.op_class
    assert issubclass(op_class, NamedOp)
    types = [*op_parser.types["inputs"], *op_parser.types["outputs"]]
    if len(types) != op_class.body_arguments:
        raise op_parser.error(
            "[parseNamedStructuredOpRegion] ods-gen generated region expects "
            f"{op_class.body_arguments} args, got {len(types)}",
            op_parser.offset,
        )
    op_parser.regions.append(op_class.body_for(types))
    op_class.add_indexing_maps(op_parser)


def _print(op: NamedOp, printer: OpAsmPrinter) -> None:
    printer.attribute_dictionary(op, _INDEXING_MAPS)
    _print_operands(op, printer)
    if op.results:
        printer.write(f" -> {_result_types(op, printer)}")


def _print_operands(op: NamedOp | GenericOp, printer: OpAsmPrinter) -> None:
    for word, values in (("ins", op.inputs), ("outs", op.outputs)):
        if values:
            types = printer.types([value.type for value in values])
            printer.write(f" {word}({printer.name_list(values)} : {types})")


def _result_types(op: Op, printer: OpAsmPrinter) -> str:
    types = printer.types(op.result_types)
    return types if len(op.results) == 1 else f"({types})"


class NamedOp(Op):
    """Base of the named operations: inputs, init values, and a region that computes one element."""

    inputs = operands(ANY_TYPE)
    outputs = operands(ANY_TYPE)
    results_ = results(_TENSOR)
    body = region(ONE_BLOCK)

    # The number of arguments of the region: one for each operand.
    body_arguments: ClassVar[int]

    assembly = assembly("custom<format>", format=custom(_parse, print=_print))

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        """Builds the region for operands of these types."""
        raise NotImplementedError

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        """Adds the indexing maps as an attribute, for operations that memoize them."""

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        _check_results(signature, signature[NamedOp.outputs])
        op_class = signature.op_class
        assert issubclass(op_class, NamedOp)
        if len(signature.operand_types) != op_class.body_arguments:
            raise signature.op_error(
                f"expected the number of indexing_map ({op_class.body_arguments}) to be equal to the number "
                f"of input/output operands ({len(signature.operand_types)})"
            )

    def verify_regions(self) -> None:
        _check_body(self, self.body)


def _check_results(signature: OpSignature, outputs: Sequence[Type]) -> None:
    """Raises unless the results have the types of the output tensors."""
    init_types = [type for type in outputs if isinstance(type, RankedTensor)]
    if len(signature.result_types) != len(init_types):
        raise signature.op_error(
            "expected the number of tensor results to be equal to the number of output tensors"
        )
    for init, result in zip(init_types, signature.result_types, strict=True):
        if init is not result:
            raise signature.op_error("expected type of operand to match type of corresponding result")


def _check_body(op: Op, body: Region) -> None:
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


def _append_binary(block: Block, op_class: type[Op], values: list[Value]) -> Value:
    type = values[0].type
    is_float = isinstance(type, FloatType)
    flags = dictionary({"fastmath": NO_FAST_MATH} if is_float else {"overflowFlags": NO_OVERFLOW})
    op = build(OpSignature(op_class, op_class.name, flags, (type, type), (type,)), values)
    block.append(op)
    return op.results[0]


def _multiply_and_add(block: Block, values: list[Value]) -> Value:
    lhs, rhs, accumulator = values
    is_float = isinstance(lhs.type, FloatType)
    product = _append_binary(block, MulFOp if is_float else MulIOp, [lhs, rhs])
    return _append_binary(block, AddFOp if is_float else AddIOp, [accumulator, product])


def _indexing_map(*dims: int) -> AffineMapAttr:
    return AffineMapAttr(3, 0, tuple(AffineDim(dim) for dim in dims))


@linalg.op("matmul", ATTR_SIZED_OPERANDS, PURE)
class MatmulOp(NamedOp):
    """Adds the matrix product of the inputs to the init: `c[m, n] += a[m, k] * b[k, n]`."""

    body_arguments = 3

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, _multiply_and_add)

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        op_parser.dictionary_attributes[_INDEXING_MAPS] = array(
            [_indexing_map(0, 2), _indexing_map(2, 1), _indexing_map(0, 1)]
        )


@linalg.op("fill", ATTR_SIZED_OPERANDS, PURE)
class FillOp(NamedOp):
    """Fills a tensor with a scalar."""

    body_arguments = 2

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, lambda block, arguments: arguments[0])


# --- linalg.generic ---------------------------------------------------------------------------


class IteratorType(Attribute):
    """`#linalg.iterator_type<parallel>`: how the iterations along a dimension depend on each other."""

    kind: str

    dialect = "linalg"


_KINDS = ("parallel", "reduction", "window")


@linalg.attribute("iterator_type")
def _parse_iterator_type(parser: AsmParser) -> IteratorType:
    parser.expect("<")
    offset = parser.skip_trivia()
    kind = parser.keyword()
    if kind not in _KINDS:
        message = f"expected ::mlir::utils::IteratorType to be one of: {', '.join(_KINDS)}"
        raise parser.error(message, offset)
    parser.expect(">")
    return IteratorType(kind)


@linalg.printer(IteratorType)
def _print_iterator_type(attribute: IteratorType, _attribute_printer: AttributePrinter) -> str:
    return f"iterator_type<{attribute.kind}>"


def _parse_generic(op_parser: OpAsmParser) -> None:
    for name, value in (op_parser.accept_dictionary() or EMPTY_DICT).entries:
        if name == "iterator_types" and isinstance(value, ArrayAttr):
            kinds = [IteratorType(e.value) if isinstance(e, StringAttr) else e for e in value.elements]
            op_parser.attributes[name] = array(kinds)
        elif name in _GENERIC_ATTRIBUTES:
            op_parser.attributes[name] = value
        else:
            op_parser.dictionary_attributes[name] = value
    _parse_operands(op_parser)
    if op_parser.accept("attrs"):
        op_parser.expect("=")
        op_parser.attribute_dictionary()
    op_parser.region()
    op_parser.types["results_"] = _parse_result_types(op_parser)


def _print_generic(op: GenericOp, printer: OpAsmPrinter) -> None:
    shown: dict[str, Attribute] = {}
    for name in _GENERIC_ATTRIBUTES:
        value = op.signature.attributes.get(name)
        if name == "iterator_types" and isinstance(value, ArrayAttr):
            value = array([string(e.kind) if isinstance(e, IteratorType) else e for e in value.elements])
        if value is not None:
            shown[name] = value
    printer.dictionary(dictionary(shown))
    _print_operands(op, printer)
    if op.attributes.entries:
        printer.write(" attrs = ")
        printer.dictionary(op.attributes)
    printer.write(" ")
    printer.region(op.body, print_arguments=True)
    if op.results:
        printer.write(f" -> {_result_types(op, printer)}")


_GENERIC_ATTRIBUTES = ("doc", "indexing_maps", "iterator_types", "library_call")


@linalg.op("generic", ATTR_SIZED_OPERANDS, PURE)
class GenericOp(Op):
    """Computes each element of the outputs with a region, from the elements that the indexing maps select."""

    inputs = operands(ANY_TYPE)
    outputs = operands(ANY_TYPE)
    indexing_maps = attr(ARRAY_ATTR)
    iterator_types = attr(ARRAY_ATTR)
    doc = optional_attr(STRING_ATTR)
    library_call = optional_attr(STRING_ATTR)
    results_ = results(_TENSOR)
    body = region(ONE_BLOCK)

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
        _check_results(signature, signature[GenericOp.outputs])
        maps, iterators = signature[GenericOp.indexing_maps].elements, signature[GenericOp.iterator_types]
        if len(maps) != len(signature.operand_types):
            raise signature.op_error(
                f"expected the number of indexing_map ({len(maps)}) to be equal to the number of "
                f"input/output operands ({len(signature.operand_types)})"
            )
        loops = len(iterators.elements)
        for number, (map, type) in enumerate(zip(maps, signature.operand_types, strict=True)):
            assert isinstance(map, AffineMapAttr)
            if map.num_symbols:
                raise signature.op_error(f"unexpected symbols in indexing_map #{number}")
            if map.num_dims != loops:
                raise signature.op_error(
                    f"expected indexing_map #{number} to have {loops} dim(s) to match the number of loops"
                )
            rank = type.rank if isinstance(type, RankedTensor) else 0
            if len(map.results) != rank:
                raise signature.op_error(
                    f"expected operand #{number} rank ({rank}) to match the result rank of indexing_map "
                    f"({len(map.results)})"
                )

    def verify_regions(self) -> None:
        _check_body(self, self.body)

"""The linalg dialect object, linalg.yield, the base class of named operations, and what their bodies are of.

The region of a named operation is implied by its name and operand types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.asm.printer.builtin_printer import map_text
from sdyopt.mlir.dialects import arith
from sdyopt.mlir.dialects.affine import fold_operands
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.math import math
from sdyopt.mlir.ir.affine import AffineConstant, AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import EMPTY_DICT, ArrayAttr, Attribute, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import AttrField, operands, region, results
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import UNKNOWN, Op, build
from sdyopt.mlir.ir.traits import ANY_TYPE, PURE, TERMINATOR, AttrConstraint, TypeConstraint
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I1,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    RankedTensor,
    ShapedType,
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
SHAPED = TypeConstraint[Type]("shaped of any type values", lambda type: isinstance(type, ShapedType))


class UnsupportedElementError(Exception):
    """A named operation has no body for elements of these types."""


@linalg.op("yield", PURE, TERMINATOR)
class YieldOp(Op):
    """Terminates the region of a named operation, and yields one element of the operation's result."""

    values = operands(ANY_TYPE)

    assembly = assembly("attr-dict ($values^ `:` type($values))?")

    def verify_in_context(self) -> None:
        parent = self.parent_op
        if not isinstance(parent, LinalgOp):
            raise self.op_error("expected parent op with LinalgOp interface")
        if len(self.values) != len(parent.outs):
            raise self.op_error(
                f"expected number of yield values ({len(self.values)}) to match the number of inits / outs "
                f"operands of the enclosing LinalgOp ({len(parent.outs)})"
            )
        for index, (value, out) in enumerate(zip(self.values, parent.outs, strict=True)):
            element = element_of(out.type)
            if value.type is not element:
                raise self.op_error(
                    f"type of yield operand {index + 1} ('{plain_type(value.type)}') doesn't match the "
                    f"element type of the enclosing {parent.name} op ('{plain_type(element)}')"
                )


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
    return [op_parser.type()]


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
        error = op_parser.error(
            f"[parseNamedStructuredOpRegion] ods-gen generated region expects {count} args, got {len(types)}"
        )
        failed = op_class.failed_to_parse
        raise error.then(op_parser.error(failed)) if failed else error
    try:
        op_parser.regions.append(op_class.body_for(types, attributes))
    except UnsupportedElementError as error:
        raise op_parser.error(str(error), offset) from None
    op_class.add_indexing_maps(op_parser)


def print_operands(op: LinalgOp, printer: OpAsmPrinter) -> None:
    for word, values in (("ins", op.ins), ("outs", op.outs)):
        if values:
            types = printer.types([value.type for value in values])
            printer.write(f" {word}({printer.name_list(values)} : {types})")


def result_types(op: Op, printer: OpAsmPrinter) -> str:
    types = printer.types(op.result_types)
    return types if len(op.results) == 1 else f"({types})"


def has_no_memref(signature: OpSignature) -> bool:
    """Whether an operation reads and writes no buffers, so that it has no effects."""
    return not any(isinstance(type, MemRefType | UnrankedMemRef) for type in signature.operand_types)


class LinalgOp(Op):
    """Base of the operations on inputs and init values, with a region that computes one element."""

    results_ = results(TENSOR)

    is_effect_free = staticmethod(has_no_memref)

    @property
    def ins(self) -> list[Value]:
        """The inputs."""
        raise NotImplementedError

    @property
    def outs(self) -> list[Value]:
        """The init values."""
        return self.operands[len(self.ins) :]


class StructuredOp(LinalgOp):
    """Base of the operations with a list of inputs and one of init values."""

    inputs = operands(ANY_TYPE)
    outputs = operands(SHAPED)
    results_ = results(TENSOR)
    body = region()

    @property
    def ins(self) -> list[Value]:
        return self.inputs

    def verify_regions(self) -> None:
        check_body(self, self.body)


class NamedOp(StructuredOp):
    """Base of the named operations, whose region is implied."""

    # The number of arguments of the region: one for each operand.
    body_arguments: ClassVar[int]
    # The attributes that are written before the dictionary.
    printed_first: ClassVar[tuple[str, ...]] = ()
    # The error after that of a wrong number of operands.
    failed_to_parse: ClassVar[str] = ""

    def _print(self, printer: OpAsmPrinter) -> None:
        printer.attribute_dictionary(self, INDEXING_MAPS)
        print_operands(self, printer)
        if self.results:
            printer.write(f" -> {result_types(self, printer)}")

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
    def loops_for(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> int:
        """The number of loops."""
        return maps[0].num_dims

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
        op_class = signature.op_class
        assert issubclass(op_class, NamedOp)
        check_results(signature, len(signature[NamedOp.inputs]))
        count = op_class.arguments_for(dict(signature.attributes.entries))
        if len(signature.operand_types) != count:
            raise _map_count_error(signature, count)
        maps = op_class.maps_for(signature)
        if maps:
            check_structure(signature, maps, op_class.loops_for(signature, maps))


def check_results(signature: OpSignature, inputs: int) -> None:
    """Raises unless the results have the types of the output tensors, which follow this many inputs."""
    init_types = [
        (index, type)
        for index, type in enumerate(signature.operand_types[inputs:], start=inputs)
        if isinstance(type, RankedTensor)
    ]
    if len(signature.result_types) != len(init_types):
        raise signature.op_error(
            f"expected the number of tensor results ({len(signature.result_types)}) to be equal to the "
            f"number of output tensors ({len(init_types)})"
        )
    for (index, init), result in zip(init_types, signature.result_types, strict=True):
        if init is not result:
            raise signature.op_error(
                f"expected type of operand #{index} ('{plain_type(init)}') to match type of corresponding "
                f"result ('{plain_type(result)}')"
            )


def _map_count_error(signature: OpSignature, count: int) -> SignatureError:
    return signature.op_error(
        f"expected the number of indexing_map ({count}) to be equal to the number of input/output operands "
        f"({len(signature.operand_types)})"
    )


def check_structure(signature: OpSignature, maps: Sequence[AffineMapAttr], loops: int) -> None:
    """Raises unless the maps fit the loops and the operands, and no map leaves the shape of its operand."""
    types = signature.operand_types
    if any(isinstance(type, RankedTensor) for type in types) and not has_no_memref(signature):
        raise signature.op_error("expected to have pure tensor or buffer semantics")
    if len(maps) != len(types):
        raise _map_count_error(signature, len(maps))
    shapes = [type.shape if isinstance(type, RankedTensor | MemRefType) else () for type in types]
    for number, (map, shape) in enumerate(zip(maps, shapes, strict=True)):
        if len(map.results) != len(shape):
            raise signature.op_error(
                f"expected operand #{number} rank ({len(shape)}) to match the result rank of indexing_map "
                f"({len(map.results)})"
            )
    for number, map in enumerate(maps):
        if map.num_symbols:
            raise signature.op_error(f"unexpected symbols in indexing_map #{number}")
    dims = max([map.num_dims for map in maps], default=0)
    sizes = _loop_sizes(maps, shapes, dims)
    if None in sizes:
        joined = AffineMapAttr(dims, 0, tuple([result for map in maps for result in map.results]))
        raise signature.op_error(f"invalid indexing maps are non-invertible: ({_text(joined)})")
    if DYNAMIC not in sizes:
        for number, (map, shape) in enumerate(zip(maps, shapes, strict=True)):
            _check_sizes(signature, number, map, shape, [size for size in sizes if size is not None])
    for number, map in enumerate(maps):
        if map.num_dims != loops:
            raise signature.op_error(
                f"expected indexing_map #{number} to have {loops} dim(s) to match the number of loops"
            )


def _loop_sizes(
    maps: Sequence[AffineMapAttr], shapes: Sequence[tuple[int, ...]], dims: int
) -> list[int | None]:
    """The size of each loop: that of the first dimension that it indexes; None if it indexes none."""
    sizes: list[int | None] = [None] * dims
    for map, shape in zip(maps, shapes, strict=True):
        for result, size in zip(map.results, shape, strict=True):
            if isinstance(result, AffineDim) and sizes[result.position] is None:
                sizes[result.position] = size
    return sizes


def _check_sizes(
    signature: OpSignature, number: int, map: AffineMapAttr, shape: tuple[int, ...], loops: Sequence[int]
) -> None:
    """Raises unless an operand has the elements that its map selects in the first and the last iteration."""
    loops = loops[: map.num_dims]
    first, last = fold_operands(map, [0] * len(loops)), fold_operands(map, [size - 1 for size in loops])
    for dimension, (start, end, size) in enumerate(zip(first, last, shape, strict=True)):
        assert isinstance(start, AffineConstant) and isinstance(end, AffineConstant)
        if size in (DYNAMIC, 0):
            continue
        if min(start.value, end.value) < 0:
            raise signature.op_error(
                f"unexpected result less than 0 at expression #{dimension} in {_text(map)}"
            )
        needed, is_dim = max(start.value, end.value) + 1, isinstance(map.results[dimension], AffineDim)
        if needed > size or (is_dim and needed < size):
            raise signature.op_error(
                f"inferred input/output operand #{number} has shape's dimension #{dimension} to be "
                f"{'' if is_dim else 'greater than or equal to '}{needed}, but found {size}"
            )


def _text(map: AffineMapAttr) -> str:
    return map_text(map).removeprefix("affine_map<").removesuffix(">")


def check_body(op: Op, body: Region) -> None:
    """Raises unless the region has an argument of each operand's element type."""
    if len(body.blocks) != 1:
        raise op.op_error("expects to have 1 region with 1 block")
    arguments = body.blocks[0].arguments
    if len(arguments) != len(op.operands):
        raise op.op_error(
            "expected as many non-induction variable region arguments as the number of input/output operands"
        )
    for index, (argument, operand) in enumerate(zip(arguments, op.operands, strict=True)):
        element = _element(operand.type)
        if argument.type is not element:
            raise op.op_error(
                f"expected type of bb argument #{index} ('{plain_type(argument.type)}') to match element or "
                f"self type of the corresponding operand ('{plain_type(element)}')"
            )


def _element(type: Type) -> Type:
    """The type of the argument for an operand: that of an element, or of a scalar, which may be a vector."""
    return element_of(type) if isinstance(type, RankedTensor | MemRefType) else type


def make_body(types: list[Type], build_result: Callable[[Block, list[Value]], Value]) -> Region:
    """A region with an argument of each operand's element type; it yields the value from `build_result`."""
    region = Region()
    block = region.add_block()
    arguments: list[Value] = [block.add_argument(_element(type), UNKNOWN) for type in types]
    result = build_result(block, arguments)
    block.append(build(OpSignature(YieldOp, YieldOp.name, EMPTY_DICT, (result.type,), ()), [result]))
    return region


def append(block: Block, name: str, values: list[Value], type: Type | None = None) -> Value:
    """Appends an operation of arith or math, without flags, and returns its result."""
    namespace, _, mnemonic = name.partition(".")
    op_class = (arith.DIALECT if namespace == "arith" else math).ops[mnemonic]
    defaults = {
        field.name: field.default for field in op_class.fields.values() if isinstance(field, AttrField)
    }
    flags = dictionary({name: value for name, value in defaults.items() if value is not None})
    types = tuple(value.type for value in values)
    op = build(OpSignature(op_class, op_class.name, flags, types, (type or types[0],)), values)
    block.append(op)
    return op.results[0]


def cast(block: Block, value: Value, type: Type, is_unsigned: bool = False) -> Value:
    """Converts a number to a type; integers as unsigned ones if `is_unsigned`."""
    source = value.type
    if source is type:
        return value
    letter = "u" if is_unsigned else "s"
    name = ""
    if isinstance(source, IntegerType) and isinstance(type, IntegerType):
        name = f"ext{letter}i" if source.width < type.width else "trunci"
    elif isinstance(source, FloatType) and isinstance(type, FloatType):
        if source.width != type.width:
            name = "extf" if source.width < type.width else "truncf"
    elif isinstance(source, IntegerType) and isinstance(type, FloatType):
        name = f"{letter}itofp"
    elif isinstance(source, FloatType) and isinstance(type, IntegerType):
        name = f"fpto{letter}i"
    elif isinstance(source, IndexType) or isinstance(type, IndexType):
        name = "index_castui" if is_unsigned else "index_cast"
    return append(block, f"arith.{name}", [value], type) if name else value


# Function -> the operations for floats, integers and booleans.
_FUNCTIONS = {
    "add": ("addf", "addi", "ori"),
    "sub": ("subf", "subi", ""),
    "mul": ("mulf", "muli", "andi"),
    "max_signed": ("maximumf", "maxsi", "maxsi"),
    "min_signed": ("minimumf", "minsi", "minsi"),
    "max_unsigned": ("", "maxui", ""),
    "min_unsigned": ("", "minui", ""),
}


def check_numbers(types: Sequence[Type]) -> None:
    """Raises unless both numbers are complex, floats, or integers."""
    kinds = (ComplexType, FloatType, IntegerType | IndexType)
    if not any(all(isinstance(type, kind) for type in types) for kind in kinds):
        lhs, rhs = [plain_type(type) for type in types]
        raise UnsupportedElementError(
            "Cannot build binary Linalg operation: expects allComplex, allFloatingPoint, or allInteger, got "
            f"'{lhs}' and '{rhs}'"
        )


def combine(block: Block, function: str, lhs: Value, rhs: Value) -> Value:
    """Appends a function of two numbers."""
    check_numbers([lhs.type, rhs.type])
    for_floats, for_integers, for_booleans = _FUNCTIONS[function]
    name = for_booleans if lhs.type is I1 else for_integers
    if isinstance(lhs.type, FloatType):
        name = for_floats
    elif not isinstance(lhs.type, IntegerType | IndexType):
        raise UnsupportedElementError("unsupported non numeric type")
    if not name and function.endswith("_unsigned"):
        raise UnsupportedElementError(f"unsupported operation: unsigned {function[:3]} not on uint")
    if not name:
        raise UnsupportedElementError(f"unsupported operation: {function} with bools")
    return append(block, f"arith.{name}", [lhs, rhs])

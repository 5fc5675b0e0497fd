"""linalg.map, reduce, transpose and broadcast.

The body of a map or reduction that is one operation on the arguments is written as `{ arith.addf }`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.arith.dialect import NO_FAST_MATH, NO_OVERFLOW
from sdyopt.mlir.dialects.linalg.structured import (
    TENSOR,
    LinalgOp,
    YieldOp,
    linalg,
    make_body,
    parse_operands,
    print_operands,
)
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.interfaces import SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import AttrField, attr, operand, operands, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import (
    I64_ARRAY,
    ONE_BLOCK,
    PURE,
    SAME_SIZE_OPERANDS,
    AttrConstraint,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import I64, MemRefType, RankedShapedType, RankedTensor, Type, element_of
from sdyopt.mlir.ir.value import BlockArgument, Value


class DestinationOp(LinalgOp):
    """Base of the operations `name ins(…) outs(…) attribute = […] {…}`, perhaps with a body."""

    body = region(ONE_BLOCK)
    results_ = results(TENSOR)

    # The attribute that is written after the operands, if there is one.
    list_name: ClassVar[str] = ""
    # Whether the body is written, and whether init values are the first operands of its only operation.
    has_body: ClassVar[bool] = False
    takes_init_first: ClassVar[bool] = False
    result_name: ClassVar[str]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, self.result_name)] if self.results else []

    def name_arguments(self, region: Region) -> list[tuple[BlockArgument, str]]:
        arguments = region.blocks[0].arguments if self.has_body and region.blocks else []
        count = len(self.ins)
        return [(argument, "in" if index < count else "init") for index, argument in enumerate(arguments)]

    def _payload(self) -> Op | None:
        """The only operation of the body, if the short form can express it."""
        block = self.body.blocks[0]
        payload, last = block.first, block.last
        if payload is None or payload.next is not last or not isinstance(last, YieldOp) or payload.regions:
            return None
        arguments: list[Value] = list(block.arguments)
        first = len(self.ins)
        expected = [*arguments[first:], *arguments[:first]] if self.takes_init_first else arguments[:first]
        return payload if payload.operands == expected and last.operands == list(payload.results) else None

    def print(self, printer: OpAsmPrinter) -> None:
        payload = self._payload() if self.has_body else None
        if payload is not None:
            printer.write(f" {{ {payload.name}")
            shown: dict[str, Attribute] = {
                name: value
                for name, value in (*payload.signature.attributes.entries, *payload.attributes.entries)
                if value not in (NO_FAST_MATH, NO_OVERFLOW)
            }
            printer.dictionary(dictionary(shown))
            printer.write(" }")
        print_operands(self, printer)
        if self.list_name:
            listed = self.signature.attributes.get(self.list_name)
            assert isinstance(listed, DenseArray)
            printer.write(f" {self.list_name} = [{', '.join(map(str, listed.values))}] ")
        printer.attribute_dictionary(self, self.list_name)
        if self.has_body and payload is None:
            with printer.indented():
                printer.newline()
                printer.write("(")
                for index, argument in enumerate(self.body.blocks[0].arguments):
                    printer.write(", " if index else "")
                    printer.argument(argument)
                printer.write(") ")
                printer.region(self.body)


# --- Parsing and printing ---------------------------------------------------------------------


def _parse(op_parser: OpAsmParser) -> None:
    op_class = op_parser.op_class
    assert issubclass(op_class, DestinationOp)
    payload = _parse_payload(op_parser) if op_class.has_body else None
    op_parser.attribute_dictionary()
    parse_operands(op_parser)
    names = [*op_parser.operand_names.pop("inputs"), *op_parser.operand_names.pop("outputs")]
    inits = op_parser.types.pop("outputs")
    types = [*op_parser.types.pop("inputs"), *inits]
    if op_class.list_name:
        op_parser.expect(op_class.list_name)
        op_parser.expect("=")
        values = op_parser.comma_list(op_parser.integer, "[", "]")
        op_parser.attributes[op_class.list_name] = DenseArray(I64, tuple(values))
    op_parser.attribute_dictionary()
    op_parser.operands = op_parser.resolve_all(names, types, op_parser.offset)
    op_parser.result_types = [type for type in inits if isinstance(type, RankedTensor)]
    if payload is not None and not types:
        # The verifier reports that there are no operands.
        op_parser.regions.append(Region())
    elif payload is not None:
        op_parser.regions.append(_short_body(op_class, *payload, types, len(inits)))
    elif op_class.has_body:
        arguments = op_parser.comma_list(lambda: _parse_argument(op_parser), "(", ")")
        op_parser.region(arguments)
    else:
        op_parser.regions.append(make_body(types, lambda _, arguments: arguments[0]) if types else Region())


def _parse_argument(op_parser: OpAsmParser) -> Argument:
    name, offset = op_parser.operand()
    op_parser.expect(":")
    type = op_parser.type()
    return Argument(name, offset, type, None, op_parser.location_or_offset(offset))


def _parse_payload(op_parser: OpAsmParser) -> tuple[type[Op], DictAttr] | None:
    """Parses `{ arith.addf {…} }`, or nothing."""
    if not op_parser.accept("{"):
        return None
    offset = op_parser.skip_trivia()
    name = op_parser.accept_keyword()
    if name is None:
        raise op_parser.unprefixed_error("expected bare identifier or keyword", offset)
    op_class = op_parser.dialects.op_class(name)
    if op_class is None:
        raise op_parser.error(f"unknown operation {name}", offset)
    attributes = op_parser.accept_dictionary() or EMPTY_DICT
    op_parser.expect("}")
    return op_class, attributes


def _short_body(
    op_class: type[DestinationOp], payload: type[Op], attributes: DictAttr, types: list[Type], inits: int
) -> Region:
    """A body of one operation on its arguments."""

    def append(block: Block, arguments: list[Value]) -> Value:
        first = len(arguments) - inits
        values = [*arguments[first:], *arguments[:first]] if op_class.takes_init_first else arguments[:first]
        fields = [field for field in payload.fields.values() if isinstance(field, AttrField)]
        defaults = {field.name: field.default for field in fields if field.default is not None}
        given = dictionary({**defaults, **dict(attributes.entries)})
        operand_types = tuple(value.type for value in values)
        signature = OpSignature(payload, payload.name, given, operand_types, (element_of(types[-1]),))
        op = build(signature, values)
        block.append(op)
        return op.results[0]

    return make_body(types, append)


# --- Operations -------------------------------------------------------------------------------


def _shape(type: Type) -> tuple[int, ...]:
    return type.shape if isinstance(type, RankedShapedType) else ()


def _text(shape: Sequence[int]) -> str:
    return ", ".join(map(str, shape))


_TENSOR_OR_MEMREF = TypeConstraint[RankedShapedType](
    "memref of any type values or ranked tensor of any type values",
    lambda type: isinstance(type, RankedTensor | MemRefType),
)


@linalg.op("map", PURE, SINGLE_BLOCK)
class MapOp(DestinationOp):
    """Computes each element of a tensor from the elements at the same position of the inputs."""

    inputs = operands(_TENSOR_OR_MEMREF)
    init = operand(_TENSOR_OR_MEMREF)

    assembly = assembly("custom<format>", format=custom(_parse, print=DestinationOp.print))
    has_body = True
    result_name = "mapped"

    @property
    def ins(self) -> list[Value]:
        return self.inputs

    def verify_in_context(self) -> None:
        arguments = self.body.blocks[0].arguments
        if len(arguments) != len(self.operands):
            raise self.op_error(
                "expects number of operands to match the arity of mapper, but got: "
                f"{len(self.operands)} and {len(arguments)}"
            )
        for argument, value in zip(arguments, self.inputs, strict=False):
            if argument.type is not element_of(value.type):
                raise self.op_error(
                    f"expected element type of input '{plain_type(element_of(value.type))}' to match "
                    f"bbArg type '{plain_type(argument.type)}'"
                )
        output = _shape(self.init.type)
        for value in self.inputs:
            if _shape(value.type) != output:
                raise self.op_error(
                    f"expected shape of input ({_text(_shape(value.type))}) to match shape of output "
                    f"({_text(output)})"
                )


_INCREASING = AttrConstraint[tuple[int, ...]](
    "i64 dense array attribute should be in increasing order",
    lambda a: I64_ARRAY.accepts(a) and _is_increasing(I64_ARRAY.value(a)),
    I64_ARRAY.value,
    I64_ARRAY.accepts,
)


def _is_increasing(values: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(values))


@linalg.op("reduce", PURE, SAME_SIZE_OPERANDS, SINGLE_BLOCK)
class ReduceOp(DestinationOp):
    """Reduces dimensions of tensors."""

    inputs = operands(_TENSOR_OR_MEMREF)
    inits = operands(_TENSOR_OR_MEMREF)
    dimensions = attr(_INCREASING)

    assembly = assembly("custom<format>", format=custom(_parse, print=DestinationOp.print))
    list_name = "dimensions"
    has_body = takes_init_first = True
    result_name = "reduced"

    @property
    def ins(self) -> list[Value]:
        return self.inputs

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        inputs, inits = signature[ReduceOp.inputs], signature[ReduceOp.inits]
        if not inputs or not inits:
            raise signature.op_error("expected 1 or more inputs and as many outputs")
        for word, types in (("input", inputs), ("output", inits)):
            for index, type in enumerate(types):
                if _shape(type) != _shape(types[0]):
                    raise signature.op_error(
                        f"expects all {word}s to have the same shapes. Shape at {word}-index {index} is not "
                        f"equal to the shape at {word}-index 0."
                    )
        shape, dimensions = _shape(inputs[0]), signature[ReduceOp.dimensions]
        if any(not 0 <= dimension < len(shape) for dimension in dimensions):
            last = len(shape) - 1
            raise signature.op_error(f"dimensions for reduction should be in the range [0, {last}].")
        reduced = [size for dimension, size in enumerate(shape) if dimension not in dimensions]
        init = _shape(inits[0])
        if len(reduced) != len(init):
            raise signature.op_error(
                f"number of dimensions after reduction {len(reduced)} doesn't match the init rank {len(init)}"
            )
        if tuple(reduced) != init:
            raise signature.op_error(
                f"init dimensions [{_text(init)}] doesn't match input dimensions after reduction "
                f"[{_text(reduced)}]"
            )

    def verify_in_context(self) -> None:
        arguments = self.body.blocks[0].arguments
        if len(arguments) != len(self.operands):
            raise self.op_error("mismatching number of operands and block arguments")
        for index, (argument, value) in enumerate(zip(arguments, self.operands, strict=True)):
            if argument.type is not element_of(value.type):
                word = "input" if index < len(self.inputs) else "output"
                raise self.op_error(
                    f"{word} element type '{plain_type(element_of(value.type))}' does not match "
                    f"corresponding block argument type '{plain_type(argument.type)}'"
                )


class _RelayoutOp(DestinationOp):
    """Base of the operations that copy the elements of one tensor to other positions."""

    input = operand(_TENSOR_OR_MEMREF)
    init = operand(_TENSOR_OR_MEMREF)

    assembly = assembly("custom<format>", format=custom(_parse, print=DestinationOp.print))

    @property
    def ins(self) -> list[Value]:
        return [self.input]


@linalg.op("transpose", PURE)
class TransposeOp(_RelayoutOp):
    """Permutes the dimensions of a tensor: dimension i of the result is `permutation[i]` of the input."""

    permutation = attr(I64_ARRAY)

    list_name = "permutation"
    result_name = "transposed"

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        permutation = signature[TransposeOp.permutation]
        source, init = signature[TransposeOp.input].shape, signature[TransposeOp.init].shape
        if sorted(permutation) != list(range(len(permutation))):
            raise signature.op_error("permutation is not valid")
        if len(source) != len(init):
            raise signature.op_error(f"input rank {len(source)} does not match init rank {len(init)}")
        if len(permutation) != len(source):
            raise signature.op_error(
                f"size of permutation {len(permutation)} does not match the argument rank {len(source)}"
            )
        for index, dimension in enumerate(permutation):
            if source[dimension] != init[index]:
                raise signature.op_error(
                    f"dim(result, {index}) = {init[index]} doesn't match dim(input, permutation[{index}]) = "
                    f"{source[dimension]}"
                )


@linalg.op("broadcast", PURE)
class BroadcastOp(_RelayoutOp):
    """Adds dimensions to a tensor, along which it is repeated."""

    dimensions = attr(I64_ARRAY)

    list_name = "dimensions"
    result_name = "broadcasted"

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dimensions = signature[BroadcastOp.dimensions]
        source, init = signature[BroadcastOp.input].shape, signature[BroadcastOp.init].shape
        if len(source) + len(dimensions) != len(init):
            raise signature.op_error(
                "input rank plus added dimensions does not match init rank. input rank: "
                f"{len(source)}, dimensions size: {len(dimensions)}, init rank: {len(init)}"
            )
        for index, dimension in enumerate(dimensions):
            if not 0 <= dimension < len(init):
                raise signature.op_error(
                    f"dimension {index} is out of range. expected range: [0, {len(init) - 1}], got: "
                    f"{dimension}"
                )
        kept = [dimension for dimension in range(len(init)) if dimension not in dimensions]
        for index, dimension in enumerate(kept[: len(source)]):
            if source[index] != init[dimension]:
                raise signature.op_error(
                    f"input dim {index} should match init dim {dimension}. input: {source[index]}, "
                    f"init: {init[dimension]}"
                )

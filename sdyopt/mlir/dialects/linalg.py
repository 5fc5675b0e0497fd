"""The subset of the linalg dialect that programs of the mesh dialect use: matmul, fill, yield.

The region of a named operation is implied by its name and operand types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.arith.dialect import NO_FAST_MATH, NO_OVERFLOW
from sdyopt.mlir.dialects.arith.floats import AddFOp, MulFOp
from sdyopt.mlir.dialects.arith.integers import AddIOp, MulIOp
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import EMPTY_DICT, array, dictionary
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.constraints import ANY_TYPE, ONE_BLOCK, TypeConstraint
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import operands, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import UNKNOWN, Op, build
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR
from sdyopt.mlir.ir.types import FloatType, RankedTensor, Type, element_of
from sdyopt.mlir.ir.value import Value

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


def _parse(op_parser: OpAsmParser) -> None:
    op_parser.attribute_dictionary()
    for word, field in (("ins", "inputs"), ("outs", "outputs")):
        op_parser.expect(word)
        op_parser.expect("(")
        op_parser.operand_names[field] = op_parser.operand_list()
        op_parser.expect(":")
        op_parser.types[field] = op_parser.comma_list(op_parser.type)
        op_parser.expect(")")
    op_parser.types["results_"] = op_parser.comma_list(op_parser.type) if op_parser.accept("->") else []
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
    for word, values in (("ins", op.inputs), ("outs", op.outputs)):
        types = printer.types([value.type for value in values])
        printer.write(f" {word}({printer.name_list(values)} : {types})")
    if op.results:
        printer.write(f" -> {printer.types(op.result_types)}")


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
        init_types = [type for type in signature[NamedOp.outputs] if isinstance(type, RankedTensor)]
        if len(signature.result_types) != len(init_types):
            raise signature.op_error(
                "expected the number of tensor results to be equal to the number of output tensors"
            )
        for init, result in zip(init_types, signature.result_types, strict=True):
            if init is not result:
                raise signature.op_error("expected type of operand to match type of corresponding result")
        op_class = signature.op_class
        assert issubclass(op_class, NamedOp)
        if len(signature.operand_types) != op_class.body_arguments:
            raise signature.op_error(
                f"expected the number of indexing_map ({op_class.body_arguments}) to be equal to the number "
                f"of input/output operands ({len(signature.operand_types)})"
            )

    def verify_regions(self) -> None:
        arguments = self.body.blocks[0].arguments
        if len(arguments) != len(self.operands):
            raise self.op_error(
                "expected as many non-induction variable region arguments as the number of "
                "input/output operands"
            )
        for index, (argument, operand) in enumerate(zip(arguments, self.operands, strict=True)):
            if argument.type is not element_of(operand.type):
                raise self.op_error(
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

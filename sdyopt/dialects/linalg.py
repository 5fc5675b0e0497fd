"""The linalg dialect, as far as programs of the mesh dialect use it: matmul, fill, yield.

What these operations do to elements is a region, which their text implies.
"""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.asm.format.assembly_format import AttrDict, Custom, Operand, Optional, TypeOf, assembly
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.asm.printer.op_asm_printer import OpAsmPrinter
from sdyopt.dialects.arith.constant import make_constant
from sdyopt.dialects.arith.flags import NO_FAST_MATH, NO_OVERFLOW
from sdyopt.dialects.arith.floats import AddFOp, MulFOp
from sdyopt.dialects.arith.integers import AddIOp, MulIOp
from sdyopt.ir.affine import AffineDim, AffineMapAttr
from sdyopt.ir.attribute import EMPTY_DICT, array, dictionary
from sdyopt.ir.block import Block, Region
from sdyopt.ir.constraints import ANY_TYPE, ONE_BLOCK, TypeConstraint
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.op_fields import operands, region, results
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import UNKNOWN, Op, build
from sdyopt.ir.traits import ATTR_SIZED_OPERANDS, PURE, TERMINATOR
from sdyopt.ir.types import FloatType, RankedTensor, Type, element_of
from sdyopt.ir.value import Value

linalg = DIALECT = Dialect("linalg")
linalg.materialize_constant = make_constant
linalg.is_inlinable = True

_MAPS = "linalg.memoized_indexing_maps"
_TENSOR = TypeConstraint[RankedTensor](
    "ranked tensor of any type values", lambda type: isinstance(type, RankedTensor)
)


@linalg.op("yield", PURE, TERMINATOR)
class YieldOp(Op):
    """Ends a region and gives what an element becomes."""

    __slots__ = ()

    values = operands(ANY_TYPE)

    assembly = assembly(AttrDict(), Optional(Operand("values"), ":", TypeOf("values"), anchor="values"))


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
    op_parser.regions.append(op_class.body_for(types))
    op_class.remember_maps(op_parser)


def _print(op: NamedOp, printer: OpAsmPrinter) -> None:
    printer.attribute_dictionary(op, _MAPS)
    for word, values in (("ins", op.inputs), ("outs", op.outputs)):
        types = printer.types([value.type for value in values])
        printer.write(f" {word}({printer.name_list(values)} : {types})")
    if op.results:
        printer.write(f" -> {printer.types(op.result_types)}")


class NamedOp(Op):
    """Base: inputs, what the results start from, and what is done to elements."""

    __slots__ = ()

    inputs = operands(ANY_TYPE)
    outputs = operands(ANY_TYPE)
    results_ = results(_TENSOR)
    body = region(ONE_BLOCK)

    assembly = assembly(Custom(_parse, print=_print))

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        """The region for operands of these types."""
        raise NotImplementedError

    @staticmethod
    def remember_maps(op_parser: OpAsmParser) -> None:
        """Notes which loop runs along which dimension, where that is written on the operation."""

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        starts = [type for type in signature.outputs if isinstance(type, RankedTensor)]
        if len(signature.result_types) != len(starts):
            raise signature.op_error(
                "expected the number of tensor results to be equal to the number of output tensors"
            )
        for start, result in zip(starts, signature.result_types, strict=True):
            if start is not result:
                raise signature.op_error("expected type of operand to match type of corresponding result")


def make_body(types: list[Type], fill_in: Callable[[Block, list[Value]], Value]) -> Region:
    """A region with an argument for each operand's element, which yields what `fill_in` makes of them."""
    region = Region()
    block = region.add_block()
    arguments: list[Value] = [block.add_argument(element_of(type), UNKNOWN) for type in types]
    made = fill_in(block, arguments)
    block.append(build(OpSignature(YieldOp, YieldOp.name, EMPTY_DICT, (made.type,), ()), [made]))
    return region


def _append(block: Block, op_class: type[Op], values: list[Value]) -> Value:
    type = values[0].type
    is_float = isinstance(type, FloatType)
    flags = dictionary({"fastmath": NO_FAST_MATH} if is_float else {"overflowFlags": NO_OVERFLOW})
    op = build(OpSignature(op_class, op_class.name, flags, (type, type), (type,)), values)
    block.append(op)
    return op.results[0]


def _multiply_and_add(block: Block, values: list[Value]) -> Value:
    lhs, rhs, total = values
    is_float = isinstance(lhs.type, FloatType)
    product = _append(block, MulFOp if is_float else MulIOp, [lhs, rhs])
    return _append(block, AddFOp if is_float else AddIOp, [total, product])


def _map(*dims: int) -> AffineMapAttr:
    return AffineMapAttr(3, 0, tuple(AffineDim(dim) for dim in dims))


@linalg.op("matmul", ATTR_SIZED_OPERANDS, PURE)
class MatmulOp(NamedOp):
    """`c[m, n]` plus the sum over all `k` of `a[m, k] * b[k, n]`."""

    __slots__ = ()

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, _multiply_and_add)

    @staticmethod
    def remember_maps(op_parser: OpAsmParser) -> None:
        op_parser.written[_MAPS] = array([_map(0, 2), _map(2, 1), _map(0, 1)])


@linalg.op("fill", ATTR_SIZED_OPERANDS, PURE)
class FillOp(NamedOp):
    """A tensor all of whose elements are one value."""

    __slots__ = ()

    @staticmethod
    def body_for(types: list[Type]) -> Region:
        return make_body(types, lambda block, arguments: arguments[0])

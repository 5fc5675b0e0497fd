"""The assembly of stablehlo.reduce.

    stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : types
    stablehlo.reduce(%0 init: %1) across dimensions = [0] : types
     reducer(%arg0: tensor<f32>, %arg1: tensor<f32>)  { … }

The compact form (`applies`) is for a reducer region that consists of one commutative operation on its
arguments and a return of the result; parsing builds that region.
"""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import visible_attributes
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter, Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import Argument, OpAsmParser, OperandName
from sdyopt.mlir.dialects.stablehlo.diagnostic_text import listing
from sdyopt.mlir.dialects.stablehlo.traits import HLO_COMMUTATIVE
from sdyopt.mlir.ir.attribute import EMPTY_DICT, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.op_fields import ONE, OperandField, RegionField
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, build
from sdyopt.mlir.ir.traits import COMMUTATIVE
from sdyopt.mlir.ir.types import I64, FunctionType, ShapedType, Type, element_of, tensor

# --- Parsing -----------------------------------------------------------------------------------


def parse_reduce(op_parser: OpAsmParser) -> None:
    """Parses what follows the operation name. Raises a DiagnosticError."""
    op_parser.location_offset = op_parser.skip_trivia()
    inputs, init_values = _parse_operands(op_parser)
    operands = inputs + init_values
    if op_parser.accept("applies"):
        op_class = _parse_inner_op(op_parser)
        type = _parse_dimensions_and_type(op_parser)
        _check_inputs(op_parser, type)
        op_parser.operands = op_parser.resolve_all(operands, type.inputs, op_parser.location_offset)
        op_parser.add_implied_regions = _CompactReducer(op_class, tensor((), element_of(type.inputs[0])))
    else:
        type = _parse_dimensions_and_type(op_parser)
        op_parser.expect("reducer")
        arguments = _parse_arguments(op_parser)
        op_parser.operands = op_parser.resolve_all(operands, type.inputs, op_parser.location_offset)
        op_parser.region(arguments)
    op_parser.result_types = list(type.results)


def _parse_operands(op_parser: OpAsmParser) -> tuple[list[OperandName], list[OperandName]]:
    """Parses `(%0 init: %1), (%2 init: %3)` into inputs and initial values."""
    inputs, init_values = [], []
    while True:
        if op_parser.accept("("):
            inputs.append(op_parser.operand())
            op_parser.expect("init")
            op_parser.expect(":")
            init_values.append(op_parser.operand())
            op_parser.expect(")")
        if not op_parser.accept(","):
            return inputs, init_values


def _parse_inner_op(op_parser: OpAsmParser) -> type[Op]:
    """Parses the name of the reducer's single operation."""
    name = op_parser.accept_keyword()
    if name is None:
        raise AsmParser.error(op_parser, "expected bare identifier or keyword")
    dialect = op_parser.name.partition(".")[0]
    op_class = op_parser.dialects.op_class(name)
    if op_class is None or not name.startswith(dialect + ".") or not _is_commutative_binary(op_class):
        raise op_parser.error(
            "expected the inner-op to be a commutative binary-op from the "
            f"{dialect} dialect, with zero region, producing single result",
            op_parser.location_offset,
        )
    return op_class


def _parse_dimensions_and_type(op_parser: OpAsmParser) -> FunctionType:
    """Parses `across dimensions = [0] {…} : (types) -> types`."""
    op_parser.expect("across")
    op_parser.expect("dimensions")
    op_parser.expect("=")
    dimensions = op_parser.comma_list(op_parser.integer, "[", "]")
    op_parser.attribute_dictionary()
    op_parser.check_not_in_dictionary("dimensions")
    op_parser.attributes["dimensions"] = DenseArray(I64, tuple(dimensions))
    op_parser.expect(":")
    return op_parser.function_type()


def _check_inputs(op_parser: OpAsmParser, type: FunctionType) -> None:
    if not type.inputs:
        raise op_parser.error("input types missing in reduce-op function type", op_parser.location_offset)


def _parse_arguments(op_parser: OpAsmParser) -> list[Argument]:
    """Parses `(%a: type, %b: type) (%c: type, %d: type)` into all first arguments, then all second."""
    lefts, rights = [], []
    while op_parser.accept("("):
        lefts.append(_parse_argument(op_parser))
        op_parser.expect(",")
        rights.append(_parse_argument(op_parser))
        op_parser.expect(")")
    return lefts + rights


def _parse_argument(op_parser: OpAsmParser) -> Argument:
    name, offset = op_parser.operand()
    op_parser.expect(":")
    type = op_parser.type()
    return Argument(name, offset, type, None, op_parser.location_or_offset(offset))


class _CompactReducer:
    """Builds the reducer region of the compact form: one operation on two scalars, and a return."""

    def __init__(self, op_class: type[Op], type: Type) -> None:
        self._type = type
        self._inner = OpSignature(op_class, op_class.name, EMPTY_DICT, (type, type), (type,))
        return_class = op_class.dialect.ops["return"] if op_class.dialect is not None else Op
        self._returned = OpSignature(return_class, return_class.name, EMPTY_DICT, (type,), ())

    def __call__(self, op: Op) -> None:
        location = op.lazy_location
        region = Region()
        region.parent = op
        block = region.add_block()
        arguments = [block.add_argument(self._type, location) for _ in range(2)]
        inner = build(self._inner, arguments, location=location)
        block.append(inner)
        block.append(build(self._returned, inner.results, location=location))
        op.regions = (region,)


# --- Printing ----------------------------------------------------------------------------------


def write_reduce(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    """Adds what follows the operation name to the print template."""
    half = len(signature.operand_types) // 2
    for index in range(half):
        out.text(", (" if index else "(")
        out.parts += [index, " init: ", half + index, ")"]
    out.call(_print_applied)
    dimensions = signature.attributes["dimensions"]
    assert isinstance(dimensions, DenseArray)
    out.text(f" across dimensions = [{listing(dimensions.values)}]")
    out.attribute_dictionary(visible_attributes(signature, attributes, frozenset({"dimensions"})))
    out.text(f" : {out.attribute_printer.function_type(signature.operand_types, signature.result_types)}")
    out.call(_print_reducer)


def _print_applied(op: Op, printer: OpAsmPrinter) -> None:
    inner = applied_op(op)
    if inner is not None:
        printer.write(f" applies {inner.signature.name}")


def _print_reducer(op: Op, printer: OpAsmPrinter) -> None:
    if applied_op(op) is not None:
        return
    body = op.regions[0]
    arguments, half = body.blocks[0].arguments, len(op.operand_types) // 2
    printer.newline()
    printer.write(" reducer")
    for left, right in zip(arguments[:half], arguments[half:], strict=False):
        printer.write("(")
        printer.argument(left)
        printer.write(", ")
        printer.argument(right)
        printer.write(") ")
    printer.write(" ")
    printer.region(body)


def applied_op(op: Op) -> Op | None:
    """The single operation of the reducer region if the compact form can express it, else None."""
    block = op.regions[0].blocks[0]
    inner, last = block.first, block.last
    if inner is None or last is None or inner.next is not last or not last.is_terminator:
        return None
    if inner.dialect_name != op.dialect_name or not inner.signature.cached(_has_commutative_binary_class):
        return None
    scalar = op.signature.cached(_scalar_of_inputs)
    if scalar is None or any(type is not scalar for type in (*inner.operand_types, *inner.result_types)):
        return None
    is_forwarded = (
        inner.operands == block.arguments
        and last.signature.name.endswith(".return")
        and last.operands == list(inner.results)
    )
    return inner if is_forwarded else None


def _scalar_of_inputs(signature: OpSignature) -> Type | None:
    """The rank-0 tensor type with the first input's element type; None without a shaped first input."""
    inputs = signature.operand_types[: len(signature.operand_types) // 2]
    return tensor((), inputs[0].element) if inputs and isinstance(inputs[0], ShapedType) else None


def _has_commutative_binary_class(signature: OpSignature) -> bool:
    return _is_commutative_binary(signature.op_class)


def _is_commutative_binary(op_class: type[Op]) -> bool:
    """Whether the operations of a class are commutative and have two operands and no region."""
    fields = op_class.fields.values()
    operands = [field for field in fields if isinstance(field, OperandField)]
    return (
        (HLO_COMMUTATIVE in op_class.traits or COMMUTATIVE in op_class.traits)
        and [field.arity for field in operands] == [ONE, ONE]
        and not any(isinstance(field, RegionField) for field in fields)
    )

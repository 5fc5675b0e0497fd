"""stablehlo.tuple, get_tuple_element and composite."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.func import no_function
from sdyopt.mlir.dialects.stablehlo import types
from sdyopt.mlir.dialects.stablehlo.dialect import quoted, stablehlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.ir.attribute import EMPTY_DICT
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.constraints import (
    DICT_ATTR,
    FLAT_SYMBOL_ATTR,
    FUNCTION_TYPE_ATTR,
    I32_ATTR,
    STRING_ATTR,
    non_negative,
)
from sdyopt.mlir.ir.op_fields import (
    attr,
    default_valued_optional_attr,
    operand,
    operands,
    regions,
    result,
    results,
)
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import FUNCTION, PURE
from sdyopt.mlir.ir.types import I32, TupleType, Type

# --- Tuples ---------------------------------------------------------------------------------


@stablehlo.op("tuple", PURE, INFERS_COMPATIBLE_TYPES)
class TupleOp(Op):
    """Packs values into a tuple."""

    val = operands(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)
    out = result(types.TUPLE)

    assembly = assembly("operands attr-dict `:` custom<TupleOpType>")

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [TupleType(signature.operand_types)]


@stablehlo.op("get_tuple_element", PURE, INFERS_COMPATIBLE_TYPES)
class GetTupleElementOp(Op):
    """Extracts one element of a tuple."""

    operand = operand(types.TUPLE)
    index = attr(non_negative(I32_ATTR))
    out = result(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE_OR_BUFFER)

    assembly = assembly(
        "$operand `[` custom<I32>($index) `]` attr-dict `:` functional-type(operands, results)"
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        elements, index = signature[GetTupleElementOp.operand].types, signature[GetTupleElementOp.index]
        if index >= len(elements):  # get_tuple_element_c1
            raise signature.error_without_op_note(
                f"index {index} is out of bounds of operand with size {len(elements)}"
            )
        return [elements[index]]


# --- Composites -----------------------------------------------------------------------------

_NAME = constant_pattern(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")


@stablehlo.op("composite")
class CompositeOp(Op):
    """An operation composed of others: the function `decomposition` defines its semantics."""

    inputs = operands(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
    op_name = attr(STRING_ATTR, name="name")
    composite_attributes = default_valued_optional_attr(DICT_ATTR, EMPTY_DICT)
    decomposition = attr(FLAT_SYMBOL_ATTR)
    version = default_valued_optional_attr(I32_ATTR, integer(0, I32))
    composite_regions = regions()
    outputs = results(types.TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)

    def _print_regions(self, printer: OpAsmPrinter) -> None:
        if not self.regions:
            return
        separator = " ("
        for region in self.regions:
            printer.write(separator)
            printer.region(region, print_arguments=True)
            separator = ", "
        printer.write(")")

    @staticmethod
    def _parse_regions(op_parser: OpAsmParser) -> None:
        """Parses an optional `({ … }, { … })`."""
        if not op_parser.accept("("):
            return
        while op_parser.looking_at("{"):
            op_parser.region()
            if not op_parser.accept(","):
                break
        op_parser.expect(")")

    assembly = assembly(
        "custom<String>($op_name) operands custom<regions> attr-dict `:` functional-type(operands, results)",
        regions=custom(_parse_regions, print=_print_regions),
    )

    def verify_symbol_uses(self) -> None:
        if not _NAME.fullmatch(self.op_name):  # composite_c1
            raise _error(
                self,
                "name must be a valid namespaced op name, i.e. it must match the following regular "
                f'expression: ^{_NAME.pattern}$ e.g. "my_namespace.my_op"',
            )
        function = lookup_symbol(self, self.decomposition)
        if function is None or FUNCTION not in function.traits:  # composite_c2
            raise _error(self, no_function(self.decomposition))
        type = FUNCTION_TYPE_ATTR.value(function.signature.attributes["function_type"])
        self._check_types("operand", self.signature.operand_types, type.inputs)  # composite_c3
        self._check_types("result", self.signature.result_types, type.results)  # composite_c4

    def _check_types(self, what: str, types: Sequence[Type], expected_types: Sequence[Type]) -> None:
        if len(types) != len(expected_types):
            raise _error(self, f"has {len(types)} {what}(s), but decomposition has {len(expected_types)}")
        for index, (type, expected) in enumerate(zip(types, expected_types, strict=True)):
            if type is not expected:
                raise _error(
                    self,
                    f"{what} at index {index} has type {quoted(type)}, but decomposition has type "
                    f"{quoted(expected)}",
                )


def _error(op: Op, message: str) -> DiagnosticError:
    return DiagnosticError.at(op.location, message)

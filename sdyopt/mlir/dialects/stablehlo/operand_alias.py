"""Output-operand aliases of custom_call: results that share buffers with operands.

#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.bounds import print_dimension_size
from sdyopt.mlir.dialects.stablehlo.custom_struct import parse_dimensions
from sdyopt.mlir.dialects.stablehlo.dialect import stablehlo
from sdyopt.mlir.dialects.stablehlo.tablegen_struct import parse_struct_parameter
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.constraints import AttrConstraint
from sdyopt.mlir.ir.types import TupleType, Type


class OutputOperandAlias(Attribute):
    """The tuple indices of an output, and the index and tuple indices of the operand that it aliases."""

    output_tuple_indices: tuple[int, ...]
    operand_index: int
    operand_tuple_indices: tuple[int, ...]
    dialect = "stablehlo"


ALIASES: AttrConstraint[tuple[OutputOperandAlias, ...]] = AttrConstraint(
    "Aliasing attribute for outputs and operands of CustomCall",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, OutputOperandAlias) for e in a),
    lambda a: a.elements,
    lambda a: isinstance(a, ArrayAttr),
)


def tuple_element_type(type: Type, indices: Sequence[int]) -> Type | None:
    """The type at these indices of nested tuples, or None if there is none."""
    for index in indices:
        if not isinstance(type, TupleType) or not 0 <= index < len(type.types):
            return None
        type = type.types[index]
    return type


_INDICES = "::llvm::ArrayRef<int64_t>"


@stablehlo.attribute("output_operand_alias")
def _parse(parser: AsmParser) -> Attribute:
    for token in ("<", "output_tuple_indices", "="):
        parser.expect(token)
    owner = "OutputOperandAlias"
    outputs = parse_struct_parameter(parser, owner, "outputTupleIndices", _INDICES, parse_dimensions)
    for token in (",", "operand_index", "="):
        parser.expect(token)
    operand = parse_struct_parameter(parser, owner, "operandIndex", "int64_t", AsmParser.integer)
    for token in (",", "operand_tuple_indices", "="):
        parser.expect(token)
    operands = parse_struct_parameter(parser, owner, "operandTupleIndices", _INDICES, parse_dimensions)
    parser.expect(">")
    return OutputOperandAlias(outputs, operand, operands)


@stablehlo.printer(OutputOperandAlias)
def _print(alias: OutputOperandAlias, attribute_printer: AttributePrinter) -> str:
    outputs = ", ".join(map(print_dimension_size, alias.output_tuple_indices))
    operands = ", ".join(map(print_dimension_size, alias.operand_tuple_indices))
    return (
        f"output_operand_alias<output_tuple_indices = [{outputs}], operand_index = {alias.operand_index}, "
        f"operand_tuple_indices = [{operands}]>"
    )

"""Which result of a custom_call shares memory with which operand.

#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 1, operand_tuple_indices = []>
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.stablehlo.bounds import spell_size
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.records import dimension_list
from sdyopt.dialects.stablehlo.structs import integer, read_parameter
from sdyopt.ir.attribute import ArrayAttr, Attribute
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.types import TupleType, Type
from sdyopt.syntax.cursor import Cursor
from sdyopt.syntax.spell import Speller


class OutputOperandAlias(Attribute):
    """A part of the results, and the part of an operand that it shares memory with."""

    output_tuple_indices: tuple[int, ...]
    operand_index: int
    operand_tuple_indices: tuple[int, ...]
    dialect = "stablehlo"


ALIASES: AttrKind[tuple[OutputOperandAlias, ...]] = AttrKind(
    "Aliasing attribute for outputs and operands of CustomCall",
    lambda a: isinstance(a, ArrayAttr) and all(isinstance(e, OutputOperandAlias) for e in a),
    lambda a: a.elements,
    lambda a: isinstance(a, ArrayAttr),
)


def part_of(whole: Type, indices: Sequence[int]) -> Type | None:
    """The type at these indices of nested tuples; None if there is nothing."""
    part = whole
    for index in indices:
        if not isinstance(part, TupleType) or not 0 <= index < len(part.types):
            return None
        part = part.types[index]
    return part


_INDICES = "::llvm::ArrayRef<int64_t>"


@stablehlo.attribute("output_operand_alias")
def _parse(cursor: Cursor) -> Attribute:
    for token in ("<", "output_tuple_indices", "="):
        cursor.expect(token)
    owner = "OutputOperandAlias"
    outputs = read_parameter(cursor, owner, "outputTupleIndices", _INDICES, dimension_list)
    for token in (",", "operand_index", "="):
        cursor.expect(token)
    operand = read_parameter(cursor, owner, "operandIndex", "int64_t", integer)
    for token in (",", "operand_tuple_indices", "="):
        cursor.expect(token)
    operands = read_parameter(cursor, owner, "operandTupleIndices", _INDICES, dimension_list)
    cursor.expect(">")
    return OutputOperandAlias(outputs, operand, operands)


@stablehlo.spelling(OutputOperandAlias)
def _spell(alias: OutputOperandAlias, speller: Speller) -> str:
    outputs = ", ".join(map(spell_size, alias.output_tuple_indices))
    operands = ", ".join(map(spell_size, alias.operand_tuple_indices))
    return (
        f"output_operand_alias<output_tuple_indices = [{outputs}], operand_index = {alias.operand_index}, "
        f"operand_tuple_indices = [{operands}]>"
    )

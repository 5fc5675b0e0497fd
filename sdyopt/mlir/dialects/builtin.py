"""The operations of the builtin dialect: module and unrealized_conversion_cast."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.interfaces import NO_REGION_ARGUMENTS, SINGLE_BLOCK
from sdyopt.mlir.ir.op_fields import operands, optional_attr, region, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import SYMBOL_TABLE, SymbolTableOp
from sdyopt.mlir.ir.traits import (
    AFFINE_SCOPE,
    ANY_TYPE,
    GRAPH_REGION,
    ISOLATED,
    NO_TERMINATOR,
    ONE_BLOCK,
    PURE,
    STRING_ATTR,
    SYMBOL,
)
from sdyopt.mlir.ir.value import Value

builtin = DIALECT = Dialect("builtin")
builtin.is_inlinable = True


@builtin.op(
    "module",
    *(NO_REGION_ARGUMENTS, NO_TERMINATOR, SINGLE_BLOCK),
    *(AFFINE_SCOPE, ISOLATED, SYMBOL_TABLE, SYMBOL, GRAPH_REGION),
)
class ModuleOp(SymbolTableOp):
    """A module: functions and other symbols."""

    sym_name = optional_attr(STRING_ATTR)
    sym_visibility = optional_attr(STRING_ATTR)
    body = region(ONE_BLOCK, name="bodyRegion")

    default_dialect = "builtin"
    assembly = assembly("custom<SymbolName>($sym_name) attr-dict-with-keyword $body")

    def verify_in_context(self) -> None:
        for name, _ in self.attributes:
            if "." not in name:
                raise self.op_error(
                    f"can only contain attributes with dialect-prefixed names, found: '{name}'"
                )

    @property
    def functions(self) -> list[Op]:
        """The functions directly in the module."""
        return [op for op in self.block.ops if op.signature.name == "func.func"]

    @property
    def block(self) -> Block:
        """The block of the body."""
        return self.body.blocks[0]


@builtin.op("unrealized_conversion_cast", PURE)
class UnrealizedConversionCastOp(Op):
    """Casts between types during a partial conversion."""

    inputs = operands(ANY_TYPE)
    outputs = results(ANY_TYPE)

    assembly = assembly("($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        if not signature.result_types:
            raise signature.op_error("expected at least one result for cast operation")

    def fold(self, constants: Sequence[Attribute | None]) -> Sequence[Value | Attribute] | None:
        if self.signature.operand_types == self.signature.result_types:
            return self.operands
        source = self.operand_at(0).defining_op if self.operands else None
        if not isinstance(source, UnrealizedConversionCastOp):
            return None
        casts_all_results = self.operands == list(source.results)
        is_inverse = casts_all_results and source.signature.operand_types == self.signature.result_types
        return source.operands if is_inverse else None

"""The type of sharding values: `!mesh.sharding` (LLVM 21)."""

from __future__ import annotations

from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.ir.constraints import TypeConstraint
from sdyopt.mlir.ir.types import Type


class ShardingType(Type):
    """`!mesh.sharding`."""

    dialect = "mesh"


SHARDING_TYPE = ShardingType()
SHARDING_VALUE = TypeConstraint[Type]("sharding definition", lambda type: type is SHARDING_TYPE)


@mesh.type("sharding")
def _parse(_parser: AsmParser) -> ShardingType:
    return SHARDING_TYPE


@mesh.printer(ShardingType)
def _print(_type: ShardingType, _attribute_printer: AttributePrinter) -> str:
    return "sharding"

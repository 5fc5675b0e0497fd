"""Shardings as values: `!mesh.sharding`, which later forms of the dialect have."""

from __future__ import annotations

from typing import Any

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.ir.constraints import TypeConstraint
from sdyopt.ir.types import Type


class ShardingType(Type):
    """`!mesh.sharding`: the type of shardings."""

    dialect = "mesh"


SHARDING_TYPE = ShardingType()
SHARDING_VALUE = TypeConstraint[Type]("sharding definition", lambda type: type is SHARDING_TYPE)


@mesh.type("sharding")
def _parse(_parser: AsmParser) -> ShardingType:
    return SHARDING_TYPE


@mesh.printer(ShardingType)
def _print(_type: ShardingType, _attribute_printer: Any) -> str:
    return "sharding"

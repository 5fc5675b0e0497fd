"""Shardings as values: `!mesh.sharding`, which later forms of the dialect have."""

from __future__ import annotations

from typing import Any

from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.ir.constraints import TypeConstraint
from sdyopt.ir.types import Type
from sdyopt.syntax.cursor import Cursor


class ShardingType(Type):
    """`!mesh.sharding`: the type of shardings."""

    dialect = "mesh"


SHARDING_TYPE = ShardingType()
SHARDING_VALUE = TypeConstraint("sharding definition", lambda type: type is SHARDING_TYPE)


@mesh.type("sharding")
def _parse(_cursor: Cursor) -> ShardingType:
    return SHARDING_TYPE


@mesh.spelling(ShardingType)
def _spell(_type: ShardingType, _speller: Any) -> str:
    return "sharding"

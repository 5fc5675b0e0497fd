"""One operation, one type and an operation of another dialect, as in MLIR's standalone example."""

from __future__ import annotations

from sdyopt import plugin
from sdyopt.mlir.dialects.func import func

DIALECT = standalone = plugin.Dialect("standalone")


@plugin.dialect_type(standalone, "custom")
class CustomType(plugin.Type):
    """`!standalone.custom<"10">`."""

    value: str
    assembly = plugin.attribute_format("<", plugin.string("value"), ">")


@standalone.op("foo", plugin.PURE, plugin.INFERS_TYPES)
class FooOp(plugin.Op):
    """Takes an i32 and returns it."""

    input = plugin.operand(plugin.exactly(plugin.I32, "32-bit signless integer"))
    res = plugin.result(plugin.exactly(plugin.I32, "32-bit signless integer"))
    infer_result_types = staticmethod(plugin.operand_types)

    assembly = plugin.assembly("$input attr-dict `:` type($input)")


@func.op("nothing")
class NothingOp(plugin.Op):
    """An operation that the file adds to a dialect that exists."""

    assembly = plugin.assembly("attr-dict")

"""Parts of statements, found step by step."""

from __future__ import annotations

import pytest

from sdyopt.mlir.error_help.statement import Statement
from sdyopt.mlir.error_help.table import (
    Narrowing,
    argument,
    attribute,
    attribute_name,
    brackets,
    first_of,
    item,
    item_of,
    list_after,
    narrow,
    only,
    operand_type,
    result,
    result_type,
    text,
    trailing_types,
)

FUNCTION = (
    "func.func @f(%x: tensor<4xf32> {a = 1}, %y: tensor<8xf32> {a = 2, b = [3, 4]}) -> (f32 {r = 5}, f32) {"
)
GENERIC = '"func.func"() <{arg_attrs = [{a = 1}, {a = 2}], res_attrs = [{r = 5}], sym_name = "f"}> ({'
SHARDED = (
    "stablehlo.custom_call @g(%x, %y) {sdy.sharding = #sdy.sharding_per_value<"
    '[<@m, [{"x"}, {}]>, <@m, [{"y"}, {"z"}]>]>} : (tensor<4xf32>, tensor<8xf32>) -> (i32, i64)'
)


def part(statement: str, *steps: Narrowing) -> str | None:
    """The text of the part that the steps find."""
    parsed = Statement(statement, 0)
    span = narrow(parsed, *steps)
    return None if span is None else statement[slice(*parsed.offsets(span))]


@pytest.mark.parametrize(
    ("statement", "steps", "found"),
    [
        (FUNCTION, [argument(0)], "%x: tensor<4xf32> {a = 1}"),
        (FUNCTION, [argument(1), attribute("a")], "a = 2"),
        (FUNCTION, [argument(1), attribute("b")], "b = [3, 4]"),
        (FUNCTION, [argument(1), attribute_name("b")], "b"),
        (FUNCTION, [argument(2)], None),
        (FUNCTION, [result(0)], "f32 {r = 5}"),
        (FUNCTION, [result(1)], "f32"),
        ("func.func @f() -> tensor<4xf32> {", [result(0)], "tensor<4xf32>"),
        (GENERIC, [argument(1)], "{a = 2}"),
        (GENERIC, [result(0)], "{r = 5}"),
        (SHARDED, [item_of("#sdy.sharding_per_value", 1)], '<@m, [{"y"}, {"z"}]>'),
        (SHARDED, [item_of("#sdy.sharding_per_value", 1), brackets("["), item(1)], '{"z"}'),
        (SHARDED, [item_of("#sdy.sharding_per_value", 0), list_after("@m")], '[{"x"}, {}]'),
        (SHARDED, [trailing_types], "(tensor<4xf32>, tensor<8xf32>) -> (i32, i64)"),
        (SHARDED, [operand_type(1)], "tensor<8xf32>"),
        (SHARDED, [result_type(1)], "i64"),
        ("a.b %x : i32, i64", [operand_type(1)], "i64"),
        ("a.b %x : i32", [result_type()], "i32"),
        ("a.b %x", [result_type()], None),
        ("a.b %x, dims = [1] x [2] : i32", [attribute("dims")], "dims = [1] x [2]"),
        ("a.b @m, @m", [text("@m", 1)], "@m"),
        ("a.b @m, @m", [only("@m")], None),
        ("a.b @m, @n", [first_of(text("@k"), text("@n"))], "@n"),
    ],
)
def test_steps_find_a_part_of_a_statement(statement: str, steps: list[Narrowing], found: str | None) -> None:
    assert part(statement, *steps) == found


def test_steps_that_find_nothing_are_skipped() -> None:
    assert part(SHARDED, argument(7), text('"z"')) == '"z"'
    assert part(FUNCTION, argument(1), text("@missing")) == "%y: tensor<8xf32> {a = 2, b = [3, 4]}"

"""The tokens of a statement: where it ends, what is nested in it, and finding texts."""

from __future__ import annotations

import pytest

from sdyopt.mlir.error_help.statement import Statement, tokens_of


def words(text: str, start: str) -> str:
    """The tokens of the statement that starts with a text, with spaces between them."""
    return " ".join(token.text for token in Statement(text, text.index(start)).tokens)


def test_a_statement_ends_with_its_line() -> None:
    text = "  %0 = stablehlo.abs %x : tensor<4xf32>\n  %1 = stablehlo.neg %0 : tensor<4xf32>\n"
    assert words(text, "stablehlo.abs") == "stablehlo.abs %x : tensor < 4 xf32 >"


@pytest.mark.parametrize(
    "text",
    [
        "func.func @f(\n  %x: i32\n) attributes {a}\n{ return }\nreturn",
        "sdy.mesh @m =\n  <[]>\nreturn",
        '"a.b"(%x) :\n  (i32) -> ()\nreturn',
        '"a.b"(%x)\n  {c = 1} : (i32)\n  -> ()\nreturn',
        "a.b %x : i32\n  loc(unknown)\nreturn",
    ],
)
def test_a_statement_may_have_several_lines(text: str) -> None:
    first = text.split(maxsplit=1)[0].partition("(")[0].strip('"')
    assert words(text, first).count("return") == text.count("{ return }")
    assert not words(text, first).endswith("return")


def test_nested_regions_are_left_out() -> None:
    text = 'func.func @f(%x: i32) {\n  "a.b"() {c = "}"} : () -> () // }\n  return\n} loc(unknown)\nother'
    assert words(text, "func.func") == "func.func @f ( %x : i32 ) loc ( unknown )"
    text = "a.b %x do {\n^bb0(%y: i32):\n  c.d\n}, {\n  %0 = c.d : i32\n} : i32"
    assert words(text, "a.b") == "a.b %x do , : i32"


def test_dictionaries_and_axes_are_not_regions() -> None:
    text = 'a.b %x {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {}]>, unit} : i32'
    assert words(text, "a.b").count("{") == text.count("{")


def test_reading_ends_where_the_text_is_invalid() -> None:
    assert words('a.b "never closed', "a.b") == "a.b"
    assert words("a.b ) : i32", "a.b") == "a.b"


def test_texts_are_found_token_by_token() -> None:
    statement = Statement('a.b {m = "m", n = <@m, ["x"]>} : tensor< 8x4xf32 >', 0)
    found = statement.find_all("tensor<8x4xf32>", statement.whole)
    assert [statement.text[slice(*statement.offsets(span))] for span in found] == ["tensor< 8x4xf32 >"]
    assert len(statement.find_all('"m"', statement.whole)) == 1
    assert len(statement.find_all("m", statement.whole)) == 1
    assert statement.find_all('"', statement.whole) == []


def test_commas_separate_the_items_of_a_bracket_unless_nested() -> None:
    statement = Statement('a.b [{"x", "y"}, {}, <[1, 2]>]', 0)
    opening = statement.index_of("[", statement.whole)
    assert opening is not None
    items = [statement.text[slice(*statement.offsets(span))] for span in statement.items(opening)]
    assert items == ['{"x", "y"}', "{}", "<[1, 2]>"]


def test_an_unclosed_string_has_no_tokens() -> None:
    assert tokens_of('"x') == []


def test_brackets_and_numbers_are_tokens() -> None:
    assert tokens_of("tensor<8xf32>") == ["tensor", "<", "8", "xf32", ">"]


def test_tokens_and_regions_are_read_up_to_a_limit() -> None:
    text = 'a.b {c = "d"} ({ x.y %z }) e'
    assert Statement(text, 0).end == len(text)
    limited = Statement(text, 0, 6)
    assert [token.text for token in limited.tokens] == ["a.b", "{", "c"]
    assert limited.end <= 6
    assert Statement(text, 0, text.index("%z")).end == text.index("%z")

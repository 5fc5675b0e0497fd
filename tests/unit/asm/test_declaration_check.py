"""Mistakes in declarations of operations are located in the plugin that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.asm.format.declaration_check import check_operation
from sdyopt.mlir.registry import all_dialects, find_dialect
from sdyopt.mlir.registry.plugins import load_any_plugin

PLUGIN = '''\
"""A dialect."""

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.ir.traits import ANY_TYPE, I64_ATTR
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, region, result, successor
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.types import F32

DIALECT = toy = Dialect("toy")


@toy.op("all_parts", TERMINATOR)
class AllPartsOp(Op):
    input = operand(ANY_TYPE)
    others = operands(ANY_TYPE)
    number = attr(I64_ATTR)
    body = region()
    exit = successor()
    out = result(ANY_TYPE)

    assembly = assembly(
        "$input `,` $number (`with` $others^ `:` type($others))? `to` $exit attr-dict-with-keyword "
        "$body `:` functional-type($input, results)"
    )
'''
GROUP = "(`with` $others^ `:` type($others))?"


@pytest.mark.parametrize(
    ("right", "wrong", "line", "token", "message", "help"),
    [
        ("$number", "$numbr", 24, "$numbr", "has no field 'numbr'", "did you mean '$number'?"),
        ("type($others)", "type($other)", 24, "type($other)", "no field 'other'", "did you mean '$others'?"),
        ("type($others)", "type($number)", 24, "type($number)", "is not an operand or a result", "$others"),
        ("type($others)", "type()", 24, "type()", "names no field", "write type($field)"),
        ("-with-keyword", "-with-keywrd", 24, "attr-dict-with-keywrd", "no directive", "did you mean"),
        ("results)", "result)", 25, "functional-type($input, result)", "result is not results", "'results'"),
        ("$input, results", "$input", 25, "functional-type($input)", "two arguments", "operands, results"),
        ("`to`", "custom<To>($exit)", 24, "custom<To>($exit)", "no directive custom<To>", "To=custom(…)"),
        ("`with`", "`with", 24, "`with $others^ `", "a literal has a space", "close it with `"),
        ("`to`", "to", 24, "to", "no directive to", "write `to` for a keyword"),
        ("`:` functional", ": functional", 25, ":", "unexpected :", "write `:` for a literal"),
        ("$others^", "$others", 24, "(", "has no anchor", "write ^ after the field"),
        ("$others^", "$input^", 24, "(", "$input of an optional group is never missing", "optional"),
        ("`with` $others^", "type($others)", 24, "(", "does not start with a literal", "write a `keyword`"),
        (GROUP, GROUP[:-1], 24, "`to`", "unexpected `to`", "expected ?"),
        (
            "attr-dict-with-keyword",
            "attr-dict",
            24,
            "attr-dict",
            "$body is parsed as the attr-dict",
            "keyword",
        ),
        ("attr-dict-with-keyword", "", 23, "", "has no attr-dict", "write attr-dict"),
        ("$body ", "", 23, "", "the region $body is not in the format", "write $body"),
        (
            "`:` functional-type($input, results)",
            "",
            23,
            "",
            "the type of the operand $input",
            "type($input)",
        ),
        ("functional-type($input, results)", "type($input)", 23, "", "type of the result $out", "type($out)"),
        ("$input `,`", "", 23, "", "the operand $input is not in the format", "write $input"),
        ("`to` $exit", "", 23, "", "the successor $exit is not in the format", "write $exit"),
        ("$exit", "$out", 24, "$out", "result $out has no text of its own", "write type($out)"),
    ],
)
def test_mistakes_are_located(
    tmp_path: Path, right: str, wrong: str, line: int, token: str, message: str, help: str
) -> None:
    assert right in PLUGIN.partition("assembly = ")[2]
    head, equals, format = PLUGIN.partition("assembly = ")
    file = tmp_path / "toy.py"
    file.write_text(head + equals + format.replace(right, wrong, 1))
    with pytest.raises(UsageError) as error:
        load_any_plugin(str(file))
    first, _, excerpt = str(error.value.message).partition("\n")
    assert first.startswith(f"{file}:{line}:")
    assert "the assembly of 'toy.all_parts': " in first
    assert message in first
    assert help in error.value.help
    if token:
        marked, carets = excerpt.splitlines()
        start = carets.index("^")
        assert marked[start:].startswith(token)
        assert carets.strip() == "^" + "~" * (len(token) - 1)


@pytest.mark.parametrize(
    ("right", "wrong", "message", "help"),
    [
        (
            "result(ANY_TYPE)",
            "results(ANY_TYPE)\n    more = results(ANY_TYPE)",
            "the result types cannot be divided among $out and $more",
            "write type($out) and type($more)",
        ),
        (
            "operand(ANY_TYPE)",
            "operands(ANY_TYPE)",
            "operands cannot be divided among $input and $others",
            "$input",
        ),
    ],
)
def test_lists_that_cannot_be_divided(
    tmp_path: Path, right: str, wrong: str, message: str, help: str
) -> None:
    text = PLUGIN.replace(right, wrong, 1).replace(
        "TERMINATOR)", "TERMINATOR, ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS)"
    )
    text = text.replace("import TERMINATOR", "import ATTR_SIZED_OPERANDS, ATTR_SIZED_RESULTS, TERMINATOR")
    text = text.replace("import attr,", "import results, attr,")
    file = tmp_path / "toy.py"
    if "operands cannot" in message:
        text = text.replace('"$input `,`', '"operands `,`').replace(
            "(`with` $others^ `:` type($others))? ", ""
        )
        text = text.replace("functional-type($input, results)", "functional-type(operands, results)")
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        load_any_plugin(str(file))
    assert message in str(error.value.message)
    assert help in error.value.help


@pytest.mark.parametrize(("field", "help"), [("order", 'name="order"'), ("parent", 'name="parent"')])
def test_fields_do_not_hide_members_of_operations(tmp_path: Path, field: str, help: str) -> None:
    file = tmp_path / "toy.py"
    file.write_text(PLUGIN.replace("    number =", f"    {field} =").replace("$number", f"${field}"))
    with pytest.raises(UsageError) as error:
        load_any_plugin(str(file))
    assert str(error.value.message).startswith(
        f"{file}:18:5: error: the field '{field}' of 'toy.all_parts' hides"
    )
    assert help in error.value.help


@pytest.mark.parametrize(
    ("right", "wrong", "position", "message", "help"),
    [
        (
            "operand(ANY_TYPE)",
            "operand(F32)",
            "16:5",
            "'input' of 'toy.all_parts' has",
            "write the TypeConstraint",
        ),
        (
            "attr(I64_ATTR)",
            "attr(ANY_TYPE)",
            "18:5",
            "'number' of 'toy.all_parts' has",
            "write the AttrConstraint",
        ),
        (", TERMINATOR)", ")", "20:5", "has successors, and is not a terminator", "TERMINATOR"),
        (
            "successor()\n",
            "successor()\n    more = operands(ANY_TYPE)\n",
            "21:5",
            "several groups",
            "ATTR_SIZED",
        ),
        (", TERMINATOR)", ", Op)", "15:1", "is not a trait", "such as PURE"),
        ("    assembly = assembly(", "    assembly = str(", "23:5", "is a string", 'assembly("…")'),
    ],
)
def test_declarations_with_mistakes(
    tmp_path: Path, right: str, wrong: str, position: str, message: str, help: str
) -> None:
    assert right in PLUGIN
    file = tmp_path / "toy.py"
    file.write_text(PLUGIN.replace(right, wrong, 1))
    with pytest.raises(UsageError) as error:
        load_any_plugin(str(file))
    first = str(error.value.message).splitlines()[0]
    assert first.startswith(f"{file}:{position}: error: ")
    assert message in first
    assert help in error.value.help


def test_the_right_format_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text(PLUGIN)
    load_any_plugin(str(tmp_path / "toy.py"))


def test_the_formats_of_all_dialects_are_accepted() -> None:
    checked = 0
    # The classes of vhlo are generated, without the traits that parsing does not need.
    for name in set(all_dialects()) - {"vhlo"}:
        dialect = find_dialect(name)
        assert dialect is not None
        for op_class in dialect.ops.values():
            check_operation(op_class)
            checked += 1
    assert checked > 350

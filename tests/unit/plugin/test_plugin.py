"""The module for authors of dialects: its names, its page, and the dialect that the page builds."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt import plugin
from sdyopt.mlir.ir.op_fields import Field
from tests.harness.pages import blocks_of

ROOT = Path(__file__).parents[3]
PAGE = "docs/writing-a-dialect.md"
LIST = Path(__file__).with_name("plugin_names.txt")


def names() -> list[str]:
    """A line for each name: the signature of a function, the bases of a class, the type of a constant."""
    lines = []
    for name in plugin.__all__:
        value = getattr(plugin, name)
        if inspect.isclass(value):
            lines.append(f"class {name}")
        elif inspect.isfunction(value):
            lines.append(f"{name}{re.sub(r' at 0x[0-9a-f]+', '', str(inspect.signature(value)))}")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    return lines


def page() -> str:
    return (ROOT / PAGE).read_text(encoding="utf-8")


def members() -> dict[str, list[str]]:
    """The members of each class in the last table of the page."""
    table = page().partition("### Members")[2].partition("### Other names")[0]
    rows = re.findall(r"^\| (?:hooks of )?`(\w+)`(?:, `(\w+)`)? \| (.*) \|$", table, re.MULTILINE)
    found: dict[str, list[str]] = {}
    for first, second, text in rows:
        for name in filter(None, (first, second)):
            own = text.partition(";")[0] if name in ("Value", "FactorType", "Attribute", "Type") else text
            found.setdefault(name, []).extend(re.findall(r"`(\w+)[^`]*`", own))
    return found


@pytest.mark.sources
def test_names_are_those_of_the_list() -> None:
    """After an intended change, write the list with `python -m tests.unit.plugin.test_plugin`."""
    assert len(plugin.__all__) == len(set(plugin.__all__))
    assert names() == LIST.read_text(encoding="utf-8").splitlines()


@pytest.mark.sources
def test_names_are_on_the_page() -> None:
    assert [name for name in plugin.__all__ if not re.search(rf"\b{name}\b", page())] == []


@pytest.mark.sources
def test_members_on_the_page_exist() -> None:
    table = members()
    assert len(table) > 10
    missing = [
        f"{name}.{member}"
        for name, listed in table.items()
        for member in listed
        if not _has(getattr(plugin, name), member)
    ]
    assert missing == []


def _has(cls: type, member: str) -> bool:
    """Whether a class or its instances have a member."""
    annotated = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    return hasattr(cls, member) or member in annotated or f"self.{member} = " in inspect.getsource(cls)


def test_functions_and_classes_have_docstrings() -> None:
    without = [
        name
        for name in plugin.__all__
        if (inspect.isclass(value := getattr(plugin, name)) or inspect.isfunction(value))
        and not inspect.getdoc(value)
    ]
    assert without == []


def test_members_on_the_page_have_docstrings() -> None:
    without = []
    for name, listed in members().items():
        for member in listed:
            value = inspect.getattr_static(getattr(plugin, name), member, None)
            function = value.fget if isinstance(value, property) else value
            if inspect.isfunction(function) and not inspect.getdoc(function):
                without.append(f"{name}.{member}")
    assert without == []


@pytest.mark.sources
def test_the_dialect_of_the_page_is_typed_strictly(tmp_path: Path) -> None:
    text = "\n\n".join(
        block.text
        for block in blocks_of(PAGE)
        if block.kind in ("file", "add") and block.argument == "flow.py"
    )
    file = tmp_path / "flow.py"
    file.write_text(text.replace("\n\n\n\n", "\n\n\n"))
    # With the options and the cache of `make types`, which are strict.
    for command in (["mypy"], ["ruff", "format", "--check", "--no-cache", "--line-length=110"]):
        done = subprocess.run(
            [sys.executable, "-m", *command, str(file)],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_operations_of_other_dialects_are_found_by_their_names() -> None:
    assert plugin.op_class("stablehlo.add").name == "stablehlo.add"
    with pytest.raises(ValueError, match=r"no operation 'stablehlo\.ad'; did you mean 'stablehlo\.add'\?"):
        plugin.op_class("stablehlo.ad")
    with pytest.raises(ValueError, match=r"no operation 'no\.op'; $"):
        plugin.op_class("no.op")


def test_fields_are_read_from_classes() -> None:
    assert isinstance(plugin.op_class("stablehlo.dot_general").dot_dimension_numbers, Field)  # type: ignore[attr-defined]


def test_factors_have_a_dimension_of_each_operand_and_result() -> None:
    matrix = plugin.tensor((2, 3), plugin.F32)
    builder = plugin.OpShardingRuleBuilder([matrix, matrix], [matrix])
    message = "1 operand dims and 1 result dims, of an operation with 2 operands and 1 results"
    with pytest.raises(ValueError, match=message):
        builder.add_factor(2, [0], [0])


if __name__ == "__main__":
    LIST.write_text("".join(f"{line}\n" for line in names()), encoding="utf-8")

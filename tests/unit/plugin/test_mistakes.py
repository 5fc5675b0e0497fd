"""Mistakes of authors are errors at their line, not internal errors later."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import sdyopt
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.registry import find_dialect, plugins
from sdyopt.mlir.registry.plugins import load_any_plugin

HEADER = """from sdyopt import plugin
DIALECT = mistaken = plugin.Dialect("mistaken")

"""


@pytest.fixture(autouse=True)
def forgotten_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets the plugins of a test: processes that later tests start would load them, too."""
    monkeypatch.setattr(plugins, "_plugins", dict(plugins._plugins))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("@mistaken.op\nclass A(plugin.Op): pass\n", 4, 'write @mistaken.op("mnemonic") before a class'),
        ('@mistaken.op("a")\nclass A: pass\n', 4, "A is not derived from Op"),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    name = plugin.attr(plugin.STRING_ATTR)\n',
            4,
            "the field 'name' hides a member of all operations: call it name_",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    data_flow = plugin.DataFlow()\n',
            6,
            "the data_flow of 'mistaken.a' is <",
        ),
        ('@mistaken.op("a")\nclass A(plugin.Op):\n    data_flow = "LOOP"\n', 6, "is 'LOOP'"),
        (
            '@mistaken.op("a")\nclass A(plugin.Op): pass\n\n@plugin.flops(A)\ndef count(op): return 0\n',
            7,
            "count takes 1 arguments, and flops gives it 4",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op): pass\n\n@plugin.sharding_rule(A)\ndef rule(op): pass\n',
            7,
            "rule takes 1 arguments, and sharding_rule gives it 2",
        ),
        (
            '@plugin.dialect_attribute(mistaken, "a")\nclass A(plugin.Attribute):\n    size: int\n'
            '    assembly = plugin.attribute_format("<", plugin.integer("sise"), ">")\n',
            4,
            "the format of A has the parameters sise, and the class size",
        ),
        (
            '@plugin.dialect_attribute(mistaken, "a")\nclass A(plugin.Attribute):\n'
            '    assembly = plugin.attribute_format("<", plugin.integer("size"), ">")\n',
            4,
            "and the class no fields: annotate them",
        ),
        (
            "class A(plugin.Attribute):\n    size: int\n    kind: str\n"
            'plugin.DialectEncodings("mistaken").attribute(0, A, plugin.SIGNED)\n',
            7,
            "A has size, kind, and 1 codecs, not one for each",
        ),
        (
            "class A(plugin.Attribute):\n    size: int\n"
            'plugin.DialectEncodings("mistaken").attribute(0, A, int)\n',
            6,
            "A is encoded by what is no codec",
        ),
        (
            'class A(plugin.Attribute):\n    size: int\n    dialect = "mistaken"\n'
            'plugin.DialectEncodings("mistake").attribute(0, A, plugin.SIGNED)\n',
            7,
            "A is of the dialect mistaken, not of mistake",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    f = plugin.attr(plugin.F32_ATTR, default=1.5)\n',
            6,
            "the field 'f' of 'mistaken.a' has the default 1.5, which is no attribute",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n'
            "    f = plugin.attr(plugin.F32_ATTR, default=plugin.integer_attr(1, plugin.I64))\n",
            6,
            "which it does not take",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    data_flow = plugin.LOOP\n',
            6,
            "the data_flow of 'mistaken.a' is that of an operation with regions, and it has none",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    x = plugin.operand(plugin.TENSOR)\n'
            "    def verify_signature(self, signature): pass\n",
            7,
            "verify_signature takes 2 arguments, and 'mistaken.a' gives it 1",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    def trip_count(signature): return 1\n',
            6,
            "trip_count of 'mistaken.a' is no static method",
        ),
        (
            '@mistaken.op("a")\nclass A(plugin.Op):\n    def fold(self): return None\n',
            6,
            "fold takes 1 arguments, and 'mistaken.a' gives it 2",
        ),
    ],
)
def test_mistakes_are_errors_at_their_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(HEADER + text)
    with pytest.raises(UsageError) as error:
        load_any_plugin(str(file))
    first = str(error.value.message).splitlines()[0]
    assert first.startswith(f"{file}:{line}:")
    assert message in first


FOLDED = (
    HEADER
    + """
@mistaken.op("a", plugin.PURE)
class A(plugin.Op):
    x = plugin.operand(plugin.TENSOR)
    r = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly("$x attr-dict `:` type($r, $x)")

    def fold(self, constants):
        return OUTCOME
"""
)

PROGRAM = """func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = mistaken.a %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize("passes", ["canonicalize", "sccp"])
@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        ("3", "is folded to 3, not"),
        ("[3]", r"is folded to \[3\], not"),
        ("[self.x, self.x]", "not to a value or an attribute for each result"),
    ],
)
def test_a_fold_that_returns_no_values(tmp_path: Path, passes: str, outcome: str, message: str) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(FOLDED.replace("OUTCOME", outcome))
    sdyopt.load_dialect_plugin(str(file))
    with pytest.raises(sdyopt.PassError, match=message) as error:
        sdyopt.parse(PROGRAM).run(passes)
    assert "fold returns a list" in str(error.value)


def test_a_fold_without_an_end(tmp_path: Path) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(FOLDED.replace("OUTCOME", "[]"))
    sdyopt.load_dialect_plugin(str(file))
    with pytest.raises(sdyopt.PassError, match=r"fold still matches 'mistaken\.a' after 10 iterations"):
        sdyopt.parse(PROGRAM).run("canonicalize")


FLOATS = (
    HEADER
    + """
@mistaken.op("a")
class A(plugin.Op):
    f = plugin.attr(plugin.positive(plugin.F32_ATTR), default=plugin.float_attr(1.5, plugin.F32))
    g = plugin.optional_attr(plugin.non_negative(plugin.F64_ATTR))
    assembly = plugin.assembly("$f (`and` $g^)? attr-dict")
"""
)


def test_floats_are_read_compared_and_made(tmp_path: Path) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(FLOATS)
    sdyopt.load_dialect_plugin(str(file))
    [op] = [op for op in sdyopt.parse("mistaken.a 0.25 and 0.0").walk() if op.name == "mistaken.a"]
    assert (op.f, op.g) == (0.25, 0.0)
    assert "1.500000e+00" in str(sdyopt.parse('"mistaken.a"() : () -> ()'))
    for text, message in (
        ("-0.25", "32-bit float attribute whose value is positive"),
        ("1.0 and -1.0", "64-bit float attribute whose value is non-negative"),
        ("0x7FC00000", "whose value is positive"),
    ):
        with pytest.raises(sdyopt.Error, match=message):
            sdyopt.parse(f"mistaken.a {text}")


def test_a_dialect_that_nothing_names(tmp_path: Path) -> None:
    file = tmp_path / "nameless.py"
    file.write_text(
        'from sdyopt import plugin\nnameless = plugin.Dialect("nameless")\n\n'
        '@nameless.op("a")\nclass A(plugin.Op): pass\n'
    )
    with pytest.raises(UsageError, match="the file defines no DIALECT") as error:
        load_any_plugin(str(file))
    assert error.value.help == "write DIALECT = the dialect 'nameless'"


PACKAGE = """
from sdyopt import plugin

DIALECT = packaged = plugin.Dialect("packaged")
plugin.register_encodings(plugin.DialectEncodings("packaged"))


@packaged.op("a")
class AOp(plugin.Op): ...
"""


def test_a_folder_is_a_package_and_is_executed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "packaged_dialect"
    folder.mkdir()
    (folder / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("packaged_dialect")
    load_any_plugin(str(folder))
    dialect = find_dialect("packaged")
    assert dialect is module.DIALECT
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        load_any_plugin("packaged_dialect")
    assert error.value.help == "write ./packaged_dialect for the package in this folder"


def test_a_file_that_is_a_plugin_can_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "imported_dialect.py"
    file.write_text(PACKAGE.replace("packaged", "imported"))
    load_any_plugin(str(file))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.import_module("imported_dialect").DIALECT is find_dialect("imported")

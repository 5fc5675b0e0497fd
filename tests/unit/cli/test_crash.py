"""Reports of unexpected exceptions: where, in which pass, and whose bug it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sdyopt import __version__
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.cli.crash import crash_diagnostic
from tests.unit.mistakes import PLUGIN


def raised(error: Exception) -> Exception:
    """The exception, with a traceback."""
    try:
        raise error
    except Exception as caught:
        return caught


def test_the_report_of_a_bug_has_the_frame_and_the_version() -> None:
    diagnostic = crash_diagnostic(raised(ZeroDivisionError("oops")), shows_stack=False)
    first, second = diagnostic.message.splitlines()
    assert first == "internal error: ZeroDivisionError: oops"
    assert second.startswith(f"raised at {__file__}:")
    assert diagnostic.help.startswith(
        f"this is a bug in sdy-opt {__version__}; report it to its maintainers "
    )
    assert diagnostic.help.endswith("; --mlir-print-stacktrace-on-diagnostic prints that")


def test_notes_of_the_exception_are_shown() -> None:
    error = raised(ValueError("bad"))
    error.add_note("while running pass 'p' on 'm'")
    assert crash_diagnostic(error, shows_stack=False).message.endswith(", while running pass 'p' on 'm'")


def test_an_exception_without_text_is_shown_by_its_class() -> None:
    message = crash_diagnostic(raised(AssertionError()), shows_stack=False).message
    assert message.startswith("internal error: AssertionError\n")


def test_the_stack_trace_is_last() -> None:
    diagnostic = crash_diagnostic(raised(ValueError("bad")), shows_stack=True)
    assert diagnostic.message.splitlines()[2] == "Traceback (most recent call last):"
    assert diagnostic.message.endswith("ValueError: bad")
    assert "prints that" not in diagnostic.help


def test_the_report_of_a_bug_of_a_plugin_names_the_plugin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The exception is raised in a library; the innermost frame of the plugin is shown."""
    monkeypatch.syspath_prepend(PLUGIN)
    path = tmp_path / "part.py"
    path.write_text("import json\njson.loads('x')\n", encoding="utf-8")
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    with pytest.raises(ValueError, match="Expecting value") as caught:
        exec(code, {"__name__": "broken_passes.part"})
    diagnostic = crash_diagnostic(caught.value, shows_stack=False)
    assert f"raised at {path}:2, in <module>" in diagnostic.message
    assert (
        "the plugin broken-passes 1.2; report it at https://example.org/broken-passes/issues"
        in diagnostic.help
    )
    assert "broken_passes" not in sys.modules


def test_a_plugin_that_is_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my_pass.py"
    code = compile("1 / 0", str(path), "exec")
    with pytest.raises(ZeroDivisionError) as caught:
        exec(code, {"__name__": "sdyopt_plugin_0_my_pass"})
    help = crash_diagnostic(caught.value, shows_stack=False).help
    assert help.startswith(f"this is a bug in the plugin {path}; --mlir-print-stack")


def test_a_plugin_is_named_beside_sdy_opt_if_the_innermost_operation_is_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("sdyopt_plugin_0_typo")
    module.__file__ = "typo.py"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    of_plugin = type("A", (Op,), {"__module__": module.__name__})

    def read(op_class: type[Op]) -> None:
        raise TypeError(op_class.__name__)

    for op_class, bug in [
        (of_plugin, f"the plugin typo.py or in sdy-opt {__version__}; --mlir-print-stack"),
        (Op, f"sdy-opt {__version__}; report it"),
    ]:
        with pytest.raises(TypeError) as caught:
            read(op_class)
        assert crash_diagnostic(caught.value, False).help.startswith(f"this is a bug in {bug}")


HOOKS = """from sdyopt import plugin
DIALECT = crashing = plugin.Dialect("crashing")

@crashing.op("a", plugin.PURE)
class A(plugin.Op):
    x = plugin.operand(plugin.TENSOR)
    r = plugin.result(plugin.TENSOR)
    assembly = plugin.assembly("$x attr-dict `:` type($r, $x)")
    HOOK

@plugin.sharding_rule(A)
def rule(signature, builder):
    RULE

@plugin.flops(A)
def count(op, lhs, rhs, out):
    FLOPS
"""
PROGRAM = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = crashing.a %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize(
    ("hook", "body", "argument"),
    [
        ("HOOK", "verify_signature = staticmethod(lambda signature: 1 // 0)", "-canonicalize"),
        ("HOOK", "verify_in_context = lambda self: 1 // 0", "-canonicalize"),
        ("RULE", "1 // 0", "-sdy-basic-propagate"),
        ("FLOPS", "1 // 0", "--report"),
    ],
)
def test_the_operation_of_a_hook_of_a_plugin_is_named(
    tmp_path: Path, hook: str, body: str, argument: str
) -> None:
    bodies = {"HOOK": "", "RULE": "builder.add_pointwise((8,))", "FLOPS": "return 8", hook: body}
    text = HOOKS
    for name, code in bodies.items():
        text = text.replace(name, code)
    (tmp_path / "crashing.py").write_text(text)
    (tmp_path / "a.mlir").write_text(PROGRAM)
    command = [sys.executable, "-m", "sdyopt", "a.mlir", "--load-plugin=crashing.py", argument]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "ZeroDivisionError" in done.stderr
    assert "for 'crashing.a' at a.mlir:2:8" in done.stderr
    assert "this is a bug in the plugin" in done.stderr

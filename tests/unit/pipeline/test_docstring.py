"""Docstrings are found in the source of a module, of a class or function in it, or nowhere."""

from inspect import getdoc

import tests.harness.shell
import tests.harness.tools
from sdyopt.pipeline.docstring import docstring

SHELL, TOOLS = "tests.harness.shell", "tests.harness.tools"


def test_docstrings_in_the_source() -> None:
    assert docstring(SHELL) == getdoc(tests.harness.shell)
    assert docstring(SHELL, ["Stage"]) == getdoc(tests.harness.shell.Stage)
    assert docstring(SHELL, ["parse"]) == getdoc(tests.harness.shell.parse)
    assert docstring(TOOLS, ["Tools", "close"]) == getdoc(tests.harness.tools.Tools.close)


def test_what_has_no_docstring() -> None:
    assert docstring(SHELL, ["Runner", "__call__"]) == ""
    assert docstring(SHELL, ["parse", "<locals>", "finish_stage"]) == ""
    assert docstring(SHELL, ["missing"]) == ""


def test_what_has_no_source() -> None:
    assert docstring("sys") == ""
    assert docstring("no_such_module") == ""

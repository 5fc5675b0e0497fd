"""Docstrings are found in the source of a module, of a class or function in it, or nowhere."""

from inspect import getdoc

import sdyopt.tools.lit.shell
import sdyopt.tools.lit.tools
from sdyopt.mlir.pipeline.base import docstring

SHELL, TOOLS = "sdyopt.tools.lit.shell", "sdyopt.tools.lit.tools"


def test_docstrings_in_the_source() -> None:
    assert docstring(SHELL) == getdoc(sdyopt.tools.lit.shell)
    assert docstring(SHELL, ["Stage"]) == getdoc(sdyopt.tools.lit.shell.Stage)
    assert docstring(SHELL, ["parse"]) == getdoc(sdyopt.tools.lit.shell.parse)
    assert docstring(TOOLS, ["Tools", "close"]) == getdoc(sdyopt.tools.lit.tools.Tools.close)


def test_definitions_that_are_missing_or_undocumented_have_no_docstring() -> None:
    assert docstring(SHELL, ["Runner", "__call__"]) == ""
    assert docstring(SHELL, ["parse", "<locals>", "finish_stage"]) == ""
    assert docstring(SHELL, ["missing"]) == ""


def test_modules_without_source_have_no_docstring() -> None:
    assert docstring("sys") == ""
    assert docstring("no_such_module") == ""

"""Docstrings are found in the source of a module, of a class or function in it, or nowhere."""

from inspect import getdoc

import sdyopt.lit.shell
import sdyopt.lit.tools
from sdyopt.pipeline.docstring import docstring

SHELL, TOOLS = "sdyopt.lit.shell", "sdyopt.lit.tools"


def test_docstrings_in_the_source() -> None:
    assert docstring(SHELL) == getdoc(sdyopt.lit.shell)
    assert docstring(SHELL, ["Stage"]) == getdoc(sdyopt.lit.shell.Stage)
    assert docstring(SHELL, ["parse"]) == getdoc(sdyopt.lit.shell.parse)
    assert docstring(TOOLS, ["Tools", "close"]) == getdoc(sdyopt.lit.tools.Tools.close)


def test_definitions_that_are_missing_or_undocumented_have_no_docstring() -> None:
    assert docstring(SHELL, ["Runner", "__call__"]) == ""
    assert docstring(SHELL, ["parse", "<locals>", "finish_stage"]) == ""
    assert docstring(SHELL, ["missing"]) == ""


def test_modules_without_source_have_no_docstring() -> None:
    assert docstring("sys") == ""
    assert docstring("no_such_module") == ""

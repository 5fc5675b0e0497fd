"""Docstrings are found in the source of a module, of a class or function in it, or nowhere."""

from inspect import getdoc

import sdyopt.tools.lit.tools
from sdyopt.mlir.pipeline.base import docstring

TOOLS = "sdyopt.tools.lit.tools"


def test_docstrings_in_the_source() -> None:
    assert docstring(TOOLS) == getdoc(sdyopt.tools.lit.tools)
    assert docstring(TOOLS, ["Stage"]) == getdoc(sdyopt.tools.lit.tools.Stage)
    assert docstring(TOOLS, ["parse"]) == getdoc(sdyopt.tools.lit.tools.parse)
    assert docstring(TOOLS, ["Tools", "close"]) == getdoc(sdyopt.tools.lit.tools.Tools.close)


def test_definitions_that_are_missing_or_undocumented_have_no_docstring() -> None:
    assert docstring(TOOLS, ["Runner", "__call__"]) == ""
    assert docstring(TOOLS, ["parse", "<locals>", "finish_stage"]) == ""
    assert docstring(TOOLS, ["missing"]) == ""


def test_modules_without_source_have_no_docstring() -> None:
    assert docstring("sys") == ""
    assert docstring("no_such_module") == ""

"""Reads docstrings from the source, because `python -OO` strips them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstring(module: str, names: Sequence[str] = ()) -> str:
    """The docstring of a module, or of a class or function in it, from its source.

    `names` are the names of the enclosing definitions, outermost first, and then its own. Empty if there is
    no source, or no docstring.
    """
    node = _syntax_tree(module)
    for name in names:
        if node is not None:
            node = _definition(node, name)
    return "" if node is None else ast.get_docstring(node) or ""


@cache
def _syntax_tree(module: str) -> Documented | None:
    """The syntax tree of a module; its loader returns the source, even from an archive."""
    loader: Any = getattr(sys.modules.get(module), "__loader__", None)
    try:
        source = loader.get_source(module) if hasattr(loader, "get_source") else None
    except (ImportError, OSError):
        return None
    return None if source is None else ast.parse(source)


def _definition(scope: Documented, name: str) -> Documented | None:
    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    return None

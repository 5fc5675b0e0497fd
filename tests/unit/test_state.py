"""The state of a run is in its context: no function changes a variable of a module or attribute of a class.

What importing a module declares, and caches of immutable values, are listed below with the reason.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]

# Tables that decorators and plugins fill when a module is imported, which is once in a process.
DECLARATIONS = """
sdyopt/analysis/changes/proposals/__init__.py:_KINDS
sdyopt/analysis/figures/flops.py:FLOPS
sdyopt/analysis/interface/__init__.py:cls
sdyopt/analysis/lint/rule.py:cls
sdyopt/analysis/lint/rule.py:rules
sdyopt/analysis/interface/__init__.py:_analyses
sdyopt/base/dataclasses.py:cls
sdyopt/base/diagnostics/ids.py:_of_rules
sdyopt/base/diagnostics/ids.py:_summaries
sdyopt/mlir/asm/format/attribute_format.py:_cpp_names
sdyopt/mlir/asm/format/attribute_format.py:_formats
sdyopt/mlir/asm/format/format_elements.py:_syntaxes
sdyopt/mlir/asm/format/format_elements.py:registered
sdyopt/mlir/asm/parser/attributes/semantic_actions.py:_actions
sdyopt/mlir/asm/printer/builtin_printer.py:PRINT_FUNCTIONS
sdyopt/mlir/dialects/linalg/layout.py:cls
sdyopt/mlir/dialects/stablehlo/dialect.py:cls
sdyopt/mlir/error_help/table.py:EXPLANATIONS
sdyopt/mlir/ir/dialect.py:PRINTERS
sdyopt/mlir/ir/dialect.py:cls
sdyopt/mlir/pipeline/base.py:cls
sdyopt/mlir/registry/discovery.py:_added_dialects
sdyopt/mlir/registry/plugins.py:_file_modules
sdyopt/mlir/registry/plugins.py:_plugins
sdyopt/mlir/registry/plugins.py:entries
sdyopt/mlir/registry/plugins.py:loaded_pass_plugins
sdyopt/mlir/registry/table.py:cls
sdyopt/mlir/registry/table.py:entries
sdyopt/shardy/sharding/op_sharding_rule_builder.py:rule_entries
sdyopt/shardy/sharding/rules/custom_call.py:_targets
sdyopt/tools/cli/flags.py:FLAGS
"""

# Caches: a value follows from its key alone, so it does not matter which run adds it. `_classes`, `_maximal`
# and `_unreduced` say what has ever been there, so that a run may skip what cannot be in its program.
CACHES = """
sdyopt/base/patterns.py:_new
sdyopt/base/patterns.py:_stored
sdyopt/mlir/asm/parser/statement_templates.py:_kept
sdyopt/mlir/bytecode/attribute_table.py:_encodings
sdyopt/mlir/bytecode/properties.py:_layouts
sdyopt/mlir/dialects/__init__.py:_names
sdyopt/mlir/dialects/mhlo/mirrored.py:_ATTRIBUTES
sdyopt/mlir/dialects/sdy/mesh.py:_maximal
sdyopt/mlir/dialects/sdy/sharding.py:_unreduced
sdyopt/mlir/dialects/vhlo/to_vhlo.py:_first_versions
sdyopt/mlir/ir/op_fields.py:_declared
sdyopt/mlir/ir/op_signature.py:_classes
"""

# What a process has one of. Those of the lit runner set it in processes of their own.
OF_THE_PROCESS = """
sdyopt/mlir/registry/plugins.py:sys
sdyopt/tools/lit/forkserver.py:os
sdyopt/tools/lit/forkserver.py:sys
sdyopt/tools/lit/plugin.py:os
sdyopt/tools/lit/tool_process.py:sys
"""

_MUTATORS = frozenset(
    name
    for mutable in (list, dict, set, deque)
    for name in vars(mutable)
    if not hasattr(tuple, name) and not hasattr(MappingProxyType, name) and not hasattr(frozenset, name)
)


def changed_state(path: str, source: str) -> Iterator[str]:
    """The variables of modules and attributes of classes that functions of a file change, as `path:name`."""
    tree = ast.parse(source)
    known = _module_names(tree)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        names = known - _local_names(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Global):
                yield from (f"{path}:{name}" for name in node.names)
            elif (name := _changed(node)) in names:
                yield f"{path}:{name}"


def _module_names(tree: ast.Module) -> set[str]:
    """The names that a module assigns, imports or gives a class."""
    names = {"cls"}
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update((alias.asname or alias.name).partition(".")[0] for alias in aliases)
    return names


def _local_names(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    arguments = ast.walk(function.args)
    names = {argument.arg for argument in arguments if isinstance(argument, ast.arg)} - {"cls"}
    names.update(n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return names


def _changed(node: ast.AST) -> str | None:
    """The variable whose value a statement changes in place."""
    match node:
        case ast.Call(func=ast.Attribute(value=target, attr=method)) if method in _MUTATORS:
            return _root(target)
        case ast.Call(func=ast.Name(id="setattr"), args=[target, *_]):
            return _root(target)
        case ast.Subscript(value=target, ctx=ast.Store() | ast.Del()):
            return _root(target)
        case ast.Attribute(value=target, ctx=ast.Store() | ast.Del()):
            return _root(target)
    return None


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def test_only_declarations_and_caches_change() -> None:
    found: set[str] = set()
    for folder in ("sdyopt", "passes"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            # The worker is a process of its own, of one run.
            if not path.startswith("sdyopt/analysis/execution/worker/"):
                found.update(changed_state(path, file.read_text(encoding="utf-8")))
    listed = {entry for text in (DECLARATIONS, CACHES, OF_THE_PROCESS) for entry in text.split()}
    assert not found - listed, "put state of a run into a `ContextPart` of the context"
    assert not listed - found


@pytest.mark.parametrize(
    "source",
    [
        "_stack = []\ndef f(): _stack.append(1)",
        "_table = {}\ndef f(): _table['a'] = 1",
        "_table = {}\ndef f(): del _table['a']",
        "_flags = [False]\nclass A:\n    def f(self): _flags[-1] = True",
        "from a import _flags\ndef f(): _flags.clear()",
        "_count = 0\ndef f():\n    global _count\n    _count += 1",
        "class A: x = 1\ndef f(): A.x = 2",
        "class A:\n    @classmethod\n    def f(cls): cls.x = 2",
        "import a\ndef f(): setattr(a.B, 'x', 2)",
    ],
)
def test_a_change_is_seen(source: str) -> None:
    assert list(changed_state("m", source))


@pytest.mark.parametrize(
    "source",
    [
        "_table = {}\n_table['a'] = 1",
        "def f(table): table['a'] = 1",
        "_table = {}\ndef f():\n    _table = {}\n    _table['a'] = 1",
        "_table = {}\ndef f(): return _table['a']",
    ],
)
def test_other_changes_are_not(source: str) -> None:
    assert not list(changed_state("m", source))

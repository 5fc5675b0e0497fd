"""The names of values for people: `params['w']` and `result[0]['w']`, as JAX names arguments and results.

JAX states them as attributes and locations of functions:

    func.func public @main(%arg0: tensor<8xf32> loc("params['w']"))
        -> (tensor<8xf32> {jax.result_info = "result[0]['w']"})

This is the only module that reads them. Other values have no name but their SSA name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.location import FileLoc, FileRange, NameLoc
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface, symbol_name
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import BlockArgument, Value

_INDEX = constant_pattern(r"\[\d+\]")
_PART = constant_pattern(r"\['[^']*'\]|\[[\d*]+\]|\.\w+")
_ROOT = constant_pattern(r"result\[\d+\]|\w+")
_ARGUMENT_INFO, _RESULT_INFO = "jax.arg_info", "jax.result_info"


class NamedResult(NamedTuple):
    """A result of a function."""

    function: FunctionOpInterface
    result_index: int


def name_of(value: Value) -> str:
    """The name of a value, if it is an argument of a function that has one; else ""."""
    function = value.block.parent_op if isinstance(value, BlockArgument) else None
    if not isinstance(value, BlockArgument) or not isinstance(function, FunctionOpInterface):
        return ""
    if value.block is not function.regions[0].entry:
        return ""
    attributes = function.argument_attributes
    if value.index < len(attributes) and (info := _text(attributes[value.index], _ARGUMENT_INFO)):
        return info
    location = value.location
    is_name = isinstance(location, NameLoc) and not isinstance(location.child, FileLoc | FileRange)
    return location.name if isinstance(location, NameLoc) and is_name else ""


def name_of_result(function: FunctionOpInterface, index: int) -> str:
    """The name of a result of a function; "" if it has none."""
    return _text(function.result_attributes[index], _RESULT_INFO)


def argument_text(function: FunctionOpInterface, index: int) -> str:
    """The name of an argument, or `argument 0 of @main`."""
    entry = function.regions[0].entry
    name = "" if entry is None or index >= len(entry.arguments) else name_of(entry.arguments[index])
    return name or f"argument {index} of @{symbol_name(function)}"


def result_text(function: FunctionOpInterface, index: int) -> str:
    """The name of a result, or `result 0 of @main`."""
    return name_of_result(function, index) or f"result {index} of @{symbol_name(function)}"


def pattern_of(name: str) -> str:
    """`params['layers'][*]['w']`: a name with any index in place of its own."""
    return _INDEX.sub("[*]", name)


# So many names are given by what they have in common.
_LEAVES = 4


def grouped_names(names: Iterable[str]) -> list[str]:
    """Names, with `params[*]['w']` for those of layers, and `state[0].nu, 8 leaves` for many of a tree."""
    patterns: dict[str, dict[str, None]] = {}
    for name in filter(None, names):
        patterns.setdefault(pattern_of(name), {})[name] = None
    groups = [next(iter(same)) if len(same) == 1 else pattern for pattern, same in patterns.items()]
    common = _common_part([name for same in patterns.values() for name in same])
    count = sum(map(len, patterns.values()))
    return [f"{common}, {count} leaves"] if common and len(groups) >= _LEAVES else groups


def _common_part(names: Sequence[str]) -> str:
    """`state[0].nu`: the parts with which all names of trees begin; "" if there are none."""
    roots = {name[: len(name) - len("".join(path_parts(name)))] for name in names}
    if len(roots) != 1:
        return ""
    shared = []
    for parts in zip(*map(path_parts, names), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return f"{roots.pop()}{''.join(shared)}"


def tree_of(name: str) -> str:
    """`state['nu']` of `state['nu']['layers'][0]['w']`, and `params` of `params['w']`: the tree of a leaf."""
    parts = path_parts(name)
    root = name[: len(name) - len("".join(parts))]
    return root if len(parts) < 2 else f"{root}{parts[0]}"


def path_parts(name: str) -> tuple[str, ...]:
    """`['layers']`, `[0]` and `['w']` of `params['layers'][0]['w']`."""
    return tuple(_PART.findall(name))


# So many parts of a name may be that of a tree.
_TREE_DEPTH = 3


def argument_trees(function: FunctionOpInterface) -> dict[str, list[BlockArgument]]:
    """The trees that arguments are leaves of, by name: `state`, `state['nu']` and `state['nu']['layers']`."""
    trees: dict[str, list[BlockArgument]] = {}
    entry = function.regions[0].entry
    for argument in () if entry is None else entry.arguments:
        parts = path_parts(name := name_of(argument))
        root = name[: len(name) - len("".join(parts))]
        for depth in range(min(len(parts), _TREE_DEPTH)):
            trees.setdefault(f"{root}{''.join(parts[:depth])}", []).append(argument)
    return {name: leaves for name, leaves in trees.items() if len(leaves) > 1}


def tree_of_values(module: Op, values: Sequence[Value]) -> tuple[str, list[BlockArgument]] | None:
    """The first tree of arguments whose leaves have the shapes of values, in their order; None for none.

    Values may be those of the tree several times.
    """
    shapes = [value.type.shape for value in values if isinstance(value.type, RankedTensor)]
    functions = [op for op in module.walk() if isinstance(op, FunctionOpInterface)] if values else []
    for name, leaves in {name: tree for op in functions for name, tree in argument_trees(op).items()}.items():
        times, rest = divmod(len(shapes), len(leaves))
        of_leaves = [leaf.type.shape if isinstance(leaf.type, RankedTensor) else None for leaf in leaves]
        if times and not rest and of_leaves * times == shapes:
            return name, leaves * times
    return None


def find_named(module: Op, text: str) -> list[BlockArgument | NamedResult]:
    """The arguments and results that have this name, with either kind of quotes; `[*]` is any index."""
    wanted = re.compile(re.escape(_spelled(text)).replace(r"\[\*\]", _INDEX.pattern))
    return [value for name, value in _named(module) if wanted.fullmatch(_spelled(name))]


def similar_names(module: Op, text: str) -> list[str]:
    """The names that begin with a text, or have its last key; else one name for each argument of Python.

    Those that only differ in an index are given as a pattern.
    """
    names, wanted = all_names(module), _spelled(text)
    within = [name for name in names if _spelled(name).startswith((f"{wanted}[", f"{wanted}."))]
    key = last_key(text)
    with_key = [name for name in names if f"['{key}']" in name or name.endswith(f".{key}")]
    if candidates := within or with_key:
        counts = Counter(map(pattern_of, candidates))
        return list(
            dict.fromkeys(name if counts[p] == 1 else p for name in candidates for p in [pattern_of(name)])
        )
    roots: dict[str, str] = {}
    for name in names:
        root = _ROOT.match(name)
        roots.setdefault(root[0] if root is not None else name, name)
    return list(roots.values())


def last_key(text: str) -> str:
    """`wq` for `params["wq"]` and for `params.wq`; the text itself if it has no key."""
    match = re.search(r"(?:\['([^']*)'\]|\.(\w+))\Z", _spelled(text))
    return text if match is None else match[1] or match[2]


def all_names(module: Op) -> list[str]:
    """The names of arguments and results, each once, in the order of the text."""
    return list(dict.fromkeys(name for name, _ in _named(module)))


def _named(module: Op) -> Iterator[tuple[str, BlockArgument | NamedResult]]:
    for function in module.walk():
        if not isinstance(function, FunctionOpInterface):
            continue
        entry = function.regions[0].entry
        for argument in () if entry is None else entry.arguments:
            if name := name_of(argument):
                yield name, argument
        for index in range(len(function.result_attributes)):
            if name := name_of_result(function, index):
                yield name, NamedResult(function, index)


def _spelled(name: str) -> str:
    """A name as it is compared: Python writes `params['w']` and `params["w"]` for the same."""
    return "".join(name.split()).replace('"', "'")


def _text(attributes: DictAttr, name: str) -> str:
    attribute = attributes.get(name)
    return attribute.value if isinstance(attribute, StringAttr) else ""

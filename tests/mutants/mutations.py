"""The mutations: small edits of the text of an expression or a statement.

`edits` makes all edits of a file. Assertions, error messages, annotations and decorators are not edited.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Edit:
    """Replaces the bytes from `start` to `end`."""

    start: int
    end: int
    text: str


class Text:
    """The bytes of a file, and where nodes of its syntax tree are in them."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        starts = [0]
        for line in content.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        return Edit(self.start(node), self.end(node), text)

    def source(self, node: ast.expr | ast.stmt) -> str:
        return self.content[self.start(node) : self.end(node)].decode()

    def replace_operator(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Edit:
        """Replaces the operator between two operands."""
        pattern = r"\s+".join(re.escape(word) for word in old.split()).encode()
        match = re.compile(pattern).search(self.content, self.end(left), self.start(right))
        assert match, f"no operator {old}"
        return Edit(match.start(), match.end(), new)


def edits(content: bytes) -> Iterator[Edit]:
    """All edits of the text of a file, in the order of its syntax tree."""
    text = Text(content)
    for node in _mutable_nodes(ast.parse(content)):
        for mutate in _MUTATIONS.get(type(node), ()):
            yield from mutate(node, text)


def _mutable_nodes(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, value in ast.iter_fields(node):
        if name in _IMMUTABLE_FIELDS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, _NOT_ENTERED):
                yield from _mutable_nodes(child)


_IMMUTABLE_FIELDS = ("annotation", "returns", "decorator_list")
# Python 3.11 does not know where the parts of an f-string are. An import has no expressions.
_NOT_ENTERED = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


# --- Operators ------------------------------------------------------------------------------------

_COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "//"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_FUNCTIONS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "reversed": "list",
    "prod": "sum",
    "gcd": "lcm",
}


def _compare(node: ast.Compare, text: Text) -> Iterator[Edit]:
    """`<` becomes `<=` or `>=`, `is` becomes `is not`, and so on."""
    for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
        old, replacements = _COMPARISONS[type(operator)]
        for new in replacements:
            yield text.replace_operator(left, right, old, new)


def _arithmetic(node: ast.BinOp, text: Text) -> Iterator[Edit]:
    """`+` becomes `-`, and so on."""
    if type(node.op) in _ARITHMETIC:
        yield text.replace_operator(node.left, node.right, *_ARITHMETIC[type(node.op)])


def _augmented(node: ast.AugAssign, text: Text) -> Iterator[Edit]:
    """`+=` becomes `-=`, and so on; or there is no assignment."""
    if type(node.op) in _ARITHMETIC:
        old, new = _ARITHMETIC[type(node.op)]
        yield text.replace_operator(node.target, node.value, f"{old}=", f"{new}=")
    yield text.replace(node, "pass")


def _connective(node: ast.BoolOp, text: Text) -> Iterator[Edit]:
    """`and` becomes `or`, and the reverse."""
    old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    for left, right in pairwise(node.values):
        yield text.replace_operator(left, right, old, new)


def _unary(node: ast.UnaryOp, text: Text) -> Iterator[Edit]:
    """`not x` and `-x` become `x`."""
    if isinstance(node.op, (ast.Not, ast.USub)):
        yield text.replace(node, text.source(node.operand))


def _constant(node: ast.Constant, text: Text) -> Iterator[Edit]:
    """True becomes False, and a number one more or less."""
    if isinstance(node.value, bool):
        yield text.replace(node, str(not node.value))
    elif isinstance(node.value, (int, float)):
        yield text.replace(node, str(node.value + 1))
        yield text.replace(node, str(node.value - 1))


# --- Conditions and calls -------------------------------------------------------------------------


def _condition(node: ast.If | ast.IfExp | ast.While, text: Text) -> Iterator[Edit]:
    """The condition is negated, unless its operator is."""
    yield from _negated(node.test, text)


def _filters(node: ast.comprehension, text: Text) -> Iterator[Edit]:
    """A filter is negated, unless its operator is."""
    for condition in node.ifs:
        yield from _negated(condition, text)


def _negated(condition: ast.expr, text: Text) -> Iterator[Edit]:
    is_simple = isinstance(condition, ast.Compare) and len(condition.ops) == 1
    if not is_simple and not isinstance(condition, ast.UnaryOp):
        yield text.replace(condition, f"not ({text.source(condition)})")


def _call(node: ast.Call, text: Text) -> Iterator[Edit]:
    """`min` becomes `max`, `sorted` becomes `list`, and so on."""
    if isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS:
        yield text.replace(node.func, _FUNCTIONS[node.func.id])


# --- Statements -----------------------------------------------------------------------------------


def _dropped(node: ast.Expr | ast.Raise | ast.Continue | ast.Break, text: Text) -> Iterator[Edit]:
    """A statement that is no docstring becomes `pass`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
        yield text.replace(node, "pass")


def _assignment(node: ast.Assign, text: Text) -> Iterator[Edit]:
    """There is no assignment to an attribute or an item. Most names must be assigned."""
    if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
        yield text.replace(node, "pass")


def _return(node: ast.Return, text: Text) -> Iterator[Edit]:
    """A value that is not constant becomes None; a `return` without a value is dropped."""
    if node.value is None:
        yield text.replace(node, "pass")
    elif not isinstance(node.value, ast.Constant):
        yield text.replace(node, "return None")


def _exchanged(node: ast.Continue | ast.Break, text: Text) -> Iterator[Edit]:
    """`continue` becomes `break`, and the reverse."""
    yield text.replace(node, "break" if isinstance(node, ast.Continue) else "continue")


_MUTATIONS: dict[type[ast.AST], tuple[Callable[[Any, Text], Iterator[Edit]], ...]] = {
    ast.Compare: (_compare,),
    ast.BinOp: (_arithmetic,),
    ast.AugAssign: (_augmented,),
    ast.BoolOp: (_connective,),
    ast.UnaryOp: (_unary,),
    ast.Constant: (_constant,),
    ast.If: (_condition,),
    ast.IfExp: (_condition,),
    ast.While: (_condition,),
    ast.comprehension: (_filters,),
    ast.Call: (_call,),
    ast.Expr: (_dropped,),
    ast.Raise: (_dropped,),
    ast.Continue: (_dropped, _exchanged),
    ast.Break: (_dropped, _exchanged),
    ast.Assign: (_assignment,),
    ast.Return: (_return,),
}

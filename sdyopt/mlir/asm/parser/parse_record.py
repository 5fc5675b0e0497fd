"""The record of offsets and names in a source, which the parser fills on request.

    record = ParseRecord()
    module, _ = parse_module(source, dialects, options, record)

An operation whose text states a location does not keep its offset, and no value keeps its name.
"""

from __future__ import annotations

from itertools import islice

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.asm.parser.ssa_scope import Scope
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value


class Definition(NamedTuple):
    """The name of a value, `%name` or `%name#k`, and the offset of that name."""

    name: str
    offset: int


class ParseRecord:
    """The record of one source, or of its part before an error.

    - `offsets`: the offset of each operation, which is its location unless the text states another one. An
      operation that an assembly implies has that of the operation around it.
    - `values`: the definitions of values, except of implied ones, which have no name.
    - `locations`: the offset of each `loc(…)` after an operation or argument.
    """

    def __init__(self) -> None:
        self.offsets: dict[Op, int] = {}
        self.values: dict[Value, Definition] = {}
        self.locations: set[int] = set()

    def add_names(self, scope: Scope, mark: int) -> None:
        """Adds the names that a scope has got since a mark."""
        count = len(scope.values) - mark
        named = zip(reversed(scope.values.items()), reversed(scope.offsets), strict=True)
        for (name, value), offset in islice(named, count):
            # The first of several results has two names; the one with its number is the later one.
            self.values.setdefault(value, Definition(name, offset))

"""SSA names and block labels during parsing, and the record of names and offsets that the parser fills.

    record = ParseRecord()
    module, _ = parse_module(source, dialects, options, record)

An operation whose text states a location does not keep its offset, and no value keeps its name.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import islice

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.diagnostics.location import Location, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.lexical import INTEGER, SSA_ID, TRIVIA
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.ir.block import Block
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import OpResult, Value

_UNDECLARED_VALUE = ErrorKind(
    "use of undeclared SSA value name",
    help="a value is defined before its use, in the same function or an enclosing region",
    explain="value",
)
_UNDEFINED_BLOCK = ErrorKind("reference to an undefined block", explain="block")

TypeText = Callable[[Type], str]


class ForwardValue(Value):
    """A placeholder for a value that is used before its definition, which follows in `definition`."""

    __slots__ = ("_location", "definition", "offset")

    def __init__(self, type: Type, offset: int, location: Location) -> None:
        self.type = type
        self.first_use = None
        # The offset of the first use.
        self.offset = offset
        self._location = location
        self.definition: Value | None = None

    @property
    def location(self) -> Location:
        return self._location


class Scope:
    """The SSA names that are visible at a point of the source.

    `values` maps `%name` and `%name#k` to values. `offsets` has the offsets of their definitions, in the
    same order: only errors read them, and an array is small. `forward` has the names that are not yet
    defined. The names of a nested region are removed at its end. Names outside of an isolated region are
    visible inside it; the verifier rejects such uses.
    """

    __slots__ = ("_type_text", "forward", "offsets", "source", "values")

    def __init__(self, source: Source, type_text: TypeText) -> None:
        self.source = source
        self._type_text = type_text
        self.values: dict[str, Value] = {}
        self.offsets = array("q")
        self.forward: dict[str, ForwardValue] = {}

    def mark(self) -> int:
        """The number of names, which `release` takes at the end of a nested region."""
        return len(self.values)

    def release(self, mark: int) -> None:
        """Removes the names added since `mark`, except forward references."""
        values, offsets = self.values, self.offsets
        del offsets[mark:]
        if not mark:
            values.clear()
        while len(values) > mark:
            values.popitem()

    def use(self, name: str, offset: int, type: Type, parser: AsmParser) -> Value:
        """The value of a name, or a placeholder if it is not yet defined. Its type must be `type`."""
        value = self.values.get(name) or self.forward.get(name)
        if value is None:
            plain, _, number = name.partition("#")
            if number and plain in self.values:
                raise parser.unprefixed_error("reference to invalid result number", offset)
            value = self.forward[name] = ForwardValue(type, offset, self.source.location(offset))
        if value.type is not type:
            plain, used = name.partition("#")[0], self._type_text(value.type)
            error = parser.unprefixed_error(
                f"use of value '{plain}' expects different type than prior uses: "
                f"'{self._type_text(type)}' vs '{used}'",
                offset,
            )
            error.help(f"write `{used}`, the type of `{plain}`, or convert the value first")
            raise error.note("prior use here", self.location(name))
        return value

    def define(self, name: str, value: Value, offset: int, parser: AsmParser) -> None:
        """Defines a name and replaces its placeholder, if any; raises an error if it is already defined."""
        if name in self.values:
            plain = name.partition("#")[0]
            error = parser.unprefixed_error(f"redefinition of SSA value '{plain}'", offset)
            error.help(f"give one of the two another name than `{plain}`")
            raise error.note("previously defined here", self.location(name))
        placeholder = self.forward.get(name)
        if placeholder is not None:
            if placeholder.type is not value.type:
                full = name if "#" in name else f"{name}#0"
                raise parser.unprefixed_error(
                    f"definition of SSA value '{full}' has type '{self._type_text(value.type)}'", offset
                ).note(
                    f"previously used here with type '{self._type_text(placeholder.type)}'",
                    placeholder.location,
                )
            replace_all_uses(placeholder, value)
            placeholder.definition = value
            del self.forward[name]
        self.values[name] = value
        self.offsets.append(offset)

    def define_results(
        self, name: str, results: tuple[OpResult, ...], offset: int, parser: AsmParser
    ) -> None:
        """Defines a group of results: `%name` is the first one, `%name#k` the one at index k."""
        self.define(name, results[0], offset, parser)
        if len(results) > 1:
            # The first result has two names.
            self.values[f"{name}#0"] = results[0]
            self.offsets.append(offset)
        for index in range(1, len(results)):
            self.define(f"{name}#{index}", results[index], offset, parser)

    def location(self, name: str) -> Location | None:
        """The location of the definition of a name, or of its first use; None if there is neither."""
        if name in self.values:
            return self.source.location(self.offsets[list(self.values).index(name)])
        return self.forward[name].location if name in self.forward else None

    def undefined(self, parser: AsmParser) -> list[DiagnosticError]:
        """An error for each name that is never defined, in order of first use."""
        first_uses = sorted(value.offset for value in self.forward.values())
        return [parser.unprefixed_error(_UNDECLARED_VALUE(), offset) for offset in first_uses]


def with_definitions(values: Sequence[Value]) -> list[Value]:
    """The values, without placeholders that were defined after they were resolved."""
    return [(v.definition or v) if isinstance(v, ForwardValue) else v for v in values]


def replace_all_uses(old: Value, new: Value) -> None:
    """Replaces every use of `old` with `new`, the most recent use first, as in MLIR."""
    while (use := old.first_use) is not None:
        use.unlink()
        use.link(new)


_NAME = constant_pattern(SSA_ID)
_COUNT = constant_pattern(f"{TRIVIA}({INTEGER})")


class ResultGroup(NamedTuple):
    """A name, the number of results that it stands for, and its offset."""

    name: str
    size: int
    offset: int


def parse_result_groups(parser: AsmParser) -> list[ResultGroup]:
    """Parses `%a, %b:2 =`, empty if no name is next; raises DiagnosticError."""
    groups: list[ResultGroup] = []
    if not parser.text.startswith("%", parser.skip_trivia()):
        return groups
    while True:
        match = _NAME.match(parser.text, parser.skip_trivia())
        if match is None:
            raise parser.wrong_token_error("expected valid ssa identifier")
        parser.position = match.end()
        size = _parse_count(parser) if parser.accept(":") else 1
        groups.append(ResultGroup(match[0], size, match.start()))
        if not parser.accept(","):
            break
    parser.expect("=", " after SSA name")
    return groups


def _parse_count(parser: AsmParser) -> int:
    match = _COUNT.match(parser.text, parser.position)
    if match is None:
        raise parser.wrong_token_error("expected integer number of results")
    count = int(match[1][:20], 0) if match[1][1:2] == "x" else int(match[1][:20])
    if not 1 <= count < 1 << 64:
        raise parser.error("expected named operation to have at least 1 result")
    parser.position = match.end()
    return count


class BlockLabels:
    """The blocks of one region by their label, `^` included."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        # Labels that have been used but not defined -> the offset of the first use.
        self._undefined: dict[str, int] = {}

    def use(self, label: str, offset: int) -> Block:
        """The block of a label, created if it is not defined yet."""
        block = self._blocks.get(label)
        if block is None:
            block = self._blocks[label] = Block()
            self._undefined[label] = offset
        return block

    def define(self, label: str, parser: AsmParser, offset: int) -> Block:
        """The block of a label at its definition; raises an error if it is defined twice."""
        if label in self._blocks and label not in self._undefined:
            raise parser.unprefixed_error(f"redefinition of block '{label}'", offset)
        block = self.use(label, offset)
        del self._undefined[label]
        return block

    def check(self, parser: AsmParser) -> None:
        """Raises an error for each label that has not been defined."""
        errors = [
            parser.unprefixed_error(_UNDEFINED_BLOCK(), offset) for offset in sorted(self._undefined.values())
        ]
        raise_all(errors)

    def discard_uses_from(self, offset: int) -> None:
        """Removes the undefined labels whose first use is at or after `offset`."""
        for label in [label for label, first_use in self._undefined.items() if first_use >= offset]:
            del self._undefined[label], self._blocks[label]


def raise_all(errors: list[DiagnosticError]) -> None:
    """Raises the first error, followed by the others; does nothing if there are none."""
    if errors:
        for other in errors[1:]:
            errors[0].then(other)
        raise errors[0]


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

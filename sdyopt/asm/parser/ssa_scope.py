"""The scope of SSA names during parsing, with forward references."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.diagnostics.location import Location
from sdyopt.diagnostics.source import Source
from sdyopt.ir.types import Type
from sdyopt.ir.value import OpResult, Value

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
            raise parser.unprefixed_error(
                f"use of value '{name.partition('#')[0]}' expects different type than prior uses: "
                f"'{self._type_text(type)}' vs '{self._type_text(value.type)}'",
                offset,
            ).note("prior use here", self.location(name))
        return value

    def define(self, name: str, value: Value, offset: int, parser: AsmParser) -> None:
        """Defines a name and replaces its placeholder, if any; raises an error if it is already defined."""
        if name in self.values:
            plain = name.partition("#")[0]
            raise parser.unprefixed_error(f"redefinition of SSA value '{plain}'", offset).note(
                "previously defined here", self.location(name)
            )
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
        return [parser.unprefixed_error("use of undeclared SSA value name", offset) for offset in first_uses]


def with_definitions(values: Sequence[Value]) -> list[Value]:
    """The values, without placeholders that were defined after they were resolved."""
    return [(v.definition or v) if isinstance(v, ForwardValue) else v for v in values]


def replace_all_uses(old: Value, new: Value) -> None:
    """Replaces every use of `old` with `new`, the most recent use first, as in MLIR."""
    while (use := old.first_use) is not None:
        use.unlink()
        use.link(new)

"""Names in a printed program: of values, blocks and aliases, and lines that only SSA names complete.

Values of a region are named before those of its nested regions. Sibling regions start from the same counters,
so they use the same names, unless all names are to be unique, as in generic form. An operation may suggest
names (`%cst`, `%iterArg`), which get a suffix `_0`, `_1`, … if they are in use.

Aliases are `#map`, `#set`, `#distinct`, `#loc3` and `!tuple`. Which attributes get an alias, its number, and
whether it is defined before or after the module follow MLIR: attributes are visited in the order of printing,
nested ones get their alias first, and those used only in trailing locations are deferred to the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.location import (
    CallSite,
    FusedLoc,
    Location,
    NameLoc,
    UnknownLoc,
)
from sdyopt.base.interning import Interned
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.format.assembly_format import Assembly
from sdyopt.mlir.asm.format.print_template import Part
from sdyopt.mlir.asm.lexical import SUFFIX_ID
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.asm.printer.builtin_printer import MAX_UNNAMED_TUPLE
from sdyopt.mlir.ir.affine import AffineMapAttr, IntegerSetAttr
from sdyopt.mlir.ir.attribute import (
    EMPTY_DICT,
    UNIT,
    Attribute,
    DictAttr,
    DistinctAttr,
    LocationAttr,
    immediate_sub_elements,
    nested_attributes,
)
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.holes import HOLES
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import TupleType, Type
from sdyopt.mlir.ir.value import Value

_SUFFIX_ID = constant_pattern(SUFFIX_ID)


class _Names(dict[Value, str]):
    """Names of values; those defined outside the printed operation are unknown."""

    def __missing__(self, value: Value) -> str:
        return "<<UNKNOWN SSA VALUE>>"


class _Counters:
    """The next numbers: of unnamed values, of entry block arguments, and of suffixes of names in use."""

    __slots__ = ("argument", "conflict", "value")

    def __init__(self, value: int = 0, argument: int = 0, conflict: int = 0) -> None:
        self.value = value
        self.argument = argument
        self.conflict = conflict

    def copy(self) -> _Counters:
        return _Counters(self.value, self.argument, self.conflict)


class SsaNames:
    """The names of all values and blocks inside an operation.

    With `only_printed`, regions that the assembly does not print have no names.
    `names` has the names with `%`; those of several results in a group are `%3#0`, `%3#1`. `groups` has the
    indices at which groups of results start, for operations with more than one group.
    """

    def __init__(
        self,
        root: Op,
        is_generic: bool = False,
        are_unique: bool = False,
        from_locations: bool = False,
        with_ids: bool = False,
        only_printed: bool = False,
    ) -> None:
        self.names: dict[Value, str] = _Names()
        # IDs of operations without results, for comments.
        self.ids: dict[Op, str] = {}
        self.blocks: dict[Block, str] = {}
        self.groups: dict[Op, list[int]] = {}
        self._is_generic = is_generic
        self._are_unique = are_unique or is_generic
        self._from_locations = from_locations
        self._with_ids = with_ids
        # Numbers of unique names depend on all regions.
        self._skips_hidden = only_printed and not (self._are_unique or with_ids)
        self._used: set[str] = set()
        self._added: list[str] = []
        self._counters = _Counters()
        before = self._counters.copy()
        self._name_results(root)
        if not self._are_unique:
            self._counters = before
        self._name_regions([root])

    def _name_regions(self, ops: Sequence[Op]) -> None:
        """Names the values in regions; unless names are unique, each region starts at the same numbers."""
        for op in reversed(ops):
            for region in reversed(op.regions):
                outer = self._counters
                if not self._are_unique:
                    self._counters = outer.copy()
                outer_added, self._added = self._added, []
                self._name_regions(self._name_region(region))
                self._used.difference_update(self._added)
                self._added = outer_added
                self._counters = outer

    def _name_region(self, region: Region) -> list[Op]:
        """Names the arguments and results of a region; returns its operations with regions."""
        op = region.parent
        if op is not None and not self._is_generic and op.name_arguments is not None:
            for argument, name in op.name_arguments(region):
                self._set_name(argument, self._location_name(argument, name))
        inner = []
        names, blocks, counters = self.names, self.blocks, self._counters
        is_plain, is_generic, skips_hidden = not self._from_locations, self._is_generic, self._skips_hidden
        for number, block in enumerate(region.blocks):
            blocks[block] = f"^bb{number}"
            if block.arguments:
                self._name_arguments(block, is_entry=number == 0)
            child = block.first
            while child is not None:
                results = child.results
                if is_plain and len(results) == 1 and (is_generic or child.name_results is None):
                    number = counters.value
                    names[results[0]] = f"%{number}"
                    counters.value = number + 1
                elif results or self._with_ids:
                    self._name_results(child)
                if child.regions and not (skips_hidden and child.hides_regions and child.hides_regions()):
                    inner.append(child)
                child = child.next
        return inner

    def _name_arguments(self, block: Block, is_entry: bool) -> None:
        for argument in block.arguments:
            if argument in self.names:
                continue
            name = ""
            if is_entry:
                name = f"arg{self._counters.argument}"
                self._counters.argument += 1
            self._set_name(argument, self._location_name(argument, name))

    def _name_results(self, op: Op) -> None:
        if not op.results:
            if self._with_ids:
                self.ids[op] = f"%{self._counters.value}"
                self._counters.value += 1
            return
        starts = [0]
        suggested = () if self._is_generic or op.name_results is None else op.name_results()
        for index, name in suggested:
            self._set_name(op.results[index], self._location_name(op.results[index], name))
            if index:
                starts.append(index)
        if op.results[0] not in self.names:
            self._set_name(op.results[0], self._location_name(op.results[0], ""))
        if len(op.results) == 1:
            return
        starts.sort()
        if len(starts) > 1:
            self.groups[op] = starts
        for start, end in zip(starts, [*starts[1:], len(op.results)], strict=True):
            base = self.names[op.results[start]]
            for index in range(start + 1, end):
                self.names[op.results[index]] = f"{base}#{index - start}"
            if end - start > 1:
                self.names[op.results[start]] = f"{base}#0"

    def _location_name(self, value: Value, default: str) -> str:
        """The name in the value's location if names are taken from locations, or `default`."""
        if not self._from_locations:
            return default
        return next((inner.name for inner in value.location.walk() if isinstance(inner, NameLoc)), default)

    def _set_name(self, value: Value, name: str) -> None:
        if not name:
            self.names[value] = f"%{self._counters.value}"
            self._counters.value += 1
            return
        self.names[value] = "%" + self._unique(_sanitized(name))

    def _unique(self, name: str) -> str:
        unique = name
        while unique in self._used:
            unique = f"{name}_{self._counters.conflict}"
            self._counters.conflict += 1
        self._used.add(unique)
        self._added.append(unique)
        return unique


@lru_cache(maxsize=4096)
def _sanitized(name: str) -> str:
    """A name as a valid SSA name (without `%`)."""
    if _SUFFIX_ID.fullmatch(name):
        return name if not name.isdigit() else f"_{name}"
    clean = "".join(c if (c.isalnum() and c.isascii()) or c in "$._-" else _hex(c) for c in name)
    return f"_{clean}" if clean[0].isdigit() else clean


def _hex(character: str) -> str:
    return "_" if character == " " else character.encode("utf-8", "surrogateescape").hex().upper()


def users_comment(op: Op, ssa_names: SsaNames) -> str:
    """The comment after an operation, with a space before it; empty if there is none."""
    if not op.results:
        return f" // id: {ssa_names.ids[op]}" if op.operand_uses and op in ssa_names.ids else ""
    if not any(result.has_uses for result in op.results):
        return " // unused"
    users = {user: None for result in op.results for user in result.users}
    is_single = len(op.results) == len(users) == 1 and sum(len(user.results) for user in users) <= 1
    texts = [_users(result, ssa_names) for result in op.results]
    if len(texts) > 1:
        texts = [f"({text})" for text in texts]
    return f" // {'user' if is_single else 'users'}: {', '.join(texts)}"


def argument_comments(block: Block, ssa_names: SsaNames) -> list[str]:
    """A comment for each argument of a block."""
    return [
        f"// {ssa_names.names[argument]} is "
        + (f"used by {_users(argument, ssa_names)}" if argument.has_uses else "unused")
        for argument in block.arguments
    ]


def _users(value: Value, ssa_names: SsaNames) -> str:
    """The users of a value, each once: the names of its results, or its ID if it has none."""
    if not value.has_uses:
        return "unused"
    names = []
    for user in dict.fromkeys(value.users):
        names += [ssa_names.names[result] for result in user.results] or [ssa_names.ids[user]]
    return ", ".join(names)


# The maximum length of a text in a format string.
_MAX_FORMATTED_LENGTH = 10_000
# The name of an attribute that no operation has.
_MARK = "sdyopt.mark"


class PrintedLine:
    """The parts of a print template.

    `format` is their text as a format string for the operator `%`, whose values are the name of the result,
    if there is exactly one, and those of the operands in order; None if the parts must be printed one by one,
    or if they are so long, as for a big constant, that a copy would cost more than it saves. `line_format`
    is the same for a whole line, whose first value is the indentation, if there is exactly one result.
    """

    __slots__ = ("format", "is_repeated", "line_format", "parts")

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.format: str | None = None
        self.line_format: str | None = None
        self.is_repeated = False

    def repeat(self, has_result: bool) -> None:
        """Makes the formats, because more than one operation has this line."""
        self.is_repeated = True
        parts = self.parts
        indices = [part for part in parts if isinstance(part, int)]
        if all(map(_is_formatted, parts)) and indices == list(range(len(indices))):
            text = "".join(part.replace("%", "%%") if isinstance(part, str) else "%s" for part in parts)
            self.set_format(f"%s = {text}" if has_result else text, has_result)

    def set_format(self, format: str, has_result: bool) -> None:
        self.is_repeated = True
        self.format = format
        if has_result:
            self.line_format = f"%s{format}\n"


def _is_formatted(part: Part) -> bool:
    return isinstance(part, int) or (isinstance(part, str) and len(part) <= _MAX_FORMATTED_LENGTH)


def format_of_signature(
    signature: OpSignature, attributes: DictAttr, types: Mapping[Interned, str]
) -> str | None:
    """The text of operations with at most one result, as a format string with `%s` for each SSA name.

    None if it also depends on something else. `types` has the texts of some types.
    """
    assembly = signature.op_class.assembly
    if not isinstance(assembly, Assembly) or len(signature.result_types) > 1:
        return None
    if any(isinstance(nested, DistinctAttr) for nested in nested_attributes(signature.attributes)):
        # Their numbers depend on what is printed before.
        return None
    printer = AttributePrinter(aliases=types)
    line = PrintedLine([signature.name, *assembly.template(signature, attributes, printer).parts])
    line.repeat(has_result=bool(signature.result_types))
    return None if printer.lacks_alias else line.format


def attribute_position(form: OpSignature) -> tuple[int, frozenset[str]] | None:
    """Where discardable attributes are in the texts of the signatures of a form, and which are not printed.

    None if they are after a type or between other attributes.
    """
    types: dict[Interned, str] = dict.fromkeys(HOLES, "\0")
    without, with_mark = (
        format_of_signature(form, attributes, types)
        for attributes in (EMPTY_DICT, DictAttr(((_MARK, UNIT),)))
    )
    if without is None or with_mark is None:
        return None
    mark = f" {{{_MARK}}}"
    before, _, after = with_mark.partition(mark)
    if before + after != without or "\0" in before:
        return None
    assembly: Assembly = form.op_class.assembly
    return len(before), assembly.elided


_NAMES: dict[type, str] = {AffineMapAttr: "map", IntegerSetAttr: "set", DistinctAttr: "distinct"}


@dataclass(slots=True)
class _Visited:
    """A visited attribute. Without a name it gets no alias, but attributes nested in it may.

    `depth` is 0 if neither the attribute nor one nested in it gets an alias, otherwise one more than the
    largest depth of its sub-elements, or 1 without these.
    """

    name: str
    is_deferrable: bool
    depth: int = 0
    inner: Sequence[Interned] = ()


@dataclass
class Aliases:
    """Alias texts, and the attributes whose aliases are defined before and after the module, in order."""

    texts: dict[Interned, str] = field(default_factory=dict)
    before_module: list[Attribute | Location] = field(default_factory=list)
    after_module: list[Attribute | Location] = field(default_factory=list)


class AliasFinder:
    """Visits the attributes of a program in the order of printing and assigns aliases."""

    def __init__(self) -> None:
        self._visited: dict[Interned, _Visited] = {}

    def aliases(self) -> Aliases:
        """The aliases of the visited attributes."""
        aliases = Aliases()
        counts: dict[str, int] = {}
        named = [(element, visited) for element, visited in self._visited.items() if visited.name]
        # The sort is stable: attributes of the same depth and name are in the order of their visits.
        for element, visited in sorted(named, key=_alias_order):
            number = counts.get(visited.name, 0)
            counts[visited.name] = number + 1
            sigil = "!" if isinstance(element, Type) else "#"
            text = aliases.texts[element] = f"{sigil}{visited.name}{number or ''}"
            if isinstance(element, Location):
                aliases.texts[LocationAttr(element)] = text
            assert isinstance(element, Attribute | Location)
            (aliases.after_module if visited.is_deferrable else aliases.before_module).append(element)
        return aliases

    def visit(self, element: Interned, is_deferrable: bool = False) -> int:
        """Visits an attribute and its sub-elements; returns its depth.

        The alias of an attribute is defined after the module if `is_deferrable` is set at all its visits.
        """
        if isinstance(element, LocationAttr):
            element = element.location
        visited = self._visited.get(element)
        if visited is None:
            name = _name_of_alias(element)
            visited = self._visited[element] = _Visited(name, is_deferrable)
            visited.inner = _sub_elements(element)
            deepest = max([self.visit(inner, is_deferrable) for inner in visited.inner], default=0)
            visited.depth = deepest + 1 if deepest or name else 0
        elif not is_deferrable:
            self._define_before_module(visited)
        return visited.depth

    def _define_before_module(self, visited: _Visited) -> None:
        if not visited.is_deferrable:
            return
        visited.is_deferrable = False
        for inner in visited.inner:
            self._define_before_module(
                self._visited[inner.location if isinstance(inner, LocationAttr) else inner]
            )


def _alias_order(item: tuple[Interned, _Visited]) -> tuple[int, bool, str]:
    element, visited = item
    return visited.depth, not isinstance(element, Type), visited.name


def _name_of_alias(element: Interned) -> str:
    """The alias name of an attribute, empty if it gets none."""
    if isinstance(element, Location):
        return "loc"
    if isinstance(element, TupleType):
        return "tuple" if len(element.types) > MAX_UNNAMED_TUPLE else ""
    is_bare = isinstance(element, DistinctAttr) and element.attribute is UNIT
    return "" if is_bare else _NAMES.get(type(element), "")


def _sub_elements(element: Interned) -> list[Interned]:
    """The direct sub-elements, in the order of printing."""
    if isinstance(element, Location):
        return list(_inner_locations(element))
    assert isinstance(element, Attribute)
    return list(immediate_sub_elements(element))


def _inner_locations(location: Location) -> Iterator[Attribute | Location]:
    if isinstance(location, NameLoc):
        if not isinstance(location.child, UnknownLoc):
            yield location.child
    elif isinstance(location, CallSite):
        yield location.callee
        yield location.caller
    elif isinstance(location, FusedLoc):
        if isinstance(location.metadata, Attribute):
            yield location.metadata
        yield from location.locations

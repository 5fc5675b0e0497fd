"""The culprit of a diagnostic in its statement, and the functions that explain kinds of errors.

A step narrows a span of tokens to a piece, and returns None where the span does not have that piece:

    narrow(statement, argument(1), attribute("sdy.sharding"), text('"modle"'))

Steps find pieces by their form, in the generic syntax and in the custom syntax of functions and operations.
An `ErrorKind` has them as text, `at`: `steps_of` lists them. If its help depends on more than the values in
the message, it names a function:

    @explains("similar symbol")
    def _similar_symbol(case: Case) -> Explanation: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.ids import Message
from sdyopt.base.diagnostics.usage import closest
from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.error_help.statement import Span, Statement
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import FUNCTION

Narrowing = Callable[[Statement, Span], Span | None]


def narrow(statement: Statement, *steps: Narrowing) -> Span | None:
    """The span after all steps, skipping those that find nothing; None if no step finds anything."""
    span, is_found = statement.whole, False
    for step in steps:
        narrower = step(statement, span)
        if narrower is not None:
            span, is_found = narrower, True
    return span if is_found else None


def text(wanted: str, nth: int = 0) -> Narrowing:
    """An occurrence of a text, by default the first; a negative `nth` counts from the last."""

    def step(statement: Statement, span: Span) -> Span | None:
        matches = statement.find_all(wanted, span)
        return matches[nth] if -len(matches) <= nth < len(matches) else None

    return step


def only(wanted: str) -> Narrowing:
    """The only occurrence of a text."""

    def step(statement: Statement, span: Span) -> Span | None:
        matches = statement.find_all(wanted, span)
        return matches[0] if len(matches) == 1 else None

    return step


def first_of(*steps: Narrowing) -> Narrowing:
    """The piece that the first successful step finds."""

    def step(statement: Statement, span: Span) -> Span | None:
        return next((place for step in steps if (place := step(statement, span)) is not None), None)

    return step


def within(*steps: Narrowing) -> Narrowing:
    """The piece after all steps, each of which must find something."""

    def step(statement: Statement, span: Span) -> Span | None:
        place: Span | None = span
        for step in steps:
            place = None if place is None else step(statement, place)
        return place

    return step


def attribute(name: str) -> Narrowing:
    """The first `name = value`, in a dictionary or elsewhere in the statement."""

    def step(statement: Statement, span: Span) -> Span | None:
        for wanted in (name, f'"{name}"'):
            for start, equals in statement.find_all(wanted, span):
                if equals < span.end and statement.tokens[equals].text == "=":
                    return Span(start, _end_of_item(statement, equals, span))
        return None

    return step


def attribute_name(name: str) -> Narrowing:
    """The name in `name = value`."""

    def step(statement: Statement, span: Span) -> Span | None:
        place = attribute(name)(statement, span)
        return None if place is None else Span(place.first, place.first + 1)

    return step


def argument(index: int) -> Narrowing:
    """An argument of a function, with its type and attributes; in the generic syntax, its attributes only."""

    def step(statement: Statement, span: Span) -> Span | None:
        opening = statement.index_of("(", span, depth=0)
        place = None if opening is None else _item(statement, opening, index)
        return place or _item_of_attribute(statement, span, "arg_attrs", index)

    return step


def result(index: int) -> Narrowing:
    """A result of a function, with its type and attributes; in the generic syntax, its attributes only."""

    def step(statement: Statement, span: Span) -> Span | None:
        generic = _item_of_attribute(statement, span, "res_attrs", index)
        arrow = statement.index_of("->", span, depth=0)
        if generic is not None or arrow is None:
            return generic
        if statement.tokens[arrow + 1 : arrow + 2] and statement.tokens[arrow + 1].text == "(":
            return _item(statement, arrow + 1, index)
        return _type_at(statement, arrow + 1) if index == 0 else None

    return step


def list_after(word: str) -> Narrowing:
    """The first list in square brackets after a word: `in_shardings=[…]`, `per_value<[…]>`."""

    def step(statement: Statement, span: Span) -> Span | None:
        matches = statement.find_all(word, span)
        opening = statement.index_of("[", Span(matches[0].end, span.end)) if matches else None
        if opening is None or opening not in statement.closing:
            return None
        return Span(opening, statement.closing[opening] + 1)

    return step


def item_of(word: str, index: int) -> Narrowing:
    """An item of the first list in square brackets after a word."""

    def step(statement: Statement, span: Span) -> Span | None:
        items = list_after(word)(statement, span)
        return None if items is None else _item(statement, items.first, index)

    return step


def brackets(opening: str = "[", nth: int = 0) -> Narrowing:
    """The nth pair of brackets of a kind, with its contents."""

    def step(statement: Statement, span: Span) -> Span | None:
        openings = [i for i in range(*span) if statement.tokens[i].text == opening and i in statement.closing]
        if not -len(openings) <= nth < len(openings):
            return None
        return Span(openings[nth], statement.closing[openings[nth]] + 1)

    return step


def item(index: int) -> Narrowing:
    """An item of the list in brackets with which the span starts."""

    def step(statement: Statement, span: Span) -> Span | None:
        return _item(statement, span.first, index)

    return step


def trailing_types(statement: Statement, span: Span) -> Span | None:
    """The types: what follows the last colon outside of brackets, without a trailing location."""
    colons = [i for i in range(*span) if statement.tokens[i].text == ":" and statement.depths[i] == 0]
    if not colons or colons[-1] + 1 >= span.end:
        return None
    end = statement.index_of("loc", Span(colons[-1], span.end), depth=0)
    return Span(colons[-1] + 1, span.end if end is None else end)


def operand_type(index: int) -> Narrowing:
    """The type of an operand, in a function type or a list of types; the first one if the list is shorter."""

    def step(statement: Statement, span: Span) -> Span | None:
        types = trailing_types(statement, span)
        if types is None:
            return None
        if statement.tokens[types.first].text == "(":
            return _item(statement, types.first, index)
        listed = _listed_types(statement, types)
        return listed[index] if index < len(listed) else listed[0]

    return step


def result_type(index: int = 0) -> Narrowing:
    """The type of a result, in a function type or a list of types; the first one if the list is shorter."""

    def step(statement: Statement, span: Span) -> Span | None:
        types = trailing_types(statement, span)
        if types is None:
            return None
        arrow = statement.index_of("->", types, depth=0)
        if arrow is None:
            listed = _listed_types(statement, types)
            return listed[index] if index < len(listed) else listed[0]
        if arrow + 1 < types.end and statement.tokens[arrow + 1].text == "(":
            return _item(statement, arrow + 1, index)
        return Span(arrow + 1, types.end) if arrow + 1 < types.end else None

    return step


def _listed_types(statement: Statement, types: Span) -> list[Span]:
    """The types in `A, B, C`."""
    spans, first = [], types.first
    for index in range(*types):
        if statement.tokens[index].text == "," and statement.depths[index] == 0:
            spans.append(Span(first, index))
            first = index + 1
    return [*spans, Span(first, types.end)]


def _type_at(statement: Statement, start: int) -> Span | None:
    """The type that starts at a token: a word, with the brackets that follow it, if any."""
    if start >= len(statement.tokens):
        return None
    closing = statement.closing.get(start + 1)
    return Span(start, start + 1 if closing is None else closing + 1)


def _item(statement: Statement, opening: int, index: int) -> Span | None:
    items = statement.items(opening)
    return items[index] if 0 <= index < len(items) else None


def _item_of_attribute(statement: Statement, span: Span, name: str, index: int) -> Span | None:
    place = attribute(name)(statement, span)
    if place is None or place.end - place.first < 3:
        return None
    return _item(statement, place.first + 2, index)


def _end_of_item(statement: Statement, index: int, span: Span) -> int:
    """The end of the list item that contains a token: a comma, a bracket or, outside of brackets, a colon."""
    depth = statement.depths[index]
    ends = (",",) if depth else (",", ":")
    for end in range(index, span.end):
        if statement.depths[end] < depth:
            return end
        if statement.depths[end] == depth and statement.tokens[end].text in ends:
            return end
    return span.end


@dataclass(frozen=True)
class ErrorExplanation:
    """The steps that find the culprit in the statement, and the help.

    `token` is the offset of the culprit, a single token, if it is known.
    """

    steps: Sequence[Narrowing] = ()
    help: str = ""
    token: int | None = None


@dataclass(frozen=True)
class Case:
    """A diagnostic to explain: its message, and what is known of it.

    `text` is the source and `offset` the position of the diagnostic in it, -1 if that is unknown. `statement`
    starts at `offset`; `op` is the operation that the diagnostic is about.
    """

    message: Message
    text: str
    offset: int
    dialects: DialectTable
    op: Op | None = None
    statement: Statement | None = None

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The values of the message, and the symbol `@name`."""
        values = self.message.values
        return {**values, "symbol": symbol_text(values["name"])} if "name" in values else values

    def __getitem__(self, name: str) -> str:
        return str(self.values.get(name, ""))

    def value(self) -> list[Narrowing]:
        """The step to the sharding of the value that a message is about; none if it is about no value."""
        side = self["side"]
        if not side or "index" not in self.values:
            return []
        index = int(self["index"])
        if self.op is not None and FUNCTION in self.op.traits:
            return [within(argument(index) if side == "arg" else result(index), attribute("sdy.sharding"))]
        return [first_of(item_of(self.list_of(), index), item_of(_PER_VALUE, index))]

    def list_of(self) -> str:
        """The name of the list that has the shardings of the values that a message is about."""
        return "in_shardings" if self["side"] in ("operand", "in_shardings") else "out_shardings"

    def in_value(self, *steps: Narrowing) -> list[Narrowing]:
        """Steps within the sharding of the value that a message is about, or within the whole statement."""
        value = self.value()
        return [first_of(within(*value, *steps), *value)]


# Gives the help, with steps if those of the kind do not find the culprit.
Explain = Callable[[Case], str | ErrorExplanation]

EXPLANATIONS: dict[str, Explain] = {}


def explains(name: str) -> Callable[[Explain], Explain]:
    """Decorator of the function that explains the kinds of errors that have this name as `explain`."""

    def add(function: Explain) -> Explain:
        EXPLANATIONS[name] = function
        return function

    return add


# --- Steps as text --------------------------------------------------------------------------

_PER_VALUE = "#sdy.sharding_per_value"


def steps_of(case: Case) -> list[Narrowing]:
    """The steps `at` of a kind: separated by `>`, with alternatives separated by `|`.

    text T, second T, last T       the first, second or last occurrence of a text; `second` in the value
    attribute N                    `N = value`
    operand_type I, result_type I  a type; `types` are all of them
    value                          the sharding of the value that the message is about, if it is about one
    value_attribute N              `N = value` in this sharding
    dimensions, dimension I        the list of its dimension shardings, one of them
    shardings                      the list of shardings that it is in
    axes I                         an item of the first list
    """
    steps = []
    for alternatives in case.message.kind.at.split(" > "):
        choice = [step for text in alternatives.split(" | ") for step in _step(case, text)]
        steps += [first_of(*choice)] if choice else []
    return steps


def _step(case: Case, written: str) -> list[Narrowing]:
    word, _, rest = written.format_map(case.values).partition(" ")
    return [] if not word else STEPS[word](case, rest)


# The list of dimension shardings: the first list in square brackets; in a collective, which lists axes first,
# that after `out_sharding`.
_DIMENSIONS = first_of(list_after("out_sharding"), brackets("["))

STEPS: dict[str, Callable[[Case, str], list[Narrowing]]] = {
    "text": lambda _, wanted: [text(wanted)],
    "last": lambda _, wanted: [text(wanted, nth=-1)],
    "second": lambda case, wanted: case.in_value(first_of(text(wanted, 1), text(wanted))),
    "attribute": lambda _, name: [attribute(name)],
    "operand_type": lambda _, index: [operand_type(int(index))],
    "result_type": lambda _, index: [result_type(int(index))],
    "types": lambda _, __: [trailing_types],
    "value": lambda case, _: case.value(),
    "value_attribute": lambda case, name: case.in_value(attribute(name)),
    "dimensions": lambda case, _: case.in_value(_DIMENSIONS),
    "dimension": lambda case, index: case.in_value(_DIMENSIONS, item(int(index))),
    "shardings": lambda case, _: [first_of(*map(list_after, (_PER_VALUE, case.list_of(), "out_shardings")))],
    "axes": lambda _, index: [within(brackets("["), item(int(index)))],
}


# --- Names in help ----------------------------------------------------------------------------

# A list with more names is shortened to this number.
MAX_LISTED = 8
# Comparing names is slow: the maximum number of names to compare, and their maximum length.
MAX_COMPARED, MAX_LENGTH = 5_000, 100


def backticked(name: str) -> str:
    """A name as it is written in help."""
    return f"`{name}`"


def did_you_mean(name: str, names: Iterable[str], show: Callable[[str], str] = backticked) -> str:
    """``did you mean `x`?`` for the most similar name; empty if none is similar."""
    others = [other for other in names if other != name and len(other) <= MAX_LENGTH][:MAX_COMPARED]
    same = next((other for other in others if other.lower() == name.lower()), None)
    match = same or (closest(name, others) if len(name) <= MAX_LENGTH else None)
    return "" if match is None else f"did you mean {show(match)}?"


def listed(names: Iterable[str], limit: int = MAX_LISTED) -> str:
    """`a, b, c`, or `a, b, … (12 in all)` for a long list."""
    names = list(names)
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])}, … ({len(names)} in all)"


def sentences(*parts: str) -> str:
    """The parts that are not empty, as one help text."""
    return "; ".join(part for part in parts if part).replace("?; ", "? ")

"""The values of two programs that correspond.

Names of values, the order of functions and line numbers do not matter. Public functions correspond by name or
similar content, others if corresponding calls call them, or else also by name or similar content. The values
of corresponding functions are aligned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from sdyopt.analysis.comparison.alignment import Tokens, align, pair_anywhere
from sdyopt.analysis.comparison.program_values import FunctionValues, ProgramValue, ProgramValues
from sdyopt.base.dataclasses import dataclass, field

# How many of the first tokens of an argument, a result and a value of a body identify it, wherever it is.
_SPECIFIC_ARGUMENTS, _SPECIFIC_RESULTS, _SPECIFIC_VALUES = 2, 2, 3


@dataclass(slots=True)
class Match:
    """A value of both programs."""

    before: ProgramValue
    after: ProgramValue


@dataclass(slots=True)
class Matching:
    """Corresponding values, and those of either program that have no counterpart."""

    matches: list[Match] = field(default_factory=list)
    only_before: list[ProgramValue] = field(default_factory=list)
    only_after: list[ProgramValue] = field(default_factory=list)


def match_values(before: ProgramValues, after: ProgramValues) -> Matching:
    """Matches the values of two programs, in the order of the text of the second one."""
    return _Matcher(before, after).matching()


class _Matcher:
    def __init__(self, before: ProgramValues, after: ProgramValues) -> None:
        self._before, self._after = before, after
        self._functions = {function.name: function for function in before.functions}
        self._other_functions = {function.name: function for function in after.functions}
        self._found: list[Match] = []
        self._matched: set[FunctionValues] = set()

    def matching(self) -> Matching:
        for pair in self._roots():
            self._match_from(*pair)
        for pair in self._rest():
            self._match_from(*pair)
        matched = {value for match in self._found for value in (match.before, match.after)}
        order = {value: number for number, value in enumerate(self._after)}
        return Matching(
            sorted(self._found, key=lambda match: order[match.after]),
            [value for value in self._before if value not in matched],
            [value for value in self._after if value not in matched],
        )

    # --- Functions ------------------------------------------------------------------------

    def _roots(self) -> Iterator[tuple[FunctionValues, FunctionValues]]:
        """Pairs of public functions."""
        old = [function for function in self._before.functions if function.is_public]
        new = [function for function in self._after.functions if function.is_public]
        return _paired_functions(old, new)

    def _rest(self) -> Iterator[tuple[FunctionValues, FunctionValues]]:
        """Pairs of functions that are not matched yet, because no corresponding calls call them."""
        old = [function for function in self._before.functions if function not in self._matched]
        new = [function for function in self._after.functions if function not in self._matched]
        return _paired_functions(old, new)

    def _match_from(self, old: FunctionValues, new: FunctionValues) -> None:
        """Matches two functions, and those that they call.

        A function may correspond to several copies. Two functions that both have counterparts already are not
        matched.
        """
        pending = [(old, new)]
        while pending:
            pair = pending.pop()
            if self._matched.issuperset(pair):
                continue
            self._matched.update(pair)
            matches = list(_match_functions(*pair))
            self._found += matches
            for match in reversed(matches):
                callee = self._functions.get(match.before.callee)
                other_callee = self._other_functions.get(match.after.callee)
                if callee is not None and other_callee is not None:
                    pending.append((callee, other_callee))


def _paired_functions(
    old: Sequence[FunctionValues], new: Sequence[FunctionValues]
) -> Iterator[tuple[FunctionValues, FunctionValues]]:
    """Pairs of functions: with the same name, then with similar content, then with as many arguments."""
    tokens, other_tokens = list(map(_function_tokens, old)), list(map(_function_tokens, new))
    for index, other in sorted(pair_anywhere(tokens, other_tokens, 3)):
        yield old[index], new[other]


def _function_tokens(function: FunctionValues) -> Tokens:
    operations = frozenset(Counter([value.op for value in function.body]).items())
    types = tuple([value.type for value in function.arguments])
    return function.name, (operations, types), len(types)


# --- Values of a function -------------------------------------------------------------------------


def _match_functions(old: FunctionValues, new: FunctionValues) -> Iterator[Match]:
    yield from _aligned(old.arguments, new.arguments, _argument_tokens, _SPECIFIC_ARGUMENTS)
    yield from _aligned(old.results, new.results, _result_tokens, _SPECIFIC_RESULTS)
    yield from _aligned(old.body, new.body, _value_tokens, _SPECIFIC_VALUES)


def _aligned(
    old: Sequence[ProgramValue],
    new: Sequence[ProgramValue],
    tokens_of: Callable[[ProgramValue], Tokens],
    specific: int,
) -> Iterator[Match]:
    tokens, other_tokens = list(map(tokens_of, old)), list(map(tokens_of, new))
    pairs = align(tokens, other_tokens)
    pairs += pair_anywhere(tokens, other_tokens, specific, pairs)
    for index, other in pairs:
        yield Match(old[index], new[other])


def _argument_tokens(value: ProgramValue) -> Tokens:
    return (
        _if(value.label, value.label, value.type),
        _if(value.label, value.label),
        _if(value.used, value.used, value.type),
        value.type,
        _if(value.outline_used, value.outline_used, value.rank),
    )


def _result_tokens(value: ProgramValue) -> Tokens:
    return (
        _if(value.label, value.label, value.type),
        _if(value.label, value.label),
        _if(value.defined, value.defined, value.type),
        value.type,
        _if(value.outline_defined, value.outline_defined, value.rank),
    )


def _value_tokens(value: ProgramValue) -> Tokens:
    position = value.role, value.path
    location = value.location if value.is_located else None
    return (
        _if(value.used and value.defined, position, value.op, value.defined, value.used, value.type),
        _if(value.used, position, value.op, value.used, value.type),
        _if(value.defined, position, value.op, value.defined, value.type),
        _if(location, position, value.op, value.type, location),
        _if(value.label, position, value.op, value.type, value.label),
        (position, value.op, value.type),
        _if(value.outline_defined, position, value.op, value.outline_defined, value.rank),
        _if(value.outline_used, position, value.op, value.outline_used, value.rank),
    )


def _if(condition: object, *token: Hashable) -> Hashable:
    """The token if the condition holds, else None."""
    return token if condition else None

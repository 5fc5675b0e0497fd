"""The values of two programs that correspond.

Names of values, the order of functions and line numbers do not matter. Public functions correspond by name or
similar content, others if corresponding calls call them, or else also by name or similar content. The values
of corresponding functions are aligned.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from sdyopt.analysis.comparison.program_values import FunctionValues, ProgramValue, ProgramValues
from sdyopt.base.dataclasses import dataclass, field

# How many of the first tokens of an argument, a result and a value of a body identify it, wherever it is.
_SPECIFIC_ARGUMENTS, _SPECIFIC_RESULTS, _SPECIFIC_VALUES = 2, 2, 3


@dataclass(slots=True)
class ValueMatch:
    """A value of both programs."""

    before: ProgramValue
    after: ProgramValue


@dataclass(slots=True)
class Matching:
    """Corresponding values, and those of either program that have no counterpart."""

    matches: list[ValueMatch] = field(default_factory=list)
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
        self._matches: list[ValueMatch] = []
        self._matched: set[FunctionValues] = set()

    def matching(self) -> Matching:
        for pair in self._roots():
            self._match_from(*pair)
        for pair in self._rest():
            self._match_from(*pair)
        matched = {value for match in self._matches for value in (match.before, match.after)}
        order = {value: number for number, value in enumerate(self._after)}
        return Matching(
            sorted(self._matches, key=lambda match: order[match.after]),
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
            self._matches += matches
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


def _match_functions(old: FunctionValues, new: FunctionValues) -> Iterator[ValueMatch]:
    yield from _aligned(old.arguments, new.arguments, _argument_tokens, _SPECIFIC_ARGUMENTS)
    yield from _aligned(old.results, new.results, _result_tokens, _SPECIFIC_RESULTS)
    yield from _aligned(old.body, new.body, _value_tokens, _SPECIFIC_VALUES)


def _aligned(
    old: Sequence[ProgramValue],
    new: Sequence[ProgramValue],
    tokens_of: Callable[[ProgramValue], Tokens],
    specific: int,
) -> Iterator[ValueMatch]:
    tokens, other_tokens = list(map(tokens_of, old)), list(map(tokens_of, new))
    pairs = align(tokens, other_tokens)
    pairs += pair_anywhere(tokens, other_tokens, specific, pairs)
    for index, other in pairs:
        yield ValueMatch(old[index], new[other])


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


# Alignment of two sequences: which elements correspond, in order.
#
# Each element has several tokens, the most specific first, such as "computed by these operations" before "any
# add". As in patience diff, elements whose token is unique in both sequences are paired first; between them,
# what is left is aligned by the same token and then by less specific ones. So a token that repeats in every
# layer of a model decides only between elements that no better token tells apart.


# An element's tokens; None matches nothing.
Tokens = Sequence[Hashable]
Pair = tuple[int, int]

# Up to this product of their lengths, sequences without unique tokens are aligned exactly.
EXACT = 1 << 14

# The maximum number of times that the tokens of one level divide a sequence. Each takes linear time; most
# sequences need three.
MAX_DEPTH = 24


def align(before: Sequence[Tokens], after: Sequence[Tokens]) -> list[Pair]:
    """The pairs of indices of corresponding elements, in order. All elements have as many tokens."""
    levels = len(before[0]) if before else 0
    pairs: list[Pair] = []
    # Parts of both sequences, with the level of the token to try and how often it has divided the part.
    pending = [(0, len(before), 0, len(after), 0, 0)]
    while pending:
        first, last, other_first, other_last, level, depth = pending.pop()
        if level == levels or first == last or other_first == other_last:
            continue
        old = [tokens[level] for tokens in before[first:last]]
        new = [tokens[level] for tokens in after[other_first:other_last]]
        # Pairs with equal tokens: unique ones or, if there are none, the ends, or all of short sequences.
        anchors = _unique(old, new) or _ends(old, new) or _exact(old, new)
        if not anchors or depth == MAX_DEPTH:
            pending.append((first, last, other_first, other_last, level + 1, 0))
            continue
        start, other_start = first, other_first
        for index, other in [*anchors, (len(old), len(new))]:
            here, there = first + index, other_first + other
            pending.append((start, here, other_start, there, level, depth + 1))
            if index < len(old):
                pairs.append((here, there))
            start, other_start = here + 1, there + 1
    return sorted(pairs)


def _unique(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """The longest increasing subsequence of the pairs whose token occurs exactly once in each sequence."""
    counts, other_counts = Counter(old), Counter(new)
    positions = {token: index for index, token in enumerate(new) if other_counts[token] == 1}
    pairs = [
        (index, positions[token])
        for index, token in enumerate(old)
        if token is not None and counts[token] == 1 and token in positions
    ]
    return _longest_increasing(pairs)


def _longest_increasing(pairs: Sequence[Pair]) -> list[Pair]:
    """The longest subsequence that increases in the second index, too (patience sorting)."""
    tops: list[int] = []
    top_pairs: list[int] = []
    previous: list[int] = []
    for number, (_, other) in enumerate(pairs):
        pile = bisect_left(tops, other)
        previous.append(top_pairs[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(other)
            top_pairs.append(number)
        else:
            tops[pile], top_pairs[pile] = other, number
    result: list[Pair] = []
    number = top_pairs[-1] if top_pairs else -1
    while number >= 0:
        result.append(pairs[number])
        number = previous[number]
    return result[::-1]


def _ends(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """The pairs of the common prefix and of the common suffix."""
    shorter = min(len(old), len(new))
    prefix = 0
    while prefix < shorter and old[prefix] == new[prefix] is not None:
        prefix += 1
    suffix = 0
    while suffix < shorter - prefix and old[-1 - suffix] == new[-1 - suffix] is not None:
        suffix += 1
    pairs = [(index, index) for index in range(prefix)]
    pairs += [(len(old) - number, len(new) - number) for number in range(suffix, 0, -1)]
    return pairs


def _exact(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """A longest common subsequence of short sequences; nothing of long ones."""
    if len(old) * len(new) > EXACT:
        return []
    # lengths[i][j]: of the longest common subsequence of old[i:] and new[j:].
    lengths = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for index in range(len(old) - 1, -1, -1):
        row, below, token = lengths[index], lengths[index + 1], old[index]
        for other in range(len(new) - 1, -1, -1):
            is_equal = token == new[other] is not None
            row[other] = below[other + 1] + 1 if is_equal else max(below[other], row[other + 1])
    pairs: list[Pair] = []
    index = other = 0
    while index < len(old) and other < len(new):
        if old[index] == new[other] is not None:
            pairs.append((index, other))
            index, other = index + 1, other + 1
        elif lengths[index + 1][other] >= lengths[index][other + 1]:
            index += 1
        else:
            other += 1
    return pairs


def pair_anywhere(
    before: Sequence[Tokens], after: Sequence[Tokens], levels: int, pairs: Sequence[Pair] = ()
) -> list[Pair]:
    """Pairs of the elements that are not in `pairs`, in any order, by the first token that they share.

    Only the first `levels` tokens count. If several elements have a token, the first ones are paired, then
    the second ones, and so on.
    """
    old = sorted(set(range(len(before))) - {index for index, _ in pairs})
    new = sorted(set(range(len(after))) - {other for _, other in pairs})
    result: list[Pair] = []
    for level in range(levels):
        waiting: dict[Hashable, list[int]] = {}
        for other in reversed(new):
            waiting.setdefault(after[other][level], []).append(other)
        level_pairs = [
            (index, waiting[token].pop())
            for index in old
            if (token := before[index][level]) is not None and waiting.get(token)
        ]
        result += level_pairs
        old = sorted(set(old) - {index for index, _ in level_pairs})
        new = sorted(set(new) - {other for _, other in level_pairs})
    return result

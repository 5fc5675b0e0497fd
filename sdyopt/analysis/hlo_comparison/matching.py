"""Pairs the collectives of a report with those that XLA compiled, each with the class of the difference.

Those of one place in the program come first: the line, the name stack, the argument that is moved, or the
line of an operation that uses the result. The number of bytes only decides between several of one place.
Reasons are read off the HLO; where it does not show one, there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import (
    REDUCTIONS,
    joined,
    sums_of,
)
from sdyopt.analysis.hlo_comparison.collectives import CollectiveOperand
from sdyopt.analysis.hlo_comparison.hlo_graph import Value, without_rearranging
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.places import (
    ANY_PLACE,
    OWN_PLACES,
    PLACES,
    SAME_PASS,
    Feature,
    call_lines,
    call_lines_and_name,
    has_place,
    name_is_of,
    own_line,
    own_line_and_name,
    used_at,
)
from sdyopt.analysis.hlo_comparison.reasons import (
    AXES,
    ELSEWHERE,
    HIT,
    KIND,
    ONCE,
    ONLY_REPORT,
    ONLY_XLA,
    REMATERIALIZED,
    REPEATED,
    RUNS,
    SCATTER,
    SIZE,
    STEPS,
    SUMS,
    TOP_K,
    TYPE,
    UNROLLED,
    Match,
    label,
    top_k,
    why_differs,
)

Key = Callable[[CollectiveOperand], Hashable]


def match_collectives(
    report: Sequence[CollectiveOperand],
    xla: Sequence[CollectiveOperand],
    program: CompiledProgram | None = None,
) -> list[Match]:
    """The pairs, and the collectives without one, in the order of the report, then of XLA.

    `program` is that of `xla`.
    """
    return _Matching(report, xla, program).matches()


# --- Keys -------------------------------------------------------------------------------------


def _runs(each: CollectiveOperand) -> int | None:
    return None if each.times is None else each.times.high


def _elements_of_shard(each: CollectiveOperand, kind: str) -> int:
    """The elements on a device, before a collective if `kind` is all_gather, after it if reduce_scatter."""
    return each.elements // each.group_size if each.kind == kind else each.elements


def _family(each: CollectiveOperand) -> str:
    return "reduction" if each.kind in REDUCTIONS else each.kind


def _all(each: CollectiveOperand) -> Hashable:
    return each.kind, each.groups, each.bytes, _runs(each)


# The classes of pairs of one place, from the least difference to the greatest, with what is equal.
_OF_ONE_PLACE: tuple[tuple[str, Key], ...] = (
    (TYPE, lambda each: (each.kind, each.groups, each.elements, _runs(each))),
    (SCATTER, lambda each: (_family(each), each.groups, each.elements, _runs(each))),
    (RUNS, lambda each: (each.kind, each.groups, each.bytes)),
    (SIZE, lambda each: (each.kind, each.groups)),
    (AXES, lambda each: (each.kind, each.elements, _runs(each))),
    (KIND, lambda each: (each.groups, _elements_of_shard(each, "all_gather"), _runs(each))),
    (KIND, lambda each: (each.groups, _elements_of_shard(each, "reduce_scatter"), _runs(each))),
)
# The same for pairs of which one has no place.
_ANYWHERE_EQUAL: tuple[tuple[str, Key], ...] = (
    (RUNS, lambda each: (each.kind, each.groups, each.bytes)),
    (TYPE, lambda each: (each.kind, each.groups, each.elements)),
    (SCATTER, lambda each: (_family(each), each.groups, each.bytes)),
    (AXES, lambda each: (each.kind, each.bytes)),
    (KIND, lambda each: (each.groups, each.bytes)),
    (SIZE, lambda each: (each.kind, each.groups)),
)


class _Matching:
    def __init__(
        self,
        report: Sequence[CollectiveOperand],
        xla: Sequence[CollectiveOperand],
        program: CompiledProgram | None,
    ) -> None:
        self._report = report
        self._xla = xla
        self._program = program
        self._ours = dict.fromkeys(range(len(report)))
        self._theirs = dict.fromkeys(range(len(xla)))
        # The class, and the numbers of the collectives; several matches have no ours.
        self._found: list[tuple[str, list[int], list[int], str]] = []
        self._match_of: dict[int, int] = {}
        self._by_result = {each.hlo.result: number for number, each in enumerate(xla) if each.hlo is not None}

    def matches(self) -> list[Match]:
        self._take(HIT, _all, PLACES[0])
        self._take_sums()
        for place in PLACES[1:]:
            self._take(HIT, _all, place)
        self._take(HIT, _all, ANY_PLACE, needs_place_unknown=True)
        self._take_steps()
        self._take_unrolled()
        self._join_sums()
        self._take_top_k()
        for place in PLACES:
            for reason, key in _OF_ONE_PLACE:
                # A use does not tell that another kind or other axes are the same thing.
                if place in OWN_PLACES or reason not in (SIZE, AXES, KIND):
                    self._take(reason, key, place)
        self._take(ELSEWHERE, _all, SAME_PASS)
        for reason, key in _ANYWHERE_EQUAL:
            self._take(reason, key, ANY_PLACE, needs_place_unknown=True)
        self._join_sums()
        self._join_repeated()
        self._join_steps()
        self._join_sent_once()
        matches = [self._match(*each) for each in self._found]
        matches += [self._alone(number) for number in self._ours]
        matches += [self._extra(number) for number in self._theirs]
        order = {id(each): number for number, each in enumerate((*self._report, *self._xla))}
        return sorted(
            matches, key=lambda match: min(order[id(each)] for each in (*match.ours, *match.theirs))
        )

    # --- Pairs --------------------------------------------------------------------------------

    def _take(
        self, reason: str, key: Key, place: tuple[Feature, Feature], needs_place_unknown: bool = False
    ) -> None:
        """Pairs with equal keys and a place in common; of several, those with the nearest bytes."""
        of_ours, of_theirs = place
        waiting: dict[Hashable, list[int]] = {}
        for there in self._theirs:
            for feature in dict.fromkeys(of_theirs(self._xla[there])):
                waiting.setdefault((key(self._xla[there]), feature), []).append(there)
        if not waiting:
            return
        for here in list(self._ours):
            ours = self._report[here]
            candidates = {
                there: None
                for feature in dict.fromkeys(of_ours(ours))
                for there in waiting.get((key(ours), feature), ())
                if there in self._theirs
            }
            if needs_place_unknown and has_place(ours):
                candidates = {there: None for there in candidates if not has_place(self._xla[there])}
            if candidates:
                size = ours.wire_bytes_of_runs
                there = min(
                    candidates, key=lambda each: (abs(self._xla[each].wire_bytes_of_runs - size), each)
                )
                self._add(reason, [here], [there])

    def _add(self, reason: str, ours: list[int], theirs: list[int], why: str = "") -> None:
        for here in ours:
            del self._ours[here]
        for there in theirs:
            del self._theirs[there]
            self._match_of[there] = len(self._found)
        self._found.append((reason, ours, theirs, why))

    def _join(self, reason: str, there: int, to: int, why: str) -> None:
        """Adds one of XLA's to the match of another."""
        del self._theirs[there]
        number = self._match_of[there] = self._match_of[to]
        before, ours, theirs, reasons = self._found[number]
        both = why if not reasons or reasons == why else f"{reasons}; {why}"
        found = reason if before in (HIT, ELSEWHERE, TYPE) else before
        self._found[number] = found, ours, [*theirs, there], both

    def _are_of_one_place(self, here: int, theirs: Iterable[int]) -> bool:
        ours = self._report[here]
        return all(
            self._rank(here, [there]) < len(OWN_PLACES)
            or not (has_place(ours) and has_place(self._xla[there]))
            for there in theirs
        )

    def _are_of_one_argument(self, here: int, chain: Sequence[int]) -> bool:
        """Whether steps move the argument that one of the report does, for an operation of its place."""
        ours, last = self._report[here], self._xla[chain[-1]]
        ends = {each for place in used_at(last) for each in call_lines_and_name(place)}
        is_used_there = not ends.isdisjoint(own_line_and_name(ours.location))
        return is_used_there and all(self._xla[each].moved == ours.moved != "" for each in chain)

    def _rank(self, here: int, theirs: Iterable[int]) -> int:
        """How strongly places are the same, the greatest number of several being the weakest."""
        ours = self._report[here]
        return max(
            next(
                (
                    rank
                    for rank, (of_ours, of_theirs) in enumerate(OWN_PLACES)
                    if not set(of_ours(ours)).isdisjoint(of_theirs(self._xla[there]))
                ),
                len(OWN_PLACES),
            )
            for there in theirs
        )

    # --- Several ------------------------------------------------------------------------------

    def _before(self, there: int) -> int | None:
        """The collective of whose result one is, but for an order of elements and their type."""
        source = self._xla[there].hlo
        if source is None or source.operand is None:
            return None
        return self._by_result.get(without_rearranging(source.operand, ("convert",)))

    @cached_property
    def _following(self) -> dict[int, list[int]]:
        """The collectives of the result of each, but for an order of elements and their type."""
        found: dict[int, list[int]] = {}
        for there in range(len(self._xla)):
            if (before := self._before(there)) is not None:
                found.setdefault(before, []).append(there)
        return found

    def _take_steps(self) -> None:
        """Pairs one of the report with several of XLA, each of the result of the one before."""
        before = {there: step for there in self._theirs if (step := self._before(there)) in self._theirs}
        inner = set(before.values())
        chains = []
        for last in self._theirs:
            chain = [last]
            while (step := before.get(chain[0])) is not None and step not in chain:
                chain.insert(0, step)
            if len(chain) > 1:
                chains.append((last in inner, chain))
        for _, chain in sorted(chains, key=lambda each: (each[0], -len(each[1]))):
            # Parts of a chain may be the counterpart, too.
            for start in range(len(chain) - 1):
                part = chain[start:]
                likely = [here for here in self._ours if self._is_in_steps(here, part)]
                here = min(likely, key=lambda each: self._rank(each, part), default=None)
                if here is not None and all(there in self._theirs for there in part):
                    self._add(STEPS, [here], part, self._steps_text(part))
                    break

    def _steps_text(self, chain: Sequence[int]) -> str:
        return " of the result of ".join(label(self._xla[there]) for there in reversed(chain))

    def _is_in_steps(self, here: int, chain: Sequence[int]) -> bool:
        ours, steps = self._report[here], [self._xla[there] for there in chain]
        last = steps[-1]
        if _family(last) != _family(ours) or any(_runs(each) != _runs(ours) for each in steps):
            return False
        if last.elements != ours.elements:
            return False
        if not self._are_of_one_place(here, chain) and not self._are_of_one_argument(here, chain):
            return False
        if not all(each.kind == last.kind for each in steps):
            # Other steps may move shards first.
            return last.kind == "all_gather" and has_place(ours) and has_place(last)
        groups = steps[0].groups
        for each in steps[1:]:
            both = joined(groups, each.groups)
            if both is None:
                return False
            groups = both
        return groups == ours.groups

    def _take_unrolled(self) -> None:
        """Pairs one of the report, in a loop, with several of XLA, whose runs are as many."""
        of_place: dict[Hashable, list[int]] = {}
        for there in self._theirs:
            xla = self._xla[there]
            for feature in dict.fromkeys(own_line_and_name(xla.location)):
                of_place.setdefault((xla.kind, xla.groups, xla.bytes, feature), []).append(there)
        for here in list(self._ours):
            ours = self._report[here]
            runs = _runs(ours)
            for feature in dict.fromkeys(own_line_and_name(ours.location)):
                key = ours.kind, ours.groups, ours.bytes, feature
                parts = [there for there in of_place.get(key, ()) if there in self._theirs]
                counts = [_runs(self._xla[there]) for there in parts]
                known = [count for count in counts if count is not None]
                if runs is not None and len(parts) > 1 and len(known) == len(parts) and sum(known) == runs:
                    why = f"{len(parts)} collectives of this place run {' + '.join(map(str, known))} times"
                    self._add(UNROLLED, [here], parts, why)
                    break

    def _take_sums(self) -> None:
        """Pairs one of the report with the all-reduces of its line whose results XLA adds up."""
        for terms in self._sums:
            if not all(there in self._theirs for there in terms):
                continue
            lines = [line for there in terms for line in call_lines(self._xla[there].location)]
            first = self._xla[terms[0]]
            for here in self._ours:
                ours = self._report[here]
                if (
                    (ours.kind, ours.groups, ours.elements, _runs(ours))
                    == (first.kind, first.groups, first.elements, _runs(first))
                    and not set(own_line(ours.location)).isdisjoint(lines)
                    and not any(name_is_of(ours, self._xla[there]) for there in terms)
                ):
                    self._add(SUMS, [here], terms, self._sums_text(terms))
                    break

    def _join_sums(self) -> None:
        """Adds to a pair the other terms of the sum that XLA's is a term of."""
        for terms in self._sums:
            paired = [there for there in terms if there in self._match_of]
            for there in terms:
                if paired and there in self._theirs:
                    self._join(SUMS, there, paired[0], self._sums_text(terms))

    def _sums_text(self, terms: Sequence[int]) -> str:
        return f"XLA adds up the results of {', '.join(label(self._xla[there]) for there in terms)}"

    @cached_property
    def _sums(self) -> list[list[int]]:
        """The all-reduces whose results XLA adds up."""
        program = self._program
        if program is None or program.graph is None:
            return []
        of: dict[str, dict[int, Value]] = {}
        for number, each in enumerate(self._xla):
            if each.hlo is not None and each.kind == "all_reduce":
                of.setdefault(each.hlo.computation, {})[number] = each.hlo.result
        found = []
        for name, results in of.items():
            around = {number: [number] for number in results}
            ops = program.graph.computations[name].ops
            for second, first in sums_of(program, self._xla, ops, results, is_any_use=True):
                if around[first] is not around[second]:
                    around[first] += around[second]
                    for term in around[second]:
                        around[term] = around[first]
            distinct = {id(terms): sorted(terms) for terms in around.values() if len(terms) > 1}
            found += list(distinct.values())
        return found

    def _take_top_k(self) -> None:
        """Pairs the gathers whose result is the operand of top-k with what is sent at its line."""
        found: dict[tuple[SourceLocation, str], list[int]] = {}
        for there in self._theirs:
            if (user := top_k(self._xla, self._by_result, there)) is not None:
                found.setdefault(user, []).append(there)
        for (place, name), theirs in found.items():
            lines = set(call_lines_and_name(place)) or set(call_lines(place))
            ours = [
                here
                for here in self._ours
                if self._report[here].kind == "all_gather"
                and lines
                & {*own_line_and_name(self._report[here].location), *own_line(self._report[here].location)}
            ]
            if ours:
                self._add(TOP_K, ours, theirs, f"the result is only used by {name}")

    def _join_repeated(self) -> None:
        """Adds to a pair what XLA sends of the same value."""
        first: dict[Hashable, int] = {}
        for there, xla in enumerate(self._xla):
            source = xla.hlo
            if source is None or source.operand is None:
                continue
            key = without_rearranging(source.operand), xla.kind, xla.groups, xla.bytes
            same = first.setdefault(key, there)
            if same == there:
                continue
            value = f"%{key[0].op.name}" + (f", {xla.moved}" if xla.moved else "")
            why = f"{label(self._xla[same])} and {label(xla)} are of {value}{self._users_text(same, there)}"
            if there in self._theirs and same in self._match_of:
                self._join(REPEATED, there, same, why)
            elif there in self._match_of and same in self._theirs:
                self._join(REPEATED, same, there, why)

    def _users_text(self, *theirs: int) -> str:
        """Where the results are used, `, for use at a.py:1 and a.py:2`; "" if that is unknown."""
        found = (each.hlo for number in theirs if (each := self._xla[number]).hlo is not None)
        lines = (
            place.file_text
            for source in found
            if source is not None
            for place in source.used_at
            if place.line
        )
        used = list(dict.fromkeys(lines))
        more = f" and {len(used) - 2} more" if len(used) > 2 else ""
        return f", for use at {' and '.join(used[:2])}{more}" if used else ""

    def _join_steps(self) -> None:
        """Adds to a pair the steps before and after the one of XLA, if they are of the same place."""
        for there in list(self._theirs):
            before = self._before(there)
            if before is not None and before in self._match_of:
                _, ours, _, _ = self._found[self._match_of[before]]
                if ours and self._are_of_one_place(ours[0], [there]):
                    self._join(STEPS, there, before, self._steps_text([before, there]))
                    continue
            for following in self._following.get(there, ()):
                if following in self._match_of:
                    _, ours, _, _ = self._found[self._match_of[following]]
                    if ours and self._are_of_one_place(ours[0], [there]):
                        self._join(STEPS, there, following, self._steps_text([there, following]))
                        break

    def _join_sent_once(self) -> None:
        """Adds to a pair what the report sends of the same argument as often, which XLA does not."""
        of_argument = {
            self._argument_key(self._report[ours[0]]): number
            for number, (reason, ours, theirs, _) in enumerate(self._found)
            if reason == HIT and self._report[ours[0]].moved and self._xla[theirs[0]].moved
        }
        for here in list(self._ours):
            number = of_argument.get(self._argument_key(self._report[here]))
            if number is not None:
                _, ours, theirs, _ = self._found[number]
                name = self._report[here].moved
                others = [each for each in self._theirs if self._xla[each].moved == name]
                if not others:
                    del self._ours[here]
                    why = f"XLA has no other collective of {name}"
                    self._found[number] = ONCE, [*ours, here], theirs, why

    def _argument_key(self, each: CollectiveOperand) -> Hashable:
        return each.moved, each.kind, each.groups, each.bytes

    # --- Reasons ------------------------------------------------------------------------------

    def _match(self, reason: str, ours: list[int], theirs: list[int], why: str) -> Match:
        mine, other = [self._report[each] for each in ours], [self._xla[each] for each in theirs]
        if reason == KIND and other[0].is_sliced:
            reason = REMATERIALIZED
        if not why and reason != HIT:
            why = why_differs(self._program, reason, mine[0], other[0])
        last = other[-1]
        if reason == STEPS and last.is_sliced:
            why += (
                f"; each use of {label(last)} is a slice, and devices take different ones: {REMATERIALIZED}"
            )
        return Match(reason, tuple(mine), tuple(other), why)

    def _alone(self, number: int) -> Match:
        return Match(ONLY_REPORT, (self._report[number],), ())

    def _extra(self, number: int) -> Match:
        xla = self._xla[number]
        if xla.is_sliced:
            why = f"each use of {label(xla)} is a slice, and devices take different ones"
            return Match(REMATERIALIZED, (), (xla,), why)
        user = top_k(self._xla, self._by_result, number)
        return Match(ONLY_XLA, (), (xla,), "" if user is None else f"the operand of {user[1]}")

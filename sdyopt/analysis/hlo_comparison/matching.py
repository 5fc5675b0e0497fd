"""Pairs the collectives of a report with those that XLA compiled, each with the class of the difference.

Those of one place in the program come first: the line, the name stack, the argument that is moved, or the
line of an operation that uses the result. The number of bytes only decides between several of one place.
Reasons are read off the HLO; where it does not show one, there is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import islice

from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.hlo_comparison.accelerators import joined, sums_of
from sdyopt.analysis.hlo_comparison.collectives import REDUCTIONS, CollectiveOperand, Groups
from sdyopt.analysis.hlo_comparison.hlo_graph import HloValue, without_rearranging
from sdyopt.analysis.hlo_comparison.hlo_text import CompiledProgram
from sdyopt.analysis.hlo_comparison.pairing import Key, Pairing, Whole, rings_of, transfers_of
from sdyopt.analysis.hlo_comparison.reasons import (
    ANY_PLACE,
    AXES,
    ELSEWHERE,
    HIT,
    KIND,
    ONCE,
    ONLY_REPORT,
    ONLY_XLA,
    OWN_PLACES,
    PLACES,
    REMATERIALIZED,
    REPEATED,
    RING,
    RUNS,
    SAME_PASS,
    SCATTER,
    SIZE,
    SLICES,
    STEPS,
    SUMS,
    TOP_K,
    TYPE,
    UNROLLED,
    CollectiveMatch,
    call_lines,
    call_lines_and_name,
    has_place,
    label,
    name_is_of,
    own_line,
    own_line_and_name,
    purpose_of,
    top_k,
    why_differs,
)

# Each step at least doubles the devices that took part.
_MAX_STEPS = 16
_MAX_LABELS = 8
# Of collectives that are alike, so many are looked at.
_MAX_TERMS = 64


def match_collectives(
    report: Sequence[CollectiveOperand],
    xla: Sequence[CollectiveOperand],
    program: CompiledProgram,
) -> list[CollectiveMatch]:
    """The pairs, and the collectives without one, in the order of the report, then of XLA.

    `program` is that of `xla`.
    """
    return _Matching(report, xla, program).matches()


# --- Keys -------------------------------------------------------------------------------------


def _runs(operand: CollectiveOperand) -> int | None:
    return None if operand.times is None else operand.times.high


def _elements_of_shard(operand: CollectiveOperand, kind: str) -> int:
    """The elements on a device, before a collective if `kind` is all_gather, after it if reduce_scatter."""
    return operand.elements // operand.group_size if operand.kind == kind else operand.elements


def _family(operand: CollectiveOperand) -> str:
    return "reduction" if operand.kind in REDUCTIONS else operand.kind


def _all(operand: CollectiveOperand) -> Hashable:
    return operand.kind, operand.groups, operand.bytes, _runs(operand)


def _in_steps(operand: CollectiveOperand) -> Hashable:
    return _family(operand), operand.elements, _runs(operand), operand.groups


def _moved_before(operand: CollectiveOperand) -> Hashable:
    return _family(operand), operand.elements, _runs(operand)


def _shard_in_ring(operand: CollectiveOperand) -> Hashable:
    return operand.kind, operand.groups, operand.elements // operand.group_size, _runs(operand)


def _term(operand: CollectiveOperand) -> Hashable:
    return operand.kind, operand.groups, operand.elements, _runs(operand)


def _term_of_type(operand: CollectiveOperand) -> Hashable:
    return _sum_of_loop(operand), _runs(operand)


def _sum_of_loop(operand: CollectiveOperand) -> Hashable:
    is_sum = operand.kind in REDUCTIONS
    return (operand.kind, operand.groups, operand.elements) if is_sum else operand.name


def _total_of(runs: Mapping[int, int | None]) -> int | None:
    """The runs of all; None if those of one are unknown."""
    known = [run for run in runs.values() if run is not None]
    return sum(known) if len(known) == len(runs) else None


def _sum_text(runs: Mapping[int, int | None]) -> str:
    shown = [str(run) for run in islice(runs.values(), _MAX_LABELS)]
    return " + ".join([*shown, *(["…"] if len(runs) > len(shown) else [])])


# The classes of pairs of one place, from the least difference to the greatest, with what is equal.
_OF_ONE_PLACE: tuple[tuple[str, Key], ...] = (
    (TYPE, lambda operand: (operand.kind, operand.groups, operand.elements, _runs(operand))),
    (SCATTER, lambda operand: (_family(operand), operand.groups, operand.elements, _runs(operand))),
    (RUNS, lambda operand: (operand.kind, operand.groups, operand.bytes)),
    (SIZE, lambda operand: (operand.kind, operand.groups)),
    (AXES, lambda operand: (operand.kind, operand.elements, _runs(operand))),
    (KIND, lambda operand: (operand.groups, _elements_of_shard(operand, "all_gather"), _runs(operand))),
    (KIND, lambda operand: (operand.groups, _elements_of_shard(operand, "reduce_scatter"), _runs(operand))),
)
# The same for pairs of which one has no place.
_ANYWHERE_EQUAL: tuple[tuple[str, Key], ...] = (
    (RUNS, lambda operand: (operand.kind, operand.groups, operand.bytes)),
    (TYPE, lambda operand: (operand.kind, operand.groups, operand.elements)),
    (SCATTER, lambda operand: (_family(operand), operand.groups, operand.bytes)),
    (AXES, lambda operand: (operand.kind, operand.bytes)),
    (KIND, lambda operand: (operand.groups, operand.bytes)),
    (SIZE, lambda operand: (operand.kind, operand.groups)),
)


class _Matching(Pairing):
    def matches(self) -> list[CollectiveMatch]:
        self.take(HIT, _all, PLACES[0])
        self._take_sums()
        for place in PLACES[1:]:
            self.take(HIT, _all, place)
        self.take(HIT, _all, ANY_PLACE, needs_place_unknown=True)
        self._take_steps()
        self._take_transfers()
        self._take_rings()
        self._take_unrolled()
        self._join_sums()
        self._take_top_k()
        for place in PLACES:
            for reason, key in _OF_ONE_PLACE:
                # A use does not tell that another kind or other axes are the same thing.
                if place in OWN_PLACES or reason not in (SIZE, AXES, KIND):
                    self.take(reason, key, place)
        self.take(ELSEWHERE, _all, SAME_PASS)
        # Terms that a loop adds up are summed once after it, in the type that they are added up in.
        self.take(TYPE, _term_of_type, SAME_PASS)
        self.take(RUNS, _sum_of_loop, SAME_PASS)
        for reason, key in _ANYWHERE_EQUAL:
            self.take(reason, key, ANY_PLACE, needs_place_unknown=True)
        self._join_sums()
        self._join_repeated()
        self._join_steps()
        self._join_sent_once()
        matches = [self._match(*row) for row in self.matched]
        matches += [self._alone(number) for number in self.ours]
        matches += [self._extra(number) for number in self.theirs]
        order = {id(operand): number for number, operand in enumerate((*self.report, *self.xla))}
        return sorted(
            matches, key=lambda match: min(order[id(item)] for item in (*match.ours, *match.theirs))
        )

    # --- Several ------------------------------------------------------------------------------

    def _before(self, there: int) -> int | None:
        """The collective of whose result one is, but for an order of elements and their type."""
        return self._by_result.get(without_rearranging(self.xla[there].source.operand, ("convert",)))

    @cached_property
    def _by_result(self) -> dict[HloValue, int]:
        return {operand.source.result: number for number, operand in enumerate(self.xla)}

    @cached_property
    def _following(self) -> dict[int, list[int]]:
        """The collectives of the result of each, but for an order of elements and their type."""
        following: dict[int, list[int]] = {}
        for there in range(len(self.xla)):
            if (before := self._before(there)) is not None:
                following.setdefault(before, []).append(there)
        return following

    def _take_steps(self) -> None:
        """Pairs one of the report with several of XLA, each of the result of the one before."""
        before = {there: step for there in self.theirs if (step := self._before(there)) in self.theirs}
        inner = set(before.values())
        chains = []
        for last in self.theirs:
            chain = [last]
            while len(chain) < _MAX_STEPS and (step := before.get(chain[-1])) is not None:
                chain.append(step)
            if len(chain) > 1:
                chains.append((last in inner, chain[::-1]))
        if not chains:
            return
        along_all, of_shards = self.alike(_in_steps), self.alike(_moved_before)
        for _, chain in sorted(chains, key=lambda chain: (chain[0], -len(chain[1]))):
            # Parts of a chain may be the counterpart, too.
            for start in range(len(chain) - 1):
                part = chain[start:]
                if not all(there in self.theirs for there in part):
                    continue
                end = self.xla[part[-1]]
                if any(_runs(self.xla[there]) != _runs(end) for there in part):
                    continue
                if all(self.xla[there].kind == end.kind for there in part):
                    groups = self._groups_of_steps(part)
                    key = _family(end), end.elements, _runs(end), groups
                    likely = [] if groups is None else along_all.candidates(key, part[-1])
                elif end.kind == "all_gather" and has_place(end):
                    # Other steps may move shards first.
                    likely = of_shards.candidates(_moved_before(end), part[-1])
                    likely = [here for here in likely if has_place(self.report[here])]
                else:
                    continue
                likely = [
                    here
                    for here in likely
                    if self.are_of_one_place(here, part) or self.are_of_one_argument(here, part)
                ]
                here = min(likely, key=lambda item: self.rank(item, part), default=None)
                if here is not None:
                    self.add(STEPS, [here], part, self._steps_text(part))
                    break

    def _groups_of_steps(self, steps: Sequence[int]) -> Groups | None:
        """The groups of devices that steps of one kind join; None if they do not join any."""
        groups: Groups | None = self.xla[steps[0]].groups
        for there in steps[1:]:
            groups = None if groups is None else joined(groups, self.xla[there].groups)
        return groups

    def _steps_text(self, chain: Sequence[int]) -> str:
        return " of the result of ".join(label(self.xla[there]) for there in reversed(chain))

    def _take_transfers(self) -> None:
        """Pairs one of the report with its parts within slices and between them."""
        if self.program.slices == 1:
            return
        whole = Whole({here: self.report[here] for here in self.ours})
        for transfer in transfers_of(self.xla, self.theirs, self._by_result):
            self.parts |= dict.fromkeys(transfer.members, transfer.text)
            if all(there in self.theirs for there in transfer.members):
                here = whole.take(transfer)
                if here is not None:
                    self.add(SLICES, [here], transfer.members, transfer.text)

    def _take_rings(self) -> None:
        """Pairs gathers and reduce-scatters of the report with permutes around a ring."""
        rings = rings_of(self.xla, self.theirs, self.program)
        if not rings:
            return
        alike = self.alike(_shard_in_ring)
        for ring in rings:
            likely = [
                here
                for kind in ("all_gather", "reduce_scatter")
                for here in alike.candidates((kind, ring.groups, ring.elements, ring.runs), ring.members[0])
                if self.are_of_one_place(here, ring.members[:1])
            ]
            likely.sort(key=lambda here: (self.rank(here, ring.members[:1]), here))
            # Several products of one line may have a ring each.
            for here in likely[1 : ring.count]:
                del self.ours[here]
            if likely:
                # The report of a machine may say so.
                is_known = all("ring" in self.report[here].compiled for here in likely[: ring.count])
                self.add(HIT if is_known else RING, likely[:1], ring.members, ring.text)
                self.matched[-1][1].extend(likely[1 : ring.count])
            else:
                self.parts |= dict.fromkeys(ring.members, ring.text)

    def _take_unrolled(self) -> None:
        """Pairs one of the report, in a loop, with several of XLA, whose runs are as many."""
        of_place: dict[Hashable, dict[int, int | None]] = {}
        keys: dict[int, list[Hashable]] = {}
        for there in self.theirs:
            xla = self.xla[there]
            for feature in dict.fromkeys(own_line_and_name(xla.location)):
                key = xla.kind, xla.groups, xla.bytes, feature
                of_place.setdefault(key, {})[there] = _runs(xla)
                keys.setdefault(there, []).append(key)
        totals = {key: _total_of(parts) for key, parts in of_place.items()}
        for here in list(self.ours):
            ours = self.report[here]
            runs = _runs(ours)
            for feature in dict.fromkeys(own_line_and_name(ours.location)):
                key = ours.kind, ours.groups, ours.bytes, feature
                if runs is not None and totals.get(key) == runs and len(of_place[key]) > 1:
                    parts = dict(of_place[key])
                    why = f"{len(parts)} collectives of this place run {_sum_text(parts)} times"
                    self.add(UNROLLED, [here], list(parts), why)
                    changed = dict.fromkeys(other for there in parts for other in keys[there])
                    for other in changed:
                        for there in parts:
                            of_place[other].pop(there, None)
                        totals[other] = _total_of(of_place[other])
                    break

    def _take_sums(self) -> None:
        """Pairs one of the report with the all-reduces of its line whose results XLA adds up."""
        if not self._sums:
            return
        alike: dict[Hashable, list[int]] = {}
        for here in self.ours:
            ours = self.report[here]
            for line in own_line(ours.location):
                alike.setdefault((_term(ours), line), []).append(here)
        for terms in self._sums:
            if not all(there in self.theirs for there in terms):
                continue
            lines = dict.fromkeys(line for there in terms for line in call_lines(self.xla[there].location))
            term = _term(self.xla[terms[0]])
            likely = (here for line in lines for here in alike.get((term, line), ()) if here in self.ours)
            for here in sorted(dict.fromkeys(islice(likely, _MAX_TERMS))):
                if not any(name_is_of(self.report[here], self.xla[there]) for there in terms):
                    self.add(SUMS, [here], terms, self._sums_text(terms))
                    break

    def _join_sums(self) -> None:
        """Adds to a pair the other terms of the sum that XLA's is a term of."""
        for terms in self._sums:
            paired = next((there for there in terms if there in self.match_of), None)
            text = "" if paired is None else self._sums_text(terms)
            for there in terms:
                if paired is not None and there in self.theirs:
                    self.join(SUMS, there, paired, text)

    def _sums_text(self, terms: Sequence[int]) -> str:
        labels = [label(self.xla[there]) for there in terms[:_MAX_LABELS]]
        more = f" and {len(terms) - len(labels)} more" if len(terms) > len(labels) else ""
        return f"XLA adds up the results of {', '.join(labels)}{more}"

    @cached_property
    def _sums(self) -> list[list[int]]:
        """The all-reduces whose results XLA adds up."""
        of: dict[str, dict[int, HloValue]] = {}
        for number, operand in enumerate(self.xla):
            if operand.kind == "all_reduce":
                of.setdefault(operand.source.computation, {})[number] = operand.source.result
        sums = []
        for name, results in of.items():
            around = {number: [number] for number in results}
            ops = self.program.graph.computations[name].ops
            for second, first in sums_of(self.program, self.xla, ops, results, is_any_use=True):
                if around[first] is not around[second]:
                    terms, others = around[first], around[second]
                    if len(terms) < len(others):
                        terms, others = others, terms
                    terms += others
                    for term in others:
                        around[term] = terms
            distinct = {id(terms): sorted(terms) for terms in around.values() if len(terms) > 1}
            sums += list(distinct.values())
        return sums

    def _take_top_k(self) -> None:
        """Pairs the gathers whose result is the operand of top-k with what is sent at its line."""
        numbering: dict[tuple[SourceLocation, str], list[int]] = {}
        for there in self.theirs:
            if (user := top_k(self.xla, self._by_result, there)) is not None:
                numbering.setdefault(user, []).append(there)
        for (place, name), theirs in numbering.items():
            lines = set(call_lines_and_name(place)) or set(call_lines(place))
            ours = [
                here
                for here in self.ours
                if self.report[here].kind == "all_gather"
                and lines
                & {*own_line_and_name(self.report[here].location), *own_line(self.report[here].location)}
            ]
            if ours:
                self.add(TOP_K, ours, theirs, f"the result is only used by {name}")

    def _join_repeated(self) -> None:
        """Adds to a pair what XLA sends of the same value."""
        first: dict[Hashable, int] = {}
        for there, xla in enumerate(self.xla):
            key = without_rearranging(xla.source.operand), xla.kind, xla.groups, xla.bytes
            same = first.setdefault(key, there)
            if same == there:
                continue
            value = f"%{key[0].op.name}" + (f", {xla.moved}" if xla.moved else "")
            why = f"{label(self.xla[same])} and {label(xla)} are of {value}{self._users_text(same, there)}"
            if there in self.theirs and same in self.match_of:
                self.join(REPEATED, there, same, why)
            elif there in self.match_of and same in self.theirs:
                self.join(REPEATED, same, there, why)

    def _users_text(self, *theirs: int) -> str:
        """Where the results are used, `, for use at a.py:1 and a.py:2`; "" if that is unknown."""
        places = (place for number in theirs for place in self.xla[number].source.used_at)
        lines = (place.file_text for place in places if place.line)
        used = list(dict.fromkeys(lines))
        more = f" and {len(used) - 2} more" if len(used) > 2 else ""
        return f", for use at {' and '.join(used[:2])}{more}" if used else ""

    def _join_steps(self) -> None:
        """Adds to a pair the steps before and after the one of XLA, if they are of the same place."""
        for there in list(self.theirs):
            before = self._before(there)
            if before is not None and before in self.match_of:
                _, ours, _, _ = self.matched[self.match_of[before]]
                if ours and self.are_of_one_place(ours[0], [there]):
                    self.join(STEPS, there, before, self._steps_text([before, there]))
                    continue
            for following in self._following.get(there, ()):
                if following in self.match_of:
                    _, ours, _, _ = self.matched[self.match_of[following]]
                    if ours and self.are_of_one_place(ours[0], [there]):
                        self.join(STEPS, there, following, self._steps_text([there, following]))
                        break

    def _join_sent_once(self) -> None:
        """Adds to a pair what the report sends of the same argument as often, which XLA does not."""
        of_argument = {
            self._argument_key(self.report[ours[0]]): number
            for number, (reason, ours, theirs, _) in enumerate(self.matched)
            if reason == HIT and self.report[ours[0]].moved and self.xla[theirs[0]].moved
        }
        rest = {self.xla[there].moved for there in self.theirs}
        for here in list(self.ours):
            number = of_argument.get(self._argument_key(self.report[here]))
            name = self.report[here].moved
            if number is not None and name not in rest:
                _, ours, theirs, _ = self.matched[number]
                del self.ours[here]
                ours.append(here)
                self.matched[number] = ONCE, ours, theirs, [f"XLA has no other collective of {name}"]

    def _argument_key(self, operand: CollectiveOperand) -> Hashable:
        return operand.moved, operand.kind, operand.groups, operand.bytes

    # --- Reasons ------------------------------------------------------------------------------

    def _match(self, reason: str, ours: list[int], theirs: list[int], reasons: list[str]) -> CollectiveMatch:
        why = "; ".join(reasons)
        mine, other = [self.report[number] for number in ours], [self.xla[item] for item in theirs]
        if reason == KIND and other[0].is_sliced:
            reason = REMATERIALIZED
        if not why and reason != HIT:
            why = why_differs(self.program, reason, mine[0], other[0])
        last = other[-1]
        if reason == STEPS and last.is_sliced:
            why += (
                f"; each use of {label(last)} is a slice, and devices take different ones: {REMATERIALIZED}"
            )
        return CollectiveMatch(reason, tuple(mine), tuple(other), why)

    def _alone(self, number: int) -> CollectiveMatch:
        return CollectiveMatch(ONLY_REPORT, (self.report[number],), ())

    def _extra(self, number: int) -> CollectiveMatch:
        xla = self.xla[number]
        if xla.is_sliced:
            why = f"each use of {label(xla)} is a slice, and devices take different ones"
            return CollectiveMatch(REMATERIALIZED, (), (xla,), why)
        user = top_k(self.xla, self._by_result, number)
        why = self.parts.get(number) or purpose_of(xla) if user is None else f"the operand of {user[1]}"
        return CollectiveMatch(ONLY_XLA, (), (xla,), why)

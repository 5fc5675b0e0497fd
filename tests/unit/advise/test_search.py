"""What the search of changes decides, on both sides of each limit. The figures of trials are made here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest

import sdyopt
from sdyopt.analysis.changes import proposals as module_of_proposals
from sdyopt.analysis.changes import search as module_of_search
from sdyopt.analysis.changes.edits import IN_BACKWARD_RULE, Change, joined
from sdyopt.analysis.changes.effect import ActivationReshard, Figures
from sdyopt.analysis.changes.estimates import EstimatedCost
from sdyopt.analysis.changes.search import BUDGET, SEQUENCE, Search, TrialBudget
from sdyopt.analysis.changes.trial import Trial
from sdyopt.analysis.changes.trials import Trials
from sdyopt.analysis.figures.topology import built_in_topology
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.pipeline.tree import Pipeline

_ZERO = Fraction(0)
# 100 seconds, 100 FLOPs, 100 bytes sent, and a peak of 100 MiB.
BEFORE = Figures(
    Fraction(100), _ZERO, Fraction(100), Fraction(100), 100 << 20, None, _ZERO, _ZERO, 0, 0, _ZERO
)
_RESHARD = ActivationReshard("all_to_all", "x", (), Fraction(10), Fraction(100))


def search_on_nothing(topology: str = "", **options: Any) -> Search:
    machine = built_in_topology(topology) if topology else None
    return Search(Trials(sdyopt.parse("module {}").ir, Pipeline(), machine), **options)


@pytest.mark.parametrize(
    ("size", "trials", "changes"),
    [
        (0, 8, 400),
        (25, 8, 400),
        (26, 8, 384),
        (125, 8, 80),
        (126, 7, 79),
        (500, 2, 20),
        (501, 2, 19),
        (9999, 2, 2),
    ],
)
def test_a_budget_is_of_operations_and_looks_at_more_changes_than_it_tries(
    size: int, trials: int, changes: int
) -> None:
    budget = TrialBudget(1000, 2, 8)
    assert (budget.trials(size), budget.changes(size)) == (trials, changes)
    assert TrialBudget(1000, 7, 8).changes(9999) == 7
    assert list(BUDGET) == [15_000, 8, 64, 400]
    assert list(SEQUENCE) == [500_000, 24, 400, 400]


# What a program has after a change, and whether the change pays; without the risk of activations that move
# whole if the last is False.
_PAYS: list[tuple[dict[str, Any], bool, bool]] = [
    # It is a percent faster, or that is noise.
    ({"seconds": Fraction(989, 10), "penalty": 0}, True, True),
    ({"seconds": 99}, False, True),
    # It is as fast, by noise, but sends a tenth less and is faster if whole tensors move.
    ({"seconds": 101, "wire_bytes": 90, "penalty": 0}, True, True),
    ({"seconds": 101, "wire_bytes": 91, "penalty": 0}, False, True),
    ({"seconds": 102, "wire_bytes": 90, "penalty": 0}, False, True),
    ({"seconds": 101, "wire_bytes": 90, "penalty": 0}, False, False),
    # The same, but what is sent depends on the partitioner.
    ({"seconds": 101, "wire_bytes": 90, "penalty": 0, "of_results": 1}, False, True),
    # A little less is sent, stored and computed: then any of the time.
    ({"seconds": Fraction(999, 10), "wire_bytes": 99, "flops": 99, "peak_bytes": 99 << 20}, True, True),
    ({"seconds": Fraction(999, 10), "wire_bytes": 99, "flops": 100, "peak_bytes": 99 << 20}, False, True),
    ({"seconds": 100, "wire_bytes": 99, "flops": 99, "peak_bytes": 99 << 20}, False, True),
    # Conflicts of activations, without less sent: a twentieth of the time.
    ({"seconds": 95, "wire_bytes": 100, "reshards": (_RESHARD,)}, True, False),
    ({"seconds": 96, "wire_bytes": 100, "reshards": (_RESHARD,)}, False, False),
    ({"seconds": 96, "wire_bytes": 99, "reshards": (_RESHARD,)}, False, False),
    ({"seconds": 96, "wire_bytes": 98, "reshards": (_RESHARD,)}, True, False),
    # Less is sent at the risk of more.
    ({"seconds": 50, "wire_bytes": 76, "penalty": 0, "reshards": (_RESHARD,)}, False, True),
    ({"seconds": 50, "wire_bytes": 75, "penalty": 0, "reshards": (_RESHARD,)}, True, True),
    ({"seconds": 50, "wire_bytes": 76, "penalty": 0, "reshards": (_RESHARD,)}, True, False),
    # More is sent: a tenth of the time, or with fewer FLOPs a twentieth.
    ({"seconds": 95, "wire_bytes": 150, "flops": 75, "penalty": 0}, True, True),
    ({"seconds": Fraction(951, 10), "wire_bytes": 150, "flops": 75, "penalty": 4}, False, True),
    ({"seconds": Fraction(901, 10), "wire_bytes": 150, "penalty": 0}, False, True),
    # It is what is more than noise if the time at most falls by a tenth.
    ({"seconds": 98, "wire_bytes": 150, "flops": 75, "penalty": 1}, True, True),
    ({"seconds": 98, "wire_bytes": 150, "flops": 75, "penalty": 2}, False, True),
    ({"seconds": 98, "wire_bytes": 150, "flops": 76, "penalty": 1}, False, True),
    # What a partitioner may do otherwise is no risk if it is less than before.
    ({"seconds": 89, "wire_bytes": 150, "penalty": 9, "reshards": (_RESHARD,)}, True, True),
    ({"seconds": 89, "wire_bytes": 150, "penalty": 10, "reshards": (_RESHARD,)}, False, True),
    ({"seconds": 89, "wire_bytes": 150, "penalty": 9, "of_results": 1}, False, True),
    # Between steps a hundredth of what is sent is noise.
    ({"seconds": 50, "carried": 1}, True, True),
    ({"seconds": 50, "carried": 2}, False, True),
    # What is sent between steps counts, and so do whole tensors that may move.
    ({"seconds": 50, "carrying": 50}, False, True),
    ({"seconds": 50, "penalty": 60}, False, True),
    ({"seconds": 50, "penalty": 58}, True, True),
    # FLOPs and the peak may rise by a tenth.
    ({"seconds": 50, "flops": 110}, True, True),
    ({"seconds": 50, "flops": 111}, False, True),
    ({"seconds": 50, "peak_bytes": 110 << 20}, True, True),
    ({"seconds": 50, "peak_bytes": (110 << 20) + 1}, False, True),
]


@pytest.mark.parametrize(("after", "pays", "moves_whole"), _PAYS)
def test_a_change_pays_on_the_whole(after: dict[str, Any], pays: bool, moves_whole: bool) -> None:
    before = BEFORE._replace(penalty=Fraction(10))
    figures = before._replace(**{key: _fraction(key, value) for key, value in after.items()})
    assert search_on_nothing(moves_whole=moves_whole).pays(Trial(Change(), before, figures)) == pays


@pytest.mark.parametrize("is_new", [False, True])
def test_to_save_time_alone_only_new_reshards_are_a_risk(is_new: bool) -> None:
    after = BEFORE._replace(seconds=Fraction(96), reshards=(_RESHARD,))
    before = BEFORE if is_new else BEFORE._replace(reshards=(_RESHARD,))
    assert search_on_nothing().pays(Trial(Change(), before, after)) != is_new


@pytest.mark.parametrize("are_new", [(), (False,), (True,), (True, False), (True, True)])
def test_reshards_that_a_compiler_may_leave_out_by_itself_are_a_small_gain(are_new: tuple[bool, ...]) -> None:
    """It is one if all that a change writes is new: nothing holds a compiler to the reshards of before."""
    edit = {"subject": None, "how": "", "frees": False}
    edits = [SimpleNamespace(**edit, is_new_constraint=is_new) for is_new in are_new]
    before = BEFORE._replace(reshards=(_RESHARD,))
    after = BEFORE._replace(seconds=Fraction(80), wire_bytes=Fraction(95))
    trial = Trial(Change(cast(Any, tuple(edits))), before, after)
    assert search_on_nothing().pays(trial) == (not are_new or not all(are_new))


@pytest.mark.parametrize(
    ("estimate", "may_pay"),
    [
        ({}, True),
        # What sends more saves a tenth, but for what an estimate may miss, or computes less.
        ({"wire_bytes": 104, "seconds": 93}, False),
        ({"wire_bytes": 104, "seconds": 50, "at_most": 93}, False),
        ({"wire_bytes": 104, "seconds": 92}, True),
        ({"wire_bytes": 103, "seconds": 93}, True),
        ({"wire_bytes": 104, "seconds": 93, "flops": 77}, True),
        ({"wire_bytes": 104, "seconds": 93, "flops": 78}, False),
        # New reshards of activations are for no gain, or for one of a tenth.
        ({"wire_bytes": 97, "adds_reshards": True}, True),
        ({"wire_bytes": 96, "adds_reshards": True}, False),
        ({"wire_bytes": 93, "adds_reshards": True}, False),
        ({"wire_bytes": 92, "adds_reshards": True}, True),
        ({"wire_bytes": 93}, True),
    ],
)
def test_what_cannot_pay_by_its_estimate_is_not_tried(estimate: dict[str, Any], may_pay: bool) -> None:
    cost = estimated(seconds=90, at_most=90, flops=100, wire_bytes=100)._replace(**estimate)
    search = search_on_nothing()
    assert search.may_pay(BEFORE, Change(), cost) == may_pay
    assert search.may_pay(BEFORE._replace(seconds=Fraction(0)), Change(), cost)
    frees = Change(cast(Any, (SimpleNamespace(subject=None, frees=True),)))
    assert search.may_pay(BEFORE, frees, cost) == search.may_pay(
        BEFORE, Change(), cost._replace(adds_reshards=True)
    )


def estimated(**figures: Any) -> EstimatedCost:
    fractions: dict[str, Any] = {key: Fraction(value) for key, value in figures.items()}
    return EstimatedCost(**fractions)


def test_what_carries_more_or_computes_a_tenth_more_is_above_the_limit() -> None:
    limit = search_on_nothing().limit_of(BEFORE._replace(carried=5), Fraction(100), Fraction(100))
    cost = estimated(seconds=90, at_most=90, carried=6, flops=110)
    assert not cost.is_above(limit)
    assert cost._replace(carried=Fraction(7)).is_above(limit)
    assert cost._replace(flops=Fraction(111)).is_above(limit)


@pytest.mark.parametrize("most", [1, 5])
def test_a_limit_is_of_less_time_and_of_no_more_of_the_rest(most: int) -> None:
    limit = estimated(seconds=most, at_most=most, carried=most, flops=most)
    cost = estimated(seconds=most - 1, at_most=most - 1, carried=most, flops=most)
    assert not cost.is_above(limit)
    assert cost._replace(seconds=Fraction(most)).is_above(limit)
    assert cost._replace(at_most=Fraction(most)).is_above(limit)
    assert cost._replace(carried=Fraction(most + 1)).is_above(limit)
    assert cost._replace(flops=Fraction(most + 1)).is_above(limit)
    # 0 is no limit, but of the seconds.
    assert not cost.is_above(EstimatedCost(Fraction(most)))
    assert list(EstimatedCost(Fraction(most))) == [most, 0, 0, 0, 0, False]


def unsure_change() -> Change:
    return Change(
        cast(
            Any, (SimpleNamespace(how=IN_BACKWARD_RULE, subject=None, frees=False, is_new_constraint=False),)
        )
    )


def _fraction(key: str, value: Any) -> Any:
    return (
        Fraction(value)
        if key in ("seconds", "carrying", "wire_bytes", "flops", "penalty", "of_results")
        else value
    )


def test_what_is_slower_or_unsure_does_not_pay() -> None:
    unsure = Trial(unsure_change(), BEFORE, BEFORE._replace(seconds=Fraction(50)))
    assert not search_on_nothing().pays(Trial(Change(), BEFORE, None))
    assert not search_on_nothing().pays(unsure)
    assert search_on_nothing(keeps_unsure=True).pays(unsure)


def test_a_collective_that_sends_less_may_take_longer_by_the_error_of_times() -> None:
    """The error is that of the machine."""
    search, op = search_on_nothing("tpu-v5e"), cast(Op, object())
    most = 100 * (1 + search.trials.error)
    for seconds, sent, pays in (
        (most, 98, True),
        (most + 1, 98, False),
        (most, 99, False),
    ):
        after = BEFORE._replace(seconds=seconds, wire_bytes=Fraction(sent))
        assert search.pays(Trial(Change(op=op), BEFORE, after)) == pays
        assert not search.pays(Trial(Change(), BEFORE, after))


def test_above_the_limit_of_memory_a_lower_peak_pays() -> None:
    search = search_on_nothing(memory=90 << 20)
    # What makes it fit may cost any time, and what does a tenth of that, a tenth of the time.
    for peak, seconds, pays in (
        (90, 500, True),
        (91, 500, False),
        (99, 110, True),
        (99, 111, False),
        (100, 50, False),
        (101, 50, False),
    ):
        after = BEFORE._replace(peak_bytes=peak << 20, seconds=Fraction(seconds))
        assert search.pays(Trial(Change(), BEFORE, after)) == pays
    assert search.excess(BEFORE) == 10 << 20
    # Below it the peak may rise up to it if that is asked for.
    search.fills_memory = True
    low = BEFORE._replace(peak_bytes=1 << 20)
    for peak, pays in ((90, True), (91, False)):
        after = low._replace(seconds=Fraction(50), peak_bytes=peak << 20)
        assert search.pays(Trial(Change(), low, after)) == pays


_FOR_MEMORY: list[tuple[dict[str, Any], bool]] = [
    ({"peak_bytes": 90 << 20}, True),
    ({"peak_bytes": (90 << 20) + 1}, False),
    # A fifth of the share of the peak is the share of time that it may cost.
    ({"peak_bytes": 50 << 20, "seconds": Fraction(110)}, True),
    ({"peak_bytes": 50 << 20, "seconds": Fraction(1101, 10)}, False),
    ({"peak_bytes": 50 << 20, "penalty": Fraction(11)}, False),
    ({"peak_bytes": 50 << 20, "flops": Fraction(110)}, True),
    ({"peak_bytes": 50 << 20, "flops": Fraction(111)}, False),
    ({"peak_bytes": 50 << 20, "wire_bytes": Fraction(150)}, True),
    ({"peak_bytes": 50 << 20, "wire_bytes": Fraction(150), "reshards": (_RESHARD,)}, False),
]


@pytest.mark.parametrize(("after", "expected"), _FOR_MEMORY)
def test_a_change_for_memory_lowers_the_peak_by_a_tenth(after: dict[str, Any], expected: bool) -> None:
    trial = Trial(Change(), BEFORE, BEFORE._replace(**after))
    search = search_on_nothing()
    assert search.is_for_memory(trial) == expected
    assert not search.is_for_memory(trial._replace(change=unsure_change()))
    assert not search.is_for_memory(trial._replace(figures=None))


@pytest.mark.parametrize(
    ("bytes_before", "saved", "expected"), [(8, 1 << 20, True), (8, (1 << 20) - 1, False)]
)
def test_a_change_for_memory_saves_a_mebibyte(bytes_before: int, saved: int, expected: bool) -> None:
    before = BEFORE._replace(peak_bytes=bytes_before << 20)
    after = before._replace(peak_bytes=before.peak_bytes - saved)
    assert search_on_nothing().is_for_memory(Trial(Change(), before, after)) == expected
    # What may be on the chip is not saved.
    assert not search_on_nothing("tpu-v5e").is_for_memory(Trial(Change(), before, after))


# --- Searches whose trials are made here ----------------------------------------------------------

_FIRST, _SECOND = ("f.py:1", "all_reduce", "x"), ("f.py:1", "all_gather", "x")


@dataclass(frozen=True)
class Edit:
    """What the search reads of the edit of an annotation."""

    subject: str
    is_less_sharded: bool = False
    is_new_constraint: bool = False
    how: str = ""

    @property
    def sharding(self) -> Any:
        return SimpleNamespace(is_fully_closed=True)


_NO_LIMIT = (0.0, 0.0)


def _limits(cut: EstimatedCost | None) -> tuple[float, float]:
    return _NO_LIMIT if cut is None else (float(cut.seconds), float(cut.at_most))


class FixedSearch(Search):
    """A search that is through; the figures of what it tries further are those of a table."""

    can_try = True

    def __init__(self, ranked: Sequence[Trial] = (), **options: Any) -> None:
        trials = Trials(sdyopt.parse("module {}").ir, Pipeline())
        super().__init__(trials, **options)
        sent = {_FIRST: Fraction(60), _SECOND: Fraction(40)}
        outcome = SimpleNamespace(figures=BEFORE, sent=sent, sent_by_line={"f.py:1": sent}, module=None)
        vars(trials).update(outcome=outcome, figures=BEFORE)
        names = SimpleNamespace(worded=lambda trial, trials: trial)
        program = SimpleNamespace(outcome=outcome)
        vars(self).update(ranked=list(ranked), program=program, names=names)
        self.outcomes: dict[object, Figures] = {}
        self.asked: list[str] = []
        self.cuts: list[tuple[float, float]] = []

    def tries(
        self,
        trials: Trials,
        changes: Sequence[Change],
        cut: EstimatedCost | None = None,
        keeps_slower: bool = False,
        asked: Sequence[Change] = (),
    ) -> Iterator[Trial]:
        self.cuts.append(_limits(cut))
        for change in asked:
            self.asked.append(change.words[0])
            self._known[change.key] = Trial(change, BEFORE, self.outcomes.get(change.key))
            yield self._known[change.key]


def named(name: str, *edits: Edit) -> Change:
    return Change(cast(Any, edits), words=(name, ""))


def faster(name: str, seconds: Fraction | int) -> Trial:
    return Trial(named(name), BEFORE, BEFORE._replace(seconds=Fraction(seconds)))


def test_up_to_four_changes_of_the_first_six_are_made_together() -> None:
    saved = {"a": 10, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 50}
    search = FixedSearch([faster(name, 100 - seconds) for name, seconds in saved.items()])
    for count in (2, 3, 4, 5):
        for names in permutations(saved, count):
            seconds = Fraction(100 - sum(saved[name] for name in names))
            key = joined([named(name) for name in names]).key
            search.outcomes[key] = BEFORE._replace(seconds=seconds)
    together = search.together
    assert together is not None
    assert [part.words[0] for part in together.change.parts] == ["a", "f", "e", "d"]
    # What takes a tenth longer than the changes so far by an estimate is cut.
    assert search.cuts == [(97.9, 97.9), (91.3, 91.3), (85.8, 85.8)]
    assert FixedSearch([faster("a", 90), faster("b", 98)], memory=1).together is None
    assert FixedSearch().together is None


@pytest.mark.parametrize(("seconds", "is_better"), [(80, True), (Fraction(803, 10), True), (86, False)])
def test_what_goes_together_takes_no_longer_than_the_best_change(seconds: Fraction, is_better: bool) -> None:
    """Even if it takes less time in the worst case, when the best change alone has reshards."""
    best = Trial(named("a"), BEFORE, BEFORE._replace(seconds=Fraction(80), penalty=Fraction(15)))
    search = FixedSearch([best, faster("b", 98)])
    both = joined([named("a"), named("b")])
    search.outcomes[both.key] = BEFORE._replace(seconds=Fraction(seconds))
    assert (search.together is not None) == is_better


@pytest.mark.parametrize(("seconds", "is_better"), [(89, False), (Fraction(889, 10), True)])
def test_what_goes_together_saves_a_percent_more(seconds: Fraction, is_better: bool) -> None:
    search = FixedSearch([faster("a", 90), faster("b", 98)])
    both = joined([named("a"), named("b")])
    search.outcomes[both.key] = BEFORE._replace(seconds=Fraction(seconds))
    assert (search.together is not None) == is_better


def test_of_changes_that_lower_the_peak_alike_the_fastest_is_for_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`b` lowers it most, by 60 MiB; `c` by 54 MiB, a tenth less, and `d` by less than that."""
    figures = {"a": (40, 106), "b": (40, 105), "c": (46, 104), "d": (47, 103), "e": (20, 101)}
    off = Edit("off", is_less_sharded=True)
    changes = [named("off", off), named("no edit"), *(named(name, Edit(name)) for name in figures)]
    monkeypatch.setattr(module_of_search, "at_peak", lambda program: iter(changes))
    search = FixedSearch()
    for change in changes[2:]:
        peak, seconds = figures[change.words[0]]
        search.outcomes[change.key] = BEFORE._replace(peak_bytes=peak << 20, seconds=Fraction(seconds))
    best = search.for_memory
    # Four are tried.
    assert (best and best.change.words[0], search.asked) == ("c", ["a", "b", "c", "d"])
    assert search.cuts == [(120, 120)]
    # What is known is not tried again, unless it was cut.
    again = FixedSearch()
    again._known = {change.key: search._known[change.key] for change in changes[2:4]}
    again._known[changes[3].key] = Trial(changes[3], BEFORE, None)
    again._known[changes[4].key] = Trial(changes[4], BEFORE, None, has_failed=True)
    assert again.for_memory is again._known[changes[2].key]
    assert again.asked == ["b", "d"]


@pytest.mark.parametrize(
    ("first", "second", "is_found"),
    [
        # The line sends a tenth less.
        (50, 40, True),
        # Or what it sends most with does, and the line no more.
        (51, 40, True),
        (54, 45, True),
        (54, 46, False),
        (55, 40, False),
    ],
)
def test_a_change_is_one_for_a_line_that_sends_a_tenth_less(first: int, second: int, is_found: bool) -> None:
    sent = {_FIRST: Fraction(first), _SECOND: Fraction(second)}
    helps = faster("a", 50)._replace(sent=sent)
    other = faster("b", 40)._replace(sent={_FIRST: Fraction(60), _SECOND: Fraction(40)})
    search = FixedSearch([other, helps])
    vars(search)["together"] = None
    assert search.at_line("f.py:1") == (helps if is_found else None)
    assert search.at_line("g.py:1") is None
    # If no change alone is, several together may be.
    search = FixedSearch([other])
    vars(search)["together"] = helps
    assert search.at_line("f.py:1") == (helps if is_found else None)


@pytest.mark.parametrize(
    ("whole", "flops", "names"), [(0, 59, "c"), (0, 61, "a"), (236, 59, "a"), (232, 1, "c"), (236, 1, "")]
)
def test_the_product_that_is_repeated_most_is_sharded_along_two_axes(
    whole: int, flops: int, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What repeats more than a hundredth of all FLOPs. `c` runs twice on each of four devices."""
    products = [
        SimpleNamespace(flops=flops, global_flops=0, times=None, spare_axes=("x", "y", "z")),
        SimpleNamespace(flops=200, global_flops=0, times=None, spare_axes=()),
        SimpleNamespace(
            flops=30, global_flops=whole // 2, times=SimpleNamespace(high=2), spare_axes=("x", "y", "z")
        ),
        SimpleNamespace(flops=None, global_flops=0, times=None, spare_axes=("x",)),
    ]
    ops = [SimpleNamespace(operands=[f"{name}1", f"{name}2", "no"], results=[name]) for name in "abcd"]
    monkeypatch.setattr(module_of_proposals, "counted_products", lambda module: ops)
    search = FixedSearch()
    search.program.outcome.report = cast(Any, SimpleNamespace(products=products, devices=4))
    monkeypatch.setattr(search, "with_axis", lambda value, axis: [(value, axis)])
    found = list(cast(Any, search.for_repeated_product()))
    assert found == [
        (value, axis) for name in names for axis in "xy" for value in (f"{name}1", f"{name}2", name)
    ]


def test_an_exchange_that_an_estimate_left_out_may_be_a_tenth_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [named(name, Edit(name)) for name in ("new", "cut", "failed", "tried")]
    monkeypatch.setattr(module_of_search, "exchanges", lambda program, place: changes)
    search = FixedSearch()
    search._known = {
        changes[1].key: Trial(changes[1], BEFORE, None),
        changes[2].key: Trial(changes[2], BEFORE, None, has_failed=True),
        changes[3].key: Trial(changes[3], BEFORE, BEFORE),
    }
    assert [trial.change for trial in search._exchanged([_FIRST])] == [changes[1]]
    assert search.cuts == [(110, 100)]
    search.memory = 1
    assert not list(search._exchanged([_FIRST]))


def test_a_change_is_one_for_a_place_that_sends_a_tenth_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of_search, "at_place", lambda program, place: [])
    for sent, is_found in ((36, True), (37, False)):
        helps = faster("a", 50)._replace(sent={_FIRST: Fraction(59), _SECOND: Fraction(sent)})
        search = FixedSearch([helps])
        vars(search)["together"] = None
        assert search.at_place(_SECOND) == (helps if is_found else None)
        assert search.at_place(("f.py:1", "all_to_all", "x")) is None


@pytest.mark.parametrize(("in_all", "is_found"), [(99, True), (100, False), (101, False)])
def test_the_line_of_a_place_may_send_more_if_the_program_sends_less(
    in_all: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_of_search, "at_place", lambda program, place: [])
    after = BEFORE._replace(seconds=Fraction(50), wire_bytes=Fraction(in_all))
    helps = Trial(named("a"), BEFORE, after, sent={_FIRST: Fraction(90), _SECOND: Fraction(36)})
    search = FixedSearch([helps])
    vars(search)["together"] = None
    assert search.at_place(_SECOND) == (helps if is_found else None)


def test_what_all_passes_measure_otherwise_replaces_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    search = FixedSearch()
    given, same = faster("a", 90), faster("b", 95)
    full = given._replace(figures=BEFORE._replace(seconds=Fraction(91)))
    known = {trial.change.key: trial for trial in (given, same)}
    search._known, search._sent = known, {key: {_FIRST: Fraction(1)} for key in known}
    monkeypatch.setattr(
        search.trials, "in_full", lambda trial: full if trial is given else trial, raising=False
    )
    monkeypatch.setattr(search, "_ordered", list)
    assert search._confirmed([given, same]) == [full, same]
    assert search._known[given.change.key] is full
    # What it sends at a place is read again.
    assert list(search._sent) == [same.change.key]


def test_the_largest_inputs_get_an_axis_first(monkeypatch: pytest.MonkeyPatch) -> None:
    search = FixedSearch()
    vars(search)["roles"] = [
        SimpleNamespace(is_input=is_input, shape=shape, places=[SimpleNamespace(axes=shape), None])
        for is_input, shape in ((True, (2, 9)), (False, (99,)), (True, (4, 8)))
    ]
    monkeypatch.setattr(search, "_with_axis", lambda place, current, axis: [(place.axes, current, axis)])
    assert list(cast(Any, search.inputs_with_axis("x"))) == [((4, 8), (4, 8), "x"), ((2, 9), (2, 9), "x")]


class FixedTrials:
    """Trials that take nothing, and record what is asked of them."""

    figures: Figures | None = BEFORE
    made: tuple[Change, ...] = ()
    module: Any = sdyopt.parse("module {}").ir

    def __init__(self, seconds: Mapping[str, int] = MappingProxyType({})) -> None:
        self.seconds = seconds
        self.calls: list[tuple[list[str], tuple[float, float]]] = []

    def of_changes(
        self, changes: list[Change], jobs: int, cut: EstimatedCost | None, count: int, *_: object
    ) -> Iterator[Trial]:
        self.calls.append(([change.words[0] for change in changes], _limits(cut)))
        for change in changes:
            seconds = self.seconds.get(str(change.edits[0].subject)) if change.edits else None
            after = None if seconds is None else BEFORE._replace(seconds=Fraction(seconds))
            yield Trial(change, BEFORE, after, has_failed=change.words[0] == "c")


def test_a_search_tries_as_many_as_its_budget_and_what_is_asked_for() -> None:
    search, trials = search_on_nothing(), FixedTrials()
    search.limit = 3
    shown: list[tuple[int, int]] = []
    search._show = lambda done, total: shown.append((done, total))
    changes = [named(name) for name in "abcd"]
    list(search.tries(cast(Trials, trials), changes, asked=[named("b"), named("e")]))
    assert [names for names, _ in trials.calls] == [["a", "b", "c", "e"]]
    assert shown == [(1, 4), (2, 4), (3, 4), (3, 4)]
    assert (search.tried, search.proposed, search.failed) == (3, 4, 1)
    assert [cut for _, cut in trials.calls] == [(100, 100)]
    # Nothing is left of the budget, but for what is asked for.
    list(search.tries(cast(Trials, trials), changes, keeps_slower=True, asked=[named("f")]))
    assert trials.calls[1] == (["f"], _NO_LIMIT)
    search.memory = 1
    list(search.tries(cast(Trials, trials), (), asked=[named("f")]))
    assert trials.calls[2] == (["f"], _NO_LIMIT)
    # Trials end when the time has passed.
    search.is_out_of_time = True
    assert not list(search.tries(cast(Trials, trials), (), asked=[named("f")]))
    assert not search.has_passed(0)
    assert search.has_passed(1e-9)


def test_what_is_tried_or_turns_sharding_off_is_not_tried_again() -> None:
    search = FixedSearch()
    known, off, new = (
        named("k", Edit("k")),
        named("o", Edit("o", is_less_sharded=True)),
        named("n", Edit("n")),
    )
    search._known[known.key] = Trial(known, BEFORE, None)
    rewrite = Change(rewrite=lambda copies, rewriter: None, words=("r", ""))
    assert search._usable([named("nothing"), known, off, new, new, rewrite]) == [new, rewrite]


def test_what_a_backward_rule_does_is_tried_if_a_compiler_verifies_it() -> None:
    change = named("b", Edit("b", how=IN_BACKWARD_RULE))
    assert not FixedSearch()._usable([change])
    search = FixedSearch()
    search._keeps_unsure = True
    assert search._usable([change]) == [change]


def test_if_changes_are_too_many_those_that_are_best_with_fewer_layers_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`twin` is the same as `a` with fewer layers, and `gone` is nothing; `slow` has no figures."""
    seconds = {"a": 30, "b": 10, "c": 20}
    subjects = {**{name: name for name in (*seconds, "slow")}, "twin": "a", "gone": None}
    possible = [named(name, Edit(name)) for name in subjects]
    small = FixedTrials(seconds)
    small.figures = BEFORE._replace(peak_bytes=50 << 20)

    def fewer(change: Change) -> Change:
        subject = subjects[change.words[0]]
        return named(change.words[0], *([] if subject is None else [Edit(subject)]))

    module = sdyopt.parse("module {}").ir
    reduced = SimpleNamespace(module=module, change=fewer)
    monkeypatch.setattr(module_of_search, "with_fewer_layers", lambda module: reduced)
    trials = FixedTrials()
    monkeypatch.setattr(trials, "on", lambda module: small, raising=False)
    search = search_on_nothing()
    search.limit = 2

    def likely() -> list[str]:
        return [change.words[0] for change in search.likely(cast(Trials, trials), possible)]

    assert likely() == ["b", "c"]
    assert (search.tried, search.reduced, search.limit) == (4, 4, 6)
    search.limit, search.memory = 3, 100 << 20
    assert likely() == ["b", "c", "a"]
    assert search.memory == 100 << 20
    search.limit = 6
    assert likely() == list(subjects)
    search.limit = 2
    # What saves nothing with fewer layers is not tried on the whole program, though it is asked for.
    seconds["c"], seconds["asked"], seconds["late"] = 10**9, 10**9, 20
    subjects.update(asked="asked", late="late")
    asked = [named(name, Edit(name)) for name in ("asked", "late", "c")]
    assert search.likely(cast(Trials, trials), possible, asked) == [possible[1], possible[0]]
    assert search._no_better == {change.key for change in (asked[0], asked[2], possible[3])}
    del subjects["asked"], subjects["late"]
    for name, value in (("made", (possible[0],)), ("figures", None), ("module", None)):
        if name == "module":
            monkeypatch.setattr(module_of_search, "with_fewer_layers", lambda module: None)
        with monkeypatch.context() as context:
            context.setattr(trials, name, value)
            assert likely() == list(subjects)


def test_what_another_line_sends_then_is_not_saved() -> None:
    search = search_on_nothing()
    gather, reduce = ("all_gather", '{"x"}'), ("all_reduce", '{"y"}')
    before = {("model.py:1", *reduce): Fraction(96), ("model.py:2", *gather): Fraction(96)}
    after = {("model.py:2", *reduce): Fraction(96), ("model.py:3", *gather): Fraction(4)}
    search.trials = cast(Trials, SimpleNamespace(outcome=SimpleNamespace(sent=before)))
    trial = cast(Trial, SimpleNamespace(sent=after))
    saved = [search.saved_at(trial, f"model.py:{line}") for line in (1, 2, 3)]
    assert saved == [0, 92, 0]

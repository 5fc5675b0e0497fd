"""Lines of checks that have too many columns: names lose their start, and figures stay."""

import json
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

import sdyopt
from sdyopt.analysis.changes.edits import AnnotationEdit, Change
from sdyopt.analysis.changes.effect import Effect, Figures, Measure
from sdyopt.analysis.changes.search import Search
from sdyopt.analysis.changes.trial import Annotation, Trial
from sdyopt.analysis.figures.figures import Compiled, Report
from sdyopt.analysis.figures.program_report import report_on
from sdyopt.analysis.figures.source_locations import SourceLocation
from sdyopt.analysis.report.check import checker
from sdyopt.analysis.report.check.analysis import check_json
from sdyopt.analysis.report.check.check_text import (
    _compiled_lines,
    change_of,
    check_text,
    first_number,
    is_together,
    kinds_of,
    sent_and_why,
    together_text,
)
from sdyopt.analysis.report.check.checker import CheckResult, CostlyPlace
from sdyopt.analysis.report.check.trial_text import folded, tight, trial_text
from sdyopt.base.dataclasses import replace
from sdyopt.base.diagnostics.location import UnknownLoc
from sdyopt.shardy.notation.partition_spec import specs_of


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("P('x', None) for dot", 20, "P('x', None) for dot"),
        ("P('x', None) for dot", 19, "P('x',None) for dot"),
        ("of state['params']['mlp']['up'] sharded", 39, "of state['params']['mlp']['up'] sharded"),
        ("of state['params']['mlp']['up'] sharded", 38, "of state…['mlp']['up'] sharded"),
        ("of state.params['mlp'][0] sharded", 20, "of state…[0] sharded"),
        (
            "of params['a']['wq'], params['a']['wk'] and 1 more",
            42,
            "of params…['wq'], params…['wk'] and 1 more",
        ),
        ("of params['a']['wq'], params['a']['wk'] and 1 more", 41, "of params…['wq'] and 2 more"),
    ],
)
def test_reasons_keep_the_ends_of_names(text: str, width: int, expected: str) -> None:
    assert tight(text, width) == expected


def test_reasons_and_changes_are_folded_in_few_columns() -> None:
    # An amount keeps its unit.
    line = "   why: P('data', None, 'model') for the reshard at line 20: -192.0 MiB sent and -96.0 MiB memory"
    assert folded(line, 80).splitlines() == [
        "   why: P('data', None, 'model') for the reshard at line 20: -192.0 MiB sent and",
        "     -96.0 MiB memory",
    ]
    # A spec stays whole.
    spec = folded("   why, so that at: P('data', None, 'model')", 40).splitlines()[1]
    assert spec == "     P('data', None, 'model')"
    lines = check_text(sdyopt.check(EXAMPLE).ir, 80).splitlines()
    assert max(map(len, lines)) <= 80 and not any("…" in line for line in lines)


_NONE = Fraction(0)
FIGURES = Figures(Fraction(4), _NONE, _NONE, Fraction(2), 0, None, _NONE, _NONE, 0, 0, _NONE)


def trial_of(after: Figures, *annotations: Annotation, is_removal: bool = False) -> Trial:
    """A trial of one edit for each annotation."""
    edit = cast(AnnotationEdit, SimpleNamespace(is_removal=is_removal, replaced=None))
    return Trial(Change((edit,) * len(annotations)), *Effect(FIGURES, after), annotations=annotations)


def test_a_change_says_what_is_written_now_and_how_many_results_it_changes() -> None:
    annotation = Annotation("", "P('x')", "")
    trial = trial_of(FIGURES._replace(wire_bytes=Fraction(1)), annotation)._replace(text="shard w as P('x')")
    assert trial_text(trial) == "shard w as P('x'): -1 B sent"
    trial = trial._replace(now="P()", results=(annotation, annotation))
    assert trial_text(trial) == "shard w as P('x') (now P()): -1 B sent; 2 results are sharded otherwise, too"
    assert trial_text(trial._replace(now="without an annotation")).startswith("shard w as P('x'): ")
    # A compiler's figures are beside it.
    assert ": estimated -1 B sent" in trial_text(trial, is_compiled=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"x"}, {}] → [{}, {}]', "P('x') → P()"),
        ('[{}, {"x", "y"}, {}] for dot', "P(None, ('x', 'y')) for dot"),
        ('[{?}, {"x", ?}]', "P(P.UNCONSTRAINED, 'x')"),
        # JAX has no word for a part of an axis.
        ('[{"x"}, {"tp":(1)2}, {"tp":(2)2}, {}]', "P('x', 'tp':(1)2, 'tp':(2)2)"),
    ],
)
def test_shardings_have_one_notation(text: str, expected: str) -> None:
    assert specs_of(text) == expected


def test_a_change_that_sends_more_says_why_it_pays() -> None:
    after = FIGURES._replace(wire_bytes=Fraction(3), seconds=Fraction(3))
    assert trial_text(trial_of(after)._replace(text="do")) == "do: +1 B sent, -25% time"
    as_much = FIGURES._replace(seconds=Fraction(3))
    assert trial_text(trial_of(as_much)._replace(text="do")) == "do: as much sent, -25% time"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (1, "best together: 1 and shard w: -1 B sent, -25% time"),
        (3, "best together: 1 and shard w: +1 B sent, -25% time"),
    ],
)
def test_the_best_set_has_the_numbers_of_places_and_other_changes(sent: int, expected: str) -> None:
    after = FIGURES._replace(wire_bytes=Fraction(sent), seconds=Fraction(3))
    parts = Change((), words=("other", "")), Change((), words=("first", ""))
    trial = trial_of(after)._replace(change=Change((), parts=parts), texts=("shard w", "shard x"))
    place = SimpleNamespace(best=trial_of(after)._replace(change=parts[1]), shared=0)
    check = cast(CheckResult, SimpleNamespace(together=trial, places=[place], memory_place=None))
    assert together_text(check) == expected
    # A place with the set as its change has this text, and no line of its own follows.
    whole, again = (SimpleNamespace(best=trial, shared=shared) for shared in (0, 1))
    places = [cast(CostlyPlace, each) for each in (place, whole, again)]
    assert [is_together(check, each) for each in places] == [False, True, False]


def test_a_change_is_at_the_line_that_a_person_edits() -> None:
    lines = {"value": SourceLocation("model.py", 4, 0, ""), "derived": SourceLocation("model.py", 5, 0, "")}
    written = SimpleNamespace(subject="value", is_boundary=False, replaced=None)
    # JAX writes what is as before, or what it derives.
    derived = SimpleNamespace(
        subject="derived",
        is_boundary=False,
        is_removal=False,
        replaced=SimpleNamespace(sharding=None, location=UnknownLoc()),
        sharding=None,
    )
    edits = cast("tuple[AnnotationEdit, ...]", (derived, written))
    trial = trial_of(FIGURES)._replace(change=Change(edits))
    names = SimpleNamespace(location=lines.__getitem__)
    search = cast(Search, SimpleNamespace(names=names, ranked=[trial]))
    found = [Search.written_on(search, f"model.py{end}") for end in (":4", ":5", "")]
    assert found == [trial, None, None]


@pytest.mark.parametrize(
    ("memory", "sent", "is_ample"), [(None, 5, False), (9, 5, True), (7, 5, False), (9, 3, False)]
)
def test_memory_that_is_ample_is_not_saved_by_sending_more(
    memory: int | None, sent: int, is_ample: bool
) -> None:
    report = SimpleNamespace(memory=SimpleNamespace(peak=4))
    check = cast(CheckResult, SimpleNamespace(device_memory=memory, report=report))
    trial = trial_of(FIGURES._replace(wire_bytes=FIGURES.wire_bytes + sent - 4))
    assert checker._is_ample(check, trial) is is_ample


def test_a_place_names_the_change_of_another_one() -> None:
    place = cast(CostlyPlace, SimpleNamespace(shared=1, shared_bytes=Fraction(2048)))
    assert change_of(cast(CheckResult, None), place) == "the change of 1 saves 2.00 KiB here, too"


@pytest.mark.parametrize(
    ("further", "expected"),
    [
        (0, "no change saves 1% of the time (3 tried)"),
        (2, "no change that is shown helps here; --advise lists 2 more changes"),
    ],
)
def test_a_place_without_a_change_says_where_others_are(further: int, expected: str) -> None:
    place = SimpleNamespace(shared=0, best=None, untried="", is_written=False)
    check = SimpleNamespace(can_try=True, proposed=3, tried=3, places=[], memory_place=None, further=further)
    assert change_of(cast(CheckResult, check), cast(CostlyPlace, place)) == expected


def test_what_is_saved_after_the_best_change_is_not_said_if_that_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = (Path(__file__).parents[2] / "lit/check/after_best.mlir").read_text(encoding="utf-8")
    program = text.split("//--- state.mlir\n")[1].split("//---")[0]
    check = sdyopt.check(sdyopt.parse(program))
    assert [place.after_best is None for place in check.ir.places if not place.shared] == [True, False]
    # The compiler does what the best change would.
    assert check.ir.trials is not None
    search = Search(check.ir.trials)
    everywhere = checker.places_of(check.ir.report.collectives)
    done = checker.DoneByCompiler(everywhere, search)
    monkeypatch.setattr(done, "is_done", lambda trial: trial is search.ranked[0])
    changed, _ = checker.places_by_change(everywhere, search, done)
    assert changed and all(place.after_best is None for place in changed)


EXAMPLE = Path(__file__).parents[3] / "examples" / "mlp.mlir"


def test_places_that_a_change_helps_come_first_in_the_order_of_the_changes() -> None:
    check = sdyopt.check(EXAMPLE)
    helped = [place.best is not None for place in check.places]
    assert helped[0] and helped == sorted(helped, reverse=True)
    best = check.advise().changes[0].text
    assert check.places[0].best is not None and check.places[0].best.text == best
    assert "\nbest: " not in str(check)


def test_the_best_change_is_named_if_it_is_that_of_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    places_of = checker.places_of
    monkeypatch.setattr(checker, "places_of", lambda *given: places_of(*given)[-1:])
    check = sdyopt.check(EXAMPLE, topology="tpu-v5e")
    best = "jax.lax.with_sharding_constraint(the gradient of weights[1], P('model', 'data'))"
    assert f"\nbest: {best}" in str(check)
    change = json.loads(check_json(check.ir))["elsewhere"]
    assert [written["spec"] for written in change["annotations"]] == ["P('model', 'data')"]
    # The order of places is that of the bytes of the compiler, if it was asked.
    report = check.ir.report
    *_, last = places_of(report.collectives)
    compiled = Compiled("libtpu", "v5e", report, sent={last.largest.number: Fraction(1)})
    first, *others = places_of(report.collectives, compiled)
    assert first.key == last.key and first.compiled == 1
    assert all(place.compiled == 0 for place in others)


def test_what_takes_memory_takes_the_room_of_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = sdyopt.check(EXAMPLE).ir.trials
    assert trials is not None and trials.outcome is not None
    search, report = Search(trials), trials.outcome.report
    assert len(checker.check_of(report, search, most=1).places) == 2
    memory = SimpleNamespace(trial=next(iter(search.ranked)))
    monkeypatch.setattr(checker, "memory_place", lambda *given: memory)
    monkeypatch.setattr(checker, "_is_ample", lambda *given: False)
    assert checker.check_of(report, search, most=1).places == []


def test_json_counts_what_it_does_not_list_and_has_no_spec_for_what_is_removed() -> None:
    check = sdyopt.check(EXAMPLE).ir
    annotations = [Annotation(f"w{number}", "P('x')", "") for number in range(20)]
    check.places = [replace(check.places[0], untried=why) for why in ("too many", "")]
    assert [place["untried"] for place in json.loads(check_json(check))["places"]] == ["too many", None]
    check.together = trial_of(FIGURES, *annotations)
    change = json.loads(check_json(check))["together"]
    assert len(change["annotations"]) + change["further_annotations"] == 20
    assert {written["spec"] for written in change["annotations"]} == {"P('x')"}
    check.together = trial_of(FIGURES, annotations[0], is_removal=True)
    change = json.loads(check_json(check))["together"]
    assert change["annotations"] == [{"place": "w0", "spec": None}] and change["further_annotations"] == 0


@pytest.mark.parametrize(
    ("share", "known", "first"),
    [
        (Fraction("4.97"), {}, "written"),
        (Fraction(5), {}, "annotated"),
        (Fraction(6), {"untried": "why"}, "written"),
        (Fraction(6), {"blocker": "why"}, "written"),
    ],
)
def test_what_annotations_change_comes_first_unless_it_is_little(
    share: Fraction, known: dict[str, str], first: str
) -> None:
    def place(name: str, size: Fraction) -> CostlyPlace:
        total = SimpleNamespace(high=size, per_iteration=Fraction(0))
        values = {"name": name, "is_written": name == "written", "untried": "", "blocker": "", "total": total}
        return cast(CostlyPlace, SimpleNamespace(**(values | (known if name == "written" else {}))))

    places = [place("written", 100 - share), place("annotated", share)]
    assert checker.places_to_show([], places, most=2)[0].name == first


def test_as_many_kinds_as_fit_are_named() -> None:
    check = sdyopt.check((EXAMPLE.parents[1] / "tests/lit/check/explicit.mlir").read_text()).ir
    first, second = "all_gather along data:(2)2 64 B", "all_reduce along model 64 B"
    for width, text in {
        103: f"{first}, {second}, collective_permute along data, model 32 B",
        102: f"{first}, {second}, 1 other",
        68: f"{first}, 2 others",
        40: "all_gather along data:(2)2",
    }.items():
        assert kinds_of(check, check.places[0], width) == text
    part = sent_and_why(check, check.places[0], 300)
    assert f"160 B (100%) sent, 64 B of it in {first.removesuffix(' 64 B')}: " in part


@pytest.mark.parametrize(("sent", "flops", "is_done"), [(0, 0, True), (100, 0, False), (0, 1, False)])
def test_what_the_compiler_does_not_send_gets_no_change(
    sent: int, flops: int, is_done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "place_of_collective", lambda collective: collective)
    monkeypatch.setattr(checker, "sent_as_compiled", lambda *_: Fraction(sent))
    saved = {Measure.WIRE: Fraction(100), Measure.FLOPS: Fraction(flops)}
    trial = SimpleNamespace(change=SimpleNamespace(key="change"), effect=SimpleNamespace(saved=saved.get))
    place = SimpleNamespace(parts=[SimpleNamespace(largest="line")], key="line", name="model.py:3")
    search = SimpleNamespace(
        sent_at=lambda trial, _: Fraction(100 if trial is None else 0), saved_at=lambda *_: Fraction(100)
    )
    done = checker.DoneByCompiler(cast("list[CostlyPlace]", [place]), cast(Search, search), cast(Compiled, 1))
    # It is asked for its place, and among all.
    assert [done.is_done(cast(Trial, trial)) for _ in range(2)] == [is_done] * 2
    assert done.lines == ["model.py:3"] * is_done
    # Without a compiler, nothing is.
    assert not checker.DoneByCompiler(done._everywhere, cast(Search, search)).is_done(cast(Trial, trial))


@pytest.mark.parametrize(
    ("location", "kind", "name"),
    [
        ('"jit(f)/tanh"("layer"("model.py":3:5))', "stablehlo.tanh", "model.py:3"),
        # Without a line, or of a function, it is of the arguments.
        ("unknown", "stablehlo.tanh", "the arguments"),
        ('"model.py":3:5', "func.func", "the arguments"),
    ],
)
def test_a_rewrite_that_lowers_the_peak_is_at_its_line(location: str, kind: str, name: str) -> None:
    text = f"""
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {{
      %0 = stablehlo.tanh %a : tensor<8xf32> loc({location})
      return %0 : tensor<8xf32>
    }} loc({location})
    """
    op = next(op for op in sdyopt.parse(text).ir.walk() if op.name == kind)
    after = FIGURES._replace(peak_bytes=FIGURES.peak_bytes - 100)
    trial = trial_of(after)._replace(change=Change(op=op), before=FIGURES)

    def place(together: int, *shown: int) -> checker.MemoryPlace | None:
        others = [
            trial_of(FIGURES._replace(peak_bytes=FIGURES.peak_bytes - saved))._replace(before=FIGURES)
            for saved in (together, *shown)
        ]
        search = SimpleNamespace(for_memory=trial, together=others[0], names=None)
        return checker.memory_place([None, *others[1:]], cast(Search, search))

    found = place(0, 49)
    assert found is not None
    assert (found.name, found.saved) == (name, 100)
    assert found.location.line == (3 if name == "model.py:3" else 0)
    # A change that is shown mends half of it, or those that go together nearly all.
    assert place(0, 50) is None
    assert place(89) is not None
    assert place(90) is None


_DONE = "no change is proposed for what the compiler sends otherwise already, at"
(_GATHER,) = report_on(
    sdyopt.parse("""
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
      %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    """).ir
).collectives


@pytest.mark.parametrize(
    ("sent", "done", "expected"),
    [
        (100, [], []),
        (0, ["model.py:3"], ["100 B (100%) are sent at lines without an estimate", f"{_DONE} model.py:3"]),
        (100, ["a.py:1", "a.py:2"], [f"{_DONE} a.py:1 and 1 other line"]),
        (100, ["a.py:1", "a.py:2", "a.py:3"], [f"{_DONE} a.py:1 and 2 other lines"]),
    ],
)
def test_what_is_said_of_figures_of_a_compiler(sent: int, done: list[str], expected: list[str]) -> None:
    """It sends 100 B, so many of them at lines with estimates."""
    figures = Report(collectives=[replace(_GATHER, wire_bytes=Fraction(100))])
    compiled = SimpleNamespace(
        figures=figures, sent={"line": Fraction(sent)}, compiler="libtpu", target="tpu-v5e:2x2"
    )

    def lines(time: object, is_tried: bool) -> list[str]:
        report = SimpleNamespace(compiled=compiled, time=time)
        check = cast(CheckResult, SimpleNamespace(report=report, done=done))
        return [line.partition(": --report")[0] for line in _compiled_lines(check, is_tried)]

    ends = {
        (None, False): "",
        (1, False): "; times are estimated",
        (None, True): "; changes are estimated: --advise --compiled compiles the program with changes",
        (1, True): "; times and changes are estimated: --advise --compiled compiles the program with changes",
    }
    for (time, is_tried), end in ends.items():
        assert lines(time, is_tried) == [*expected, f"figures of libtpu for tpu-v5e:2x2{end}"]


@pytest.mark.parametrize(
    ("is_there", "fits", "first"), [(True, False, 2), (True, True, 1), (True, None, 1), (False, False, 1)]
)
def test_what_makes_a_program_fit_has_the_first_number(is_there: bool, fits: bool | None, first: int) -> None:
    check = SimpleNamespace(memory_place=object() if is_there else None, fits=fits)
    assert first_number(cast(CheckResult, check)) == first

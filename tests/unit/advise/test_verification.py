"""Advice that XLA compiles: changes that its communication makes slower are left out."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from sdyopt.analysis.advise import Options
from sdyopt.analysis.advise.adviser import Verification
from sdyopt.analysis.advise.analysis import advice_of, advice_text
from sdyopt.analysis.changes.edits import Change
from sdyopt.analysis.changes.effect import Figures
from sdyopt.analysis.changes.trial import CompiledCost, Trial
from sdyopt.analysis.execution.process import NotValidated, Worker

LIT = Path(__file__).parents[2] / "lit" / "advise"
PROGRAM = LIT.joinpath("one_change.mlir").read_text(encoding="utf-8")

_HLO = """HloModule m, num_partitions=8

ENTRY %main (x: f32[{0}]) -> f32[{0}] {{
  %x = f32[{0}] parameter(0)
  ROOT %r = f32[{0}] all-reduce(f32[{0}] %x), replica_groups=[4,2]<=[8], to_apply=%add
}}
"""


def _advice(monkeypatch: pytest.MonkeyPatch, sizes: list[int]) -> sdyopt.Advice[sdyopt.Module]:
    """The advice, if XLA sends so many bytes before the changes and after each of them; 0 to reject one."""

    def run(worker: Worker, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        assert task == "compile" and request["devices"] == 8
        assert all("mhlo.num_partitions = 8 : i32" in text for text in request["texts"])
        left = sizes + [4] * (len(request["texts"]) - len(sizes))
        return [{"hlo": _HLO.format(size // 4)} if size else {"cannot": "XLA: no"} for size in left]

    monkeypatch.setattr(Worker, "run", run)
    return sdyopt.parse(PROGRAM).advise(jobs=1, verify=True)


def test_bytes_of_xla_are_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = _advice(monkeypatch, [8000, 4000])
    before, after = advice.changes[0].compiled or pytest.fail("not compiled")
    assert [int(each.wire_bytes) for each in (before, after)] == [8000, 4000]
    assert "XLA for the CPU sends 7.81 KiB → 3.91 KiB (−50.0%)" in str(advice)


def test_changes_that_xla_contradicts_or_rejects_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = sdyopt.parse(PROGRAM).advise(jobs=1)
    advice = _advice(monkeypatch, [8000, 400_000, 0])
    assert [each.text for each in advice.changes] == [each.text for each in plain.changes[2:5]]
    assert "left out: 2 that XLA contradicts" in str(advice)
    # The program is that of the best change that is left.
    assert str(advice.module) != str(plain.module)


def test_a_program_that_xla_rejects_is_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = _advice(monkeypatch, [0])
    assert "not verified: XLA: no" in str(advice)
    assert advice.changes and all(each.compiled is None for each in advice.changes)


def test_a_process_that_ends_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []

    def run(worker: Worker, task: str, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        counts.append(len(request["texts"]))
        if len(counts) == 2:
            raise NotValidated("XLA ends with SIGSEGV")
        return [{"hlo": _HLO.format(2000)}] if len(counts) == 1 else [{"hlo": _HLO.format(1)}] * counts[-1]

    monkeypatch.setattr(Worker, "run", run)
    advice = sdyopt.parse(PROGRAM).advise(jobs=1, verify=True)
    assert counts == [counts[0], counts[0] - 1, counts[0] - 2]
    assert len(advice.ir.contradicted) == 1


def test_what_xla_confirms_only_in_part_is_kept_and_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    change = sdyopt.parse(PROGRAM).advise(jobs=1).changes[2]
    assert change.after.compute > change.before.compute
    # XLA sends a few bytes less, but computes for longer than they take.
    advice = _advice(monkeypatch, [8000, 4000, 4000, 7900])
    assert advice.changes[-1].text == change.text
    assert not advice.changes[-1].is_confirmed and not advice.changes[-1].is_contradicted


def test_what_is_left_out_has_the_figures_of_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(str(_advice(monkeypatch, [8000, 400_000, 0])).split())
    assert "weights['up'] as P(None, 'model'): XLA sends 382.8 KiB more, and takes 4.36 us longer" in text
    assert "P('data', 'model')): XLA does not compile it" in text


def test_collectives_of_a_compiled_program_have_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = _advice(monkeypatch, [8000, 4000])
    before, after = advice.changes[0].compiled or pytest.fail("not compiled")
    # Two devices take two steps, of 1 us on tpu-v5e, and half of the time for half of the bytes.
    latency = 2 * after.seconds - before.seconds
    assert latency == Fraction(2, 10**6)


def test_changes_are_in_the_order_of_the_compiler_and_few_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = [8000, 7000, 4000]

    def compiled(*_: object) -> Iterator[CompiledCost]:
        yield from (CompiledCost(Fraction(size), Fraction(size, 10**6)) for size in sent)
        raise AssertionError("enough hold")

    monkeypatch.setattr(Verification, "compiled", compiled)
    monkeypatch.setattr("sdyopt.analysis.advise.adviser._ENOUGH", 2)
    texts = [change.text for change in sdyopt.parse(PROGRAM).advise(jobs=1).changes]
    options = Options(advise="-", advise_verify=True, is_compiled=True, advise_jobs=1)
    advice = advice_of(sdyopt.parse(PROGRAM)._program.op, options, None)
    assert [trial.text for trial in advice.changes] == [texts[1], texts[0]]
    assert "not compiled: 1 more, as 2 hold" in advice_text(advice, ".txt")


@pytest.mark.parametrize(
    ("sent", "seconds", "peak", "flops", "is_left_out"),
    [
        # Within a hundredth of 1,000 B and 100 s, it gains nothing, ...
        (1000, 100, 100, 100, True), (990, 100, 100, 100, True), (1000, 99, 100, 100, True),
        (989, 100, 100, 100, False), (1000, 98, 100, 100, False),
        # ... but for a tenth of the peak, or a hundredth of the FLOPs, ...
        (1000, 100, 90, 100, False), (1000, 100, 91, 100, True),
        (1000, 100, 100, 98, False), (1000, 100, 100, 99, True),
        # ... if it costs no more.
        (1010, 100, 90, 100, False), (1011, 100, 90, 98, True), (1011, 99, 90, 98, False),
        (1000, 101, 90, 100, False), (1000, 102, 90, 98, True),
        # What takes longer is left out, however little it sends then.
        (500, 101, 100, 100, False), (500, 102, 90, 98, True),
    ],
)  # fmt: skip
def test_what_xla_does_as_before_is_left_out_unless_it_saves_memory_or_work(
    sent: int, seconds: int, peak: int, flops: int, is_left_out: bool
) -> None:
    trial = _compiled(sent, seconds)
    assert trial.is_confirmed == (sent <= 1000 and seconds <= 100)
    after = trial.before._replace(peak_bytes=peak, flops=Fraction(flops))
    assert trial._replace(figures=after).is_contradicted is is_left_out


@pytest.mark.parametrize(
    ("sent", "seconds", "is_confirmed"),
    [(1000, 100, True), (1001, 50, False), (500, 101, False), (999, 99, True)],
)
def test_xla_confirms_what_is_no_more_in_bytes_and_time(sent: int, seconds: int, is_confirmed: bool) -> None:
    trial = _compiled(sent, seconds)
    assert trial.is_confirmed is is_confirmed
    not_compiled = trial._replace(compiled=None)
    assert not_compiled.is_confirmed and not not_compiled.is_contradicted


def _compiled(sent: int, seconds: int) -> Trial:
    """A change of a program that sends 1,000 B in 100 s and has a peak of 100 B and 100 FLOPs."""
    zero = Fraction(0)
    before = Figures(zero, zero, Fraction(100), zero, 100, None, zero, zero, 0, 0, zero)
    costs = [CompiledCost(Fraction(size), Fraction(time)) for size, time in ((1000, 100), (sent, seconds))]
    return Trial(Change(), before, before, compiled=(costs[0], costs[1]))

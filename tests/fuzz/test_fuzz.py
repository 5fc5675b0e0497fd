"""The fuzzer finds planted problems, makes them small, and continues where it stopped."""

import os
import signal
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import batch, sources
from tests.fuzz.batch import preload, run_all
from tests.fuzz.contract import Outcome, problem_of
from tests.fuzz.corpus import Seed, seeds
from tests.fuzz.findings import Finding
from tests.fuzz.inputs import Input
from tests.fuzz.minimize import minimize
from tests.fuzz.mutation import mutate, tokens
from tests.fuzz.session import Session


@pytest.mark.parametrize(
    ("outcome", "problem"),
    [
        (Outcome(0), ""),
        (Outcome(1, "a.mlir:1:2: error: undefined value\n"), ""),
        (Outcome(1, "<unknown>:0: error: bad\n  --> a.mlir:1:2\n"), ""),
        (Outcome(1, "<unknown>:0: error: bad\n"), "error without a location: <unknown>:…: error: bad"),
        (Outcome(1, "<unknown>:0: error: Can't run 'A' on 'B'\n"), ""),
        (Outcome(1, "<unknown>:0: error: unexpected error: Can't add pass 'A'\n"), ""),
        (Outcome(2, "sdy-opt: unknown flag\n"), ""),
        (Outcome(-11), "exit status -11"),
        (Outcome(1, ""), "error without a location: "),
        (Outcome(1, "error: '3' is bad\n"), "error without a location: error: … is bad"),
        (Outcome(2, ""), "exit status 2 without a message"),
        (Outcome(1, "internal error: KeyError\n"), "internal error: internal error: KeyError"),
        (Outcome(1, "a:1:1: error: \x1b[31m\n"), "control characters: a:…:…: error: \\x1b[…m"),
        (Outcome(1, "a:1:1: error: out of memory\n"), "out of memory"),
    ],
)  # fmt: skip
def test_what_violates_the_contract(outcome: Outcome, problem: str) -> None:
    assert problem_of(outcome) == problem


def _hang() -> Outcome:
    while True:
        pass


def _exhaust_memory() -> Outcome:
    return Outcome(len(bytearray(1 << 31)))


def _end() -> Outcome:
    signal.raise_signal(signal.SIGKILL)
    return Outcome()


def test_an_input_that_ends_the_child_does_not_end_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "SECONDS", 0.2)
    outcomes = run_all([Outcome, _hang, _exhaust_memory, _end, lambda: Outcome(2, "usage")])
    assert [outcome.crash for outcome in outcomes] == [
        "",
        "out of time at unknown line",
        "out of memory at unknown line",
        "ended by signal 9, status 9",
        "",
    ]
    assert outcomes[-1] == Outcome(2, "usage")


def test_an_input_after_an_exception_runs_in_a_new_child() -> None:
    state: list[int] = []

    def remember() -> Outcome:
        state.append(1)
        return Outcome(len(state))

    def fail() -> Outcome:
        raise AssertionError

    outcomes = run_all([remember, remember, fail, remember, lambda: os._exit(0), remember])
    assert [outcome.status for outcome in outcomes] == [1, 2, 0, 1, 0, 1]
    assert [bool(outcome.crash) for outcome in outcomes] == [False, False, True, False, True, False]


def test_a_problem_that_an_input_has_only_after_others_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[bytes] = []

    def run(input: Input) -> Outcome:
        runs.append(input.text)
        return Outcome(crash="KeyError" if len(runs) == 2 else "")

    monkeypatch.setattr(Input, "run", run)
    monkeypatch.setattr(sources.Mutants, "size", 3)
    reports: list[str] = []
    session = Session(5, tmp_path, ("mutants",), report=reports.append)
    session.run(60, batches=1)
    assert list(session.findings) == ["KeyError"]
    assert reports[1:] == ["  only after other inputs of batch 0 of seed 5"]


def test_a_run_of_the_command() -> None:
    accepted = Input(b"func.func @f() { return }").run
    rejected = Input(b"func.func @f() { retur }").run
    misused = Input(b"", ("--nosuch",)).run
    outcomes = run_all([accepted, rejected, misused])
    assert [outcome.status for outcome in outcomes] == [0, 1, 2]
    assert outcomes[0].is_accepted
    assert outcomes[1].errors.startswith("input.mlir:1:18: error: ")


def test_mutants_depend_on_the_seed_alone() -> None:
    text = seeds()[0].text
    mutants = [mutate(Random(seed), text, text) for seed in range(20)]
    assert mutants == [mutate(Random(seed), text, text) for seed in range(20)]
    assert len(set(mutants)) > 15


def test_accepted_mutants_are_different_and_of_medium_size() -> None:
    mutants = sources.Mutants(())
    texts = [b" " * size for size in (0, 99, 100, 100, 9_999, 10_000)]
    for text in texts:
        mutants.accept(Random(0), Input(text))
    assert [len(text) for text in mutants.accepted] == [100, 9_999]


def test_tokens_are_a_partition_of_the_text() -> None:
    text = b'%0 = "a.b"(%arg0) {c = "\\"d"} : (i32) -> !e.f<"> loc'
    assert b"".join(tokens(text)) == text
    assert b'"\\"d"' in tokens(text)


def test_seeds_have_programs_and_flags() -> None:
    texts = [seed.text for seed in seeds()]
    assert len(texts) > 500
    assert not any(
        line.startswith((b"// RUN:", b"// CHECK:")) for text in texts for line in text.splitlines()
    )
    assert any("-sdy-propagation-pipeline" in seed.flags for seed in seeds())


def test_a_part_of_a_seed_is_a_function_with_those_that_it_uses() -> None:
    texts = {
        "mesh": b'sdy.mesh @mesh = <["x"=2]>\n',
        "a": b"func.func @a() {\n  call @b() : () -> ()\n  return\n}\n",
        "b": b"func.func private @b()\n",
        "c": b"func.func @c(\n  %arg0: i1\n) {\n  return\n}\n",
    }
    comment, separator = b"// A comment.\n", b"// -----\n"
    whole = comment + b"".join(texts.values()) + separator + texts["c"] + separator + b"module {\n}\n"
    used = [("mesh", "a", "b"), ("mesh", "b"), ("mesh", "c"), ("c",)]
    expected = [b"".join(texts[name] for name in names) for names in used]
    assert Seed(whole, ("-split-input-file",)).parts == (*expected, b"module {\n}\n")
    assert len(Seed(whole, ()).parts) == 3
    assert Seed(comment, ()).parts == (comment,)


def test_the_smallest_input_with_a_problem() -> None:
    large = Input(b"a b\n" * 50 + b"x bad y\n" + b"c\n" * 50, ("-cse", "-inline", "--werror"))
    small = minimize(large, lambda input: b"bad" in input.text and "-inline" in input.flags)
    assert small == Input(b"bad", ("-inline",))


def test_a_finding_is_a_lit_case_to_complete(tmp_path: Path) -> None:
    path = Finding("KeyError at a.py:1 in f", Input(b"x y\n", ("-cse", "-inline=a=1 b=2"))).write(tmp_path)
    assert path.name.startswith("keyerror-at-a-py-1-in-f-")
    assert path.read_text().splitlines() == [
        "// RUN: not sdy-opt %s -cse '-inline=a=1 b=2' 2>&1 | FileCheck %s",
        "",
        "// TODO: complete this case. Found by the fuzzer: KeyError at a.py:1 in f",
        "// CHECK: error: TODO",
        "",
        "x y",
    ]


def test_a_resumed_session_equals_one_without_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preload()
    for source in sources.SOURCES.values():
        monkeypatch.setattr(source, "size", 4)
    whole, first, second = Session(1, tmp_path / "a"), Session(1, tmp_path / "b"), Session(0, tmp_path / "b")
    whole.run(60, batches=6)
    first.run(60, batches=3)
    second.resume()
    second.run(60, batches=6)
    assert (tmp_path / "a" / "state.json").read_bytes() == (tmp_path / "b" / "state.json").read_bytes()
    assert whole.counts.total() == 24
    assert not whole.findings


def test_a_wrong_partitioned_program_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    [right] = sources.Partitions().batch(Random(0), 0, 1)
    assert right.run() == Outcome(is_accepted=True)
    monkeypatch.setattr(sources, "difference", lambda *texts: "result 0 on device 0")
    assert problem_of(right.run()) == "wrong results after sdy-partition-pipeline"


def test_programs_to_mutate_may_be_bytecode(tmp_path: Path) -> None:
    data = sources.encode(b"func.func @f() { return }", 6)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f.mlirbc").write_bytes(data)
    (tmp_path / "f.mlir").write_bytes(b"func.func @f() { return }\nfunc.func @g() { return }\n")
    source = sources.make_source("bytecode", programs=[tmp_path])
    assert isinstance(source, sources.Bytecode)
    assert [(seed.is_binary, len(seed.parts)) for seed in source.seeds] == [(True, 1), (False, 2)]
    assert len(source.batch(Random(0), 0, 20)) == 20


def test_mutants_of_hlo_hold_the_contract(tmp_path: Path) -> None:
    preload()
    session = Session(3, tmp_path, ("hlo",))
    session.run(60, batches=1)
    assert session.counts["hlo: accepted"] > 100
    assert not session.findings

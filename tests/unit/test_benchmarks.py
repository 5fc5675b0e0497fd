"""The benchmark programs, measurements and tables."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import run as benchmark
from benchmarks.calibration.collectives import counts, errors, left_out
from benchmarks.calibration.cycles import Compared, HloKernels
from benchmarks.processes import BenchmarkFailed, Run, run
from benchmarks.programs import training_step
from benchmarks.varied import varied

pytestmark = pytest.mark.sources

ROOT = Path(__file__).parents[2]


def test_a_layer_has_666_operations() -> None:
    sizes = [len(re.findall("^ +%.* = ", training_step(layers), re.MULTILINE)) for layers in (1, 2, 3)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] == 666


def test_programs_are_deterministic() -> None:
    assert training_step(2) == training_step(2)


def test_programs_round_trip(tmp_path: Path) -> None:
    (tmp_path / "step.mlir").write_text(training_step(1))
    command = [sys.executable, "-m", "sdyopt", str(tmp_path / "step.mlir")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.rstrip("\n")) == ("", training_step(1).rstrip("\n"))


def test_each_measured_time_is_estimated_from_the_others() -> None:
    fitted = list(errors("h200", "rows"))
    # Measured times are interpolated exactly, if they do not fall; without them, they are not.
    assert counts(fitted).endswith("median 0.0%, within 40%: 12 = 100.0%")
    others = [error for _, error in left_out("h200")]
    assert len(others) == len(fitted) and 0.001 < sorted(map(abs, others))[6] < 0.05
    assert list(errors("h200", "rows")) == fitted


def test_processes_are_measured() -> None:
    done = run([sys.executable, "-c", "print(len(b'x' * 50_000_000))"], keeps_output=True)
    assert done.output == "50000000\n"
    assert done.seconds > 0
    assert done.memory > 50e6
    with pytest.raises(BenchmarkFailed, match="ended with 3"):
        run([sys.executable, "-c", "raise SystemExit(3)"])


def test_tables_compare_both_tools_and_show_growth(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Every figure of sdy-opt is half of the reference's, and proportional to the size of the program."""

    def pretend(command: list[str], *, keeps_output: bool = False) -> Run:
        if "benchmarks.programs" in command:
            Path(command[-1]).write_text("x" * int(command[-2]) * 1_000_000)
            return Run(0, 0, "")
        factor = 2 if command[0] == "reference" else 1
        layers = 54 if "36k" in " ".join(command) else 6
        steps = {
            "parse and verify": 1.0 * factor * layers,
            "print": 0.5 * factor * layers,
            "memory": 8e6 * factor,
        }
        if factor == 1:
            steps["operations"] = 1000 * layers
        return Run(2.0 * factor * layers, 9e6 * factor, json.dumps(steps))

    monkeypatch.setattr(benchmark, "run", pretend)
    arguments = ["run", "--reference-python", "reference", "--rounds", "1", "--keep", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", arguments)
    benchmark.main()
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "training_step_4k: 6.0 MB, 6000 operations" in shown
    assert "together 9.000 s 18.000 s 0.50" in shown
    assert "peak memory, in process 8 MB 16 MB 0.50" in shown
    assert "whole process sdy-opt 2000.0 (1.00) 2000.0 (1.00)" in shown


def test_varied_programs_are_deterministic_and_repeat_little() -> None:
    text = varied(2000)
    assert text == varied(2000) != varied(2000, seed=2)
    statements = [re.sub(r"%\w+| loc\(.*", "", line) for line in text.splitlines() if " = stablehlo" in line]
    assert len(statements) > 1500
    assert len(set(statements)) > 0.6 * len(statements)


def test_varied_programs_are_valid(tmp_path: Path) -> None:
    (tmp_path / "varied.mlir").write_text(varied(500))
    command = [sys.executable, "-m", "sdyopt", str(tmp_path / "varied.mlir"), "-sdy-propagation-pipeline"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


CYCLES = """HloModule m, is_scheduled=true, num_partitions=2

%fused (p: f32[8,8]) -> f32[8,8] {
  %p = f32[8,8] parameter(0)
  ROOT %d = f32[8,8] convolution(%p, %p), dim_labels=bf_io->bf
}

%cond (c: (s32[], f32[8,8])) -> pred[] {
  %c = (s32[], f32[8,8]) parameter(0)
  %i = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant(5)
  ROOT %l = pred[] compare(%i, %n), direction=LT
}

%body (b: (s32[], f32[8,8])) -> (s32[], f32[8,8]) {
  %b = (s32[], f32[8,8]) parameter(0)
  %i.1 = s32[] get-tuple-element(%b), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i.1, %one)
  %x = f32[8,8] get-tuple-element(%b), index=1
  %f = f32[8,8] fusion(%x), kind=kOutput, calls=%fused, backend_config={"estimated_cycles":"3000"}
  ROOT %t = (s32[], f32[8,8]) tuple(%next, %f)
}

ENTRY %main (a: f32[8,8]) -> f32[8,8] {
  %a = f32[8,8] parameter(0)
  %zero = s32[] constant(0)
  %g = f32[8,8] all-reduce(%a), replica_groups={{0,1}}, backend_config={"estimated_cycles":"9000"}
  %s = (s32[], f32[8,8]) tuple(%zero, %g)
  %w = (s32[], f32[8,8]) while(%s), condition=%cond, body=%body
  %y = f32[8,8] get-tuple-element(%w), index=1
  ROOT %r = f32[8,8] tanh(%y), backend_config={"estimated_cycles":"1500"}
}
"""


def test_cycles_of_kernels_are_read_with_their_runs() -> None:
    found = list(HloKernels("m", CYCLES, 2).kernels(1.5e9))
    assert [(kernel.seconds, kernel.runs, kernel.flops) for kernel in found] == [
        (2e-6, 5, [2 * 8 * 8 * 8]),
        (1e-6, 1, []),
    ]
    each = Compared("m", "tpu-v5e", found, [(1024, 2.2e-6, 5), (1024, 4e-6, 1)], 1e-6)
    assert each.error == pytest.approx(16 / 11 - 1)
    assert list(each.pairs()) == [(2.2e-6, 2e-6)]

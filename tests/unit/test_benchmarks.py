"""The benchmark programs, measurements and tables."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import run as benchmark
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

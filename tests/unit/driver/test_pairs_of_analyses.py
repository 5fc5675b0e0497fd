"""Two analyses of one run: each prints and writes what it does alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

import pytest

from sdyopt.analysis.interface import all_analyses
from sdyopt.tools.cli import main

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<256x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<128x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<256x512xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<256x128xf32>, tensor<128x512xf32>) -> tensor<256x512xf32>
  %1 = stablehlo.tanh %0 : tensor<256x512xf32>
  return %1 : tensor<256x512xf32>
}
"""
HLO = """HloModule jit_f, num_partitions=4

ENTRY %main (p: f32[128,512]) -> f32[256,512] {
  %p = f32[128,512]{1,0} parameter(0)
  %c = f32[] constant(0)
  ROOT %r = f32[256,512]{1,0} broadcast(%c), dimensions={}
}
"""
PASSES = ("-sdy-propagation-pipeline",)
# The flags by the name of the package of each analysis; {file} is a file that it writes.
FLAGS: dict[str, tuple[str, ...]] = {
    "advise": ("--advise={file}.json", "--advise-changes=4"),
    "check": ("--check",),
    "comparison": ("--compare-with={folder}/other.mlir", "--compare-output={file}.json"),
    "execution": ("--validate",),
    "explain": ("--explain=%1",),
    "explicit_axes": ("--explicit",),
    "hlo_comparison": ("--compare-hlo={folder}/compiled.hlo", "--compare-hlo-output={file}.json"),
    "lint": ("--lint", "--lint-fail-on=never"),
    "mesh_sweep": ("--mesh-sweep=x=1..4", "--mesh-sweep-output={file}.json"),
    "reduction": ("--reduce=grep -q tanh %s",),
    "remarks": ("--remarks-filter=.*", "--remarks-output-file={file}.yaml"),
    "report": ("--report={file}.txt",),
    "snapshot": ("--snapshot={file}.json",),
    "steps": ("--explain-steps={file}.html",),
}
# Which of a pair succeed without passes only because the other one runs some, and which take none. With
# passes, one of a pair is one that reads what they leave, or what they do.
NEED_PASSES, TAKE_NO_PASSES = {"remarks", "steps"}, {"advise"}
OF_PASSES = {"comparison", "remarks", "report", "snapshot", "steps"}


Outputs = tuple[int, str, str, dict[str, str]]


def run(
    folder: Path, names: Sequence[str], passes: Sequence[str], capfd: pytest.CaptureFixture[str]
) -> Outputs:
    """The status, stdout, stderr, the program and the files of a run."""
    program, printed = folder / "program.mlir", folder / "printed.mlir"
    flags = [
        flag.format(folder=folder, file=folder / f"written_{name}") for name in names for flag in FLAGS[name]
    ]
    status = main([str(program), *passes, *flags, "-o", str(printed)])
    out, err = capfd.readouterr()
    files = {}
    for path in [*folder.glob("written_*"), *folder.glob("printed*")]:
        files[path.name] = path.read_text()
        path.unlink()
    return status, out, err, files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.mlir").write_text(PROGRAM)
    (tmp_path / "other.mlir").write_text(PROGRAM.replace('"x"}, {}', '"y"}, {}', 1))
    (tmp_path / "compiled.hlo").write_text(HLO)
    return tmp_path


def test_all_analyses_are_in_the_table() -> None:
    names = {each.__module__.rpartition(".")[2] for each in all_analyses()}
    # What is compiled is meant to be shown by the others.
    assert names - {"compiled"} == set(FLAGS)


@pytest.mark.parametrize("passes", [(), PASSES], ids=["no passes", "passes"])
def test_each_of_a_pair_gives_what_it_does_alone(
    folder: Path,
    passes: Sequence[str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A sweep starts as many processes as there are cores, which takes longer than all else here.
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    left_out = set() if find_spec("jax") else {"execution"}
    left_out |= TAKE_NO_PASSES if passes else NEED_PASSES
    names = [name for name in FLAGS if name not in left_out]
    alone = {name: run(folder, [name], passes, capfd) for name in names}
    assert not {name: err for name, (status, _, err, _) in alone.items() if status}
    different = []
    for pair in combinations(names, 2):
        if passes and OF_PASSES.isdisjoint(pair):
            continue
        status, out, err, files = run(folder, pair, passes, capfd)
        if status == 2 and "cannot be used with" in err:
            continue
        if status:
            different.append((pair, err))
        for name in pair if not status else ():
            _, own_out, own_err, own_files = alone[name]
            if own_out not in out:
                different.append((pair, f"{name} prints\n{out}in place of\n{own_out}"))
            if not all(line in err for line in own_err.splitlines()):
                different.append((pair, f"{name} reports\n{err}in place of\n{own_err}"))
            different += [
                (pair, f"{file} is\n{files.get(file, '')}in place of\n{text}")
                for file, text in own_files.items()
                if file.startswith("written") and files.get(file) != text
            ]
    assert not different

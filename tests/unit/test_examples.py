"""The examples are what JAX prints, and the pipeline of `run.sh` gives the output of the C++ passes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt.base.releases import NEWEST
from tests.harness.reference import release_in

ROOT = Path(__file__).parents[2]
PROGRAM = "examples/transformer_train.mlir"
LOWERED = ("transformer_train", "mlp")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def test_pipeline_lowers_constraints_to_collectives() -> None:
    printed = run("examples/run.sh", sys.executable, "-m", "sdyopt").stdout
    assert printed.count("sdy.all_reduce") > 20
    assert "sdy.sharding_constraint" not in printed
    assert "sdy.reshard" not in printed
    assert "?" not in printed


@pytest.mark.reference
@pytest.mark.parametrize("name", LOWERED)
def test_program_is_what_jax_prints(name: str, tmp_path: Path) -> None:
    if release_in(sys.executable) != NEWEST.name:
        pytest.skip("earlier releases print other locations")
    run(sys.executable, f"examples/{name}.py", str(tmp_path / "program.mlir"))
    assert (tmp_path / "program.mlir").read_bytes() == (ROOT / f"examples/{name}.mlir").read_bytes()


@pytest.mark.reference
def test_pipeline_output_equals_the_reference() -> None:
    version = f"--sdy-version={release_in(sys.executable)}"
    ours = run("examples/run.sh", sys.executable, "-m", "sdyopt", version)
    shown = run("examples/run.sh", sys.executable, "-m", "sdyopt", version, "--dump-pass-pipeline").stderr
    [pipeline] = re.findall(r"^builtin\.module\(.*\)$", shown, re.MULTILINE)
    # The reference does not register the passes that save the module.
    pipeline = pipeline.replace("sdy-save-module,", "")
    theirs = run(sys.executable, "benchmarks/reference.py", "--whole", PROGRAM, pipeline)
    assert ours.stdout.rstrip("\n") == theirs.stdout.rstrip("\n")


def cells_of_notebook() -> list[str]:
    """The code of the notebook, but for what installs."""
    notebook = json.loads((ROOT / "examples/sharding_costs.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)
    install, *cells = ["".join(cell["source"]) for cell in cells]
    assert install == "%pip install --quiet sdy-opt"
    return cells


@pytest.mark.reference
def test_the_cells_of_the_notebook_run(tmp_path: Path) -> None:
    script = tmp_path / "cells.py"
    script.write_text("\n".join(cells_of_notebook()), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cells.py:" in done.stdout
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")

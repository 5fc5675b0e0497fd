"""What the compiler of TPU makes of programs: `make test-machines`, where libtpu is installed."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import pytest

import sdyopt

ROOT = Path(__file__).parents[2]
PYTHON = os.environ.get("SDYOPT_MACHINES_PYTHON", "")

pytestmark = pytest.mark.skipif(not PYTHON, reason="compiles for TPU: make test-machines")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize("name", ["transformer_train", "mlp"])
@pytest.mark.parametrize("machine", ["tpu-v5e", "tpu-v5e:4x4", "tpu-v5p", "tpu-v6e"])
def test_a_program_is_compiled_and_read(name: str, machine: str) -> None:
    """All that the compiler sends is read, and arguments take at least the bytes of their shards."""
    program = ROOT / "examples" / f"{name}.mlir"
    check = sdyopt.check(program, topology=machine, compiled=True, python=PYTHON)
    compiled = check.report.compiled
    assert compiled is not None
    data = compiled.to_dict()
    assert data["totals"]["wire_bytes"]["unknown"] == 0
    estimated = check.report.to_dict()
    assert data["memory"]["arguments"] >= 0.99 * estimated["memory"]["arguments"]
    assert data["memory"]["peak"] >= data["memory"]["arguments"]
    assert check.fits


def test_the_example_of_the_readme_is_estimated_as_it_is_compiled() -> None:
    """Within a tenth: what is sent, and the peak of memory."""
    program = ROOT / "examples" / "transformer_train.mlir"
    check = sdyopt.check(program, topology="tpu-v5e", compiled=True, python=PYTHON)
    compiled = check.report.compiled
    assert compiled is not None
    data = compiled.to_dict()
    sent, peak = data["totals"]["wire_bytes"]["high"], data["memory"]["peak"]
    assert abs(Fraction(check.wire_bytes, sent) - 1) <= Fraction(1, 10)
    assert abs(Fraction(check.peak_bytes, peak) - 1) <= Fraction(1, 10)

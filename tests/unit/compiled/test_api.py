"""The compiler's figures in the Python interface."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdyopt

INPUTS = Path(__file__).parents[2] / "lit" / "compiled" / "Inputs"
PROGRAM = (INPUTS.parent / "compiled.mlir").read_text(encoding="utf-8")
COMPILER = str(INPUTS / "compiler")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_a_check_has_the_figures_of_the_compiler() -> None:
    check = sdyopt.check(PROGRAM, topology="tpu-v5e", compiled=True, python=COMPILER)
    assert "figures of libtpu 9.9 for v5e:2x2" in str(check)
    # Those of each collective are beside its place.
    assert check.ir.report.compiled is not None
    assert check.ir.report.compiled.sent == {0: 1536}
    compiled = check.report.compiled
    assert compiled is not None
    assert [each.kind for each in compiled.collectives] == ["all_reduce"]
    assert compiled.to_dict()["memory"]["peak"] == 16896
    assert (compiled.wire_bytes, compiled.peak_bytes) == (1536, 16896)
    assert (check.wire_bytes, check.peak_bytes) == (1536, 16896)
    estimated = sdyopt.check(PROGRAM, topology="tpu-v5e")
    assert (estimated.wire_bytes, estimated.peak_bytes) == (1152, estimated.ir.report.memory.peak)


def test_the_compiler_decides_whether_a_program_fits() -> None:
    module = sdyopt.parse(PROGRAM)
    report = module.report("tpu-v5e", "10kB", compiled=True, python=COMPILER)
    assert report.to_dict()["memory"]["peak"] < 10_000
    assert report.fits is False
    assert module.report("tpu-v5e", "10kB").fits is True


def test_a_machine_must_be_named() -> None:
    with pytest.raises(ValueError, match="topology='tpu-v5e'"):
        sdyopt.check(PROGRAM, compiled=True)


def test_without_the_compiler_the_error_says_what_to_install() -> None:
    with pytest.raises(sdyopt.ExecutionError, match=r"pip install 'sdy-opt\[tpu\]'"):
        sdyopt.check(PROGRAM, topology="tpu-v5e", compiled=True, python="no-such-python")

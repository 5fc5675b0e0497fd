"""The task that compiles ahead of time ends when what the compiler writes is complete."""

from pathlib import Path

import pytest

pytest.importorskip("jax", reason="requires jax: pip install 'sdy-opt[run]'")

from sdyopt.analysis.execution.worker.compile_ahead import _FILES, _are_written

HLO = """HloModule jit_f

%half (p: f32[8]) -> f32[8] {
  ROOT %p = f32[8] parameter(0)
}

ENTRY %main (p: f32[8]) -> f32[8] {
  ROOT %p = f32[8] parameter(0)
}
"""


@pytest.mark.parametrize(
    ("text", "is_whole"), [(HLO, True), (HLO[: HLO.index("ENTRY")], False), (HLO[:-3], False)]
)
def test_the_text_of_the_entry_has_its_end(tmp_path: Path, text: str, is_whole: bool) -> None:
    for pattern in _FILES["tpu"]:
        (tmp_path / pattern.replace("*", "module.")).write_text(text, encoding="utf-8")
    assert _are_written(tmp_path, _FILES["tpu"]) is is_whole

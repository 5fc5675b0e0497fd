"""What answers about collectives claim is true: each reason is executed on the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from .claims import Claims, claims_of

ROOT = Path(__file__).parents[3]
# Program -> the least number of claims, so that no change of words leaves them out.
PROGRAMS = {
    "examples/mlp.mlir": 18,
    "tests/lit/check/explicit_axes.mlir": 4,
    "tests/lit/check/same_change.mlir": 12,
    "tests/lit/report/jax_results.mlir": 15,
    "tests/lit/explain/collective_sides.mlir": 10,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_reasons_are_true(program: str) -> None:
    claims = Claims()
    text = (ROOT / program).read_text(encoding="utf-8")
    for part in text.split("//--- ")[1:] or [text]:
        body = part.partition("\n")[2] if text != part else part
        if "func.func" in body:
            claims_of(body, claims)
    assert claims.wrong == []
    assert sum(claims.counts.values()) >= PROGRAMS[program]

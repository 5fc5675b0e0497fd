"""Types with explicit axes are those of JAX, which accepted or rejected each of these programs."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import sdyopt
from sdyopt.analysis.lint.explicit_axes.specs import spec_text
from sdyopt.analysis.lint.explicit_axes.typing import ExplicitTyping
from sdyopt.mlir.dialects.func import FuncOp

# Written by `record.py`.
RECORDED: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "recorded.json").read_text(encoding="utf-8")
)


def axes(spec: str) -> list[tuple[str, ...]]:
    """`P('x', None)` without the dimensions at the end that are not sharded."""
    call = ast.parse(spec, mode="eval").body
    assert isinstance(call, ast.Call)
    entries = [ast.literal_eval(each) for each in call.args]
    found = [() if each is None else (each,) if isinstance(each, str) else tuple(each) for each in entries]
    while found and not found[-1]:
        found.pop()
    return found


@pytest.mark.parametrize("name", RECORDED)
def test_what_jax_accepts_needs_nothing(name: str) -> None:
    recorded = RECORDED[name]
    module = sdyopt.parse("\n".join(recorded["program"])).ir
    typing = ExplicitTyping(module)
    assert bool(typing.needs) == bool(recorded["error"]), recorded["error"] or typing.needs
    main = next(op for op in module.walk() if isinstance(op, FuncOp) and op.sym_name == "main")
    if not recorded["error"]:
        assert main.entry.terminator is not None
        found = [axes(spec_text(typing.spec(value))) for value in main.entry.terminator.operands]
        assert found == [axes(spec) for spec in recorded["specs"]]

"""Gives the programs of `programs.mlir` random meshes and shardings."""

from __future__ import annotations

import re
from random import Random

from tests.interpreter.programs import PROGRAMS

_MESH = re.compile(r"sdy\.mesh @mesh = <.*>")
# Unreduced axes are dropped: they may not be in the new mesh.
_SHARDING = re.compile(r"<@mesh, \[([^]]*)\](?:, unreduced=\{[^}]*\})?>")
_MESHES = (
    '["x"=4]',
    '["x"=2]',
    '["x"=3]',
    '["x"=2, "y"=2]',
    '["x"=2, "y"=3]',
    '["x"=4, "y"=2], device_ids=[7, 1, 2, 3, 4, 5, 6, 0]',
    '["x"=2, "y"=2, "z"=2]',
)


def random_program(seed: int) -> str:
    """A program with random shardings over a random mesh; the same one for the same seed."""
    random = Random(seed)
    mesh = random.choice(_MESHES)
    axes = re.findall(r'("\w+")=(\d+)', mesh)

    def sharding(match: re.Match[str]) -> str:
        dims: list[list[str]] = [[] for _ in range(match[1].count("{"))]
        for name, size in axes:
            parts = [f"{name}:(1)2", f"{name}:(2)2"] if size == "4" and random.random() < 0.2 else [name]
            for part in parts:
                if dims and random.random() < 0.6:
                    random.choice(dims).append(part)
        texts = [", ".join(_without_whole(parts)) for parts in dims]
        return f"<@mesh, [{', '.join(f'{{{text}}}' for text in texts)}]>"

    text = _SHARDING.sub(sharding, random.choice(PROGRAMS).text)
    return _MESH.sub(f"sdy.mesh @mesh = <{mesh}>", text)


def _without_whole(parts: list[str]) -> list[str]:
    """Both halves of an axis after each other are the whole axis."""
    text = re.sub(r'("\w+"):\(1\)2, \1:\(2\)2', r"\1", ", ".join(parts))
    return text.split(", ") if text else []

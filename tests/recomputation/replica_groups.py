"""Bytes of StableHLO's collectives, from the local types and the groups of devices that the text names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import prod

from tests.recomputation.communication import Recomputed
from tests.recomputation.executions import collectives
from tests.recomputation.memory import byte_size
from tests.recomputation.text_program import Operation, Program, Value

GROUPS = re.compile(r"replica_groups = dense<(.*?)> : tensor<(\d+)x(\d+)xi64>")
PAIRS = re.compile(r"source_target_pairs = dense<(.*?)> : tensor<(\d+)x2xi64>")
# How often a device sends (n - 1) / n of its operands, or of its results, around the ring.
ROUNDS_IN = {"all_reduce": 2, "reduce_scatter": 1, "all_to_all": 1, "collective_broadcast": 1}
ROUNDS_OUT = {"all_gather": 1}


def recompute(program: Program) -> Iterator[Recomputed]:
    """The figures of the StableHLO collectives of a program, in order."""
    for op in collectives(program):
        if op.name.startswith("stablehlo."):
            yield _collective(op, program)


def _collective(op: Operation, program: Program) -> Recomputed:
    kind = op.name.removeprefix("stablehlo.")
    bytes_in, bytes_out = _sum(op.operands), _sum(op.results)
    if kind == "collective_permute":
        wire = bytes_in * _moving_share(op, program)
    else:
        n = _group_size(op, program)
        wire = Fraction(n - 1, n) * (ROUNDS_IN.get(kind, 0) * bytes_in + ROUNDS_OUT.get(kind, 0) * bytes_out)
    return Recomputed(kind, bytes_in, bytes_out, wire, op.results[0].name)


def _sum(values: list[Value]) -> int:
    return sum(byte_size(value) for value in values)


def _group_size(op: Operation, program: Program) -> int:
    """The devices of the largest group; -1 fills groups up."""
    groups = GROUPS.search(op.text)
    assert groups is not None, op.text
    columns = int(groups[3])
    ids = [int(number) for number in re.findall(r"-?\d+", groups[1])]
    if len(ids) == 1:
        return columns
    if not ids:
        return _devices(program)
    rows = [ids[start : start + columns] for start in range(0, len(ids), columns)]
    return max(sum(number >= 0 for number in row) for row in rows)


def _moving_share(op: Operation, program: Program) -> Fraction:
    pairs = PAIRS.search(op.text)
    assert pairs is not None, op.text
    ids = re.findall(r"\d+", pairs[1])
    moving = sum(source != target for source, target in zip(ids[::2], ids[1::2], strict=True))
    return Fraction(moving, _devices(program))


def _devices(program: Program) -> int:
    """The devices of the largest mesh."""
    return max(prod(mesh.sizes.values()) for mesh in program.meshes.values())

"""Bytes of StableHLO's collectives, from the local types and the replica groups in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from tests.recomputation.communication import Mesh, RecomputedCollective
from tests.recomputation.executions import collectives
from tests.recomputation.memory import byte_size
from tests.recomputation.text_program import Operation, Program, Value

GROUPS = re.compile(r"replica_groups = dense<(.*?)> : tensor<(\d+)x(\d+)xi64>")
PAIRS = re.compile(r"source_target_pairs = dense<(.*?)> : tensor<(\d+)x2xi64>")
# How many times a device sends (n - 1) / n of its operands, or of its results, along the ring.
ROUNDS_IN = {"all_reduce": 2, "reduce_scatter": 1, "all_to_all": 1, "collective_broadcast": 1}
ROUNDS_OUT = {"all_gather": 1}


def recompute(program: Program) -> Iterator[RecomputedCollective]:
    """The figures of the StableHLO collectives of a program, in order."""
    for op in collectives(program):
        if op.name.startswith("stablehlo."):
            yield _collective(op, program)


def _collective(op: Operation, program: Program) -> RecomputedCollective:
    kind = op.name.removeprefix("stablehlo.")
    bytes_in, bytes_out = _sum(op.operands), _sum(op.results)
    if kind == "collective_permute":
        wire = bytes_in * _moving_share(op, program)
        axes = _varying_axes([pair for pair in _pairs(op) if pair[0] != pair[1]], _mesh(op, program))
        size = None if axes is None else prod(_mesh(op, program).sizes[name] for name in axes)
    else:
        n = size = _group_size(op, program)
        axes = _axes_of_groups(_device_groups(op, program), _mesh(op, program))
        wire = Fraction(n - 1, n) * (ROUNDS_IN.get(kind, 0) * bytes_in + ROUNDS_OUT.get(kind, 0) * bytes_out)
    return RecomputedCollective(kind, bytes_in, bytes_out, wire, op.results[0].name, axes, size)


def _sum(values: list[Value]) -> int:
    return sum(byte_size(value) for value in values)


def _group_size(op: Operation, program: Program) -> int:
    """The number of devices in the largest group; -1 is padding."""
    groups = GROUPS.search(op.text)
    assert groups is not None, op.text
    columns = int(groups[3])
    ids = _integers(groups[1])
    if len(ids) == 1:
        return columns
    if not ids:
        return _devices(program)
    rows = [ids[start : start + columns] for start in range(0, len(ids), columns)]
    return max(sum(number >= 0 for number in row) for row in rows)


def _moving_share(op: Operation, program: Program) -> Fraction:
    return Fraction(sum(source != target for source, target in _pairs(op)), _devices(program))


def _integers(text: str) -> list[int]:
    """The elements of a dense attribute; long lists are printed as the bytes of 64-bit integers."""
    if text.startswith('"0x'):
        data = bytes.fromhex(text.strip('"')[2:])
        return [int.from_bytes(data[at : at + 8], "little", signed=True) for at in range(0, len(data), 8)]
    return [int(number) for number in re.findall(r"-?\d+", text)]


def _pairs(op: Operation) -> list[list[int]]:
    pairs = PAIRS.search(op.text)
    assert pairs is not None, op.text
    ids = _integers(pairs[1])
    return [ids[start : start + 2] for start in range(0, len(ids), 2)]


def _device_groups(op: Operation, program: Program) -> list[list[int]]:
    """The devices of each group; a single number is a splat, and no number one group of all devices."""
    found = GROUPS.search(op.text)
    assert found is not None, op.text
    rows, columns = int(found[2]), int(found[3])
    ids = _integers(found[1])
    if not ids:
        return [list(range(_devices(program)))]
    ids = ids * (rows * columns) if len(ids) == 1 else ids
    groups = [ids[start : start + columns] for start in range(0, len(ids), columns)]
    return [[device for device in group if device >= 0] for group in groups]


def _axes_of_groups(groups: list[list[int]], mesh: Mesh) -> tuple[str, ...] | None:
    """The axes along which the groups are; None if some group does not have all devices along these axes."""
    if sorted(device for group in groups for device in group) != sorted(mesh.devices):
        return None
    axes = _varying_axes(groups, mesh)
    whole = axes is not None and all(
        len(group) == prod(mesh.sizes[name] for name in axes) for group in groups
    )
    return axes if whole else None


def _varying_axes(groups: list[list[int]], mesh: Mesh) -> tuple[str, ...] | None:
    """The axes along which devices of one group differ; None if some device is not in the mesh."""
    points = dict(zip(mesh.devices, product(*map(range, mesh.sizes.values())), strict=True))
    if any(device not in points for group in groups for device in group):
        return None
    return tuple(
        sorted(
            name
            for number, name in enumerate(mesh.sizes)
            if any(len({points[device][number] for device in group}) > 1 for group in groups)
        )
    )


def _mesh(op: Operation, program: Program) -> Mesh:
    """The mesh of the manual computation around an operation, else the largest of the program."""
    parent = op.parent
    while parent is not None:
        if parent.name == "sdy.manual_computation" and (mesh := program.mesh_of(parent.text)) and mesh.sizes:
            return mesh
        parent = parent.parent
    return max(program.meshes.values(), key=lambda mesh: prod(mesh.sizes.values()))


def _devices(program: Program) -> int:
    """The number of devices of the largest mesh."""
    return max(prod(mesh.sizes.values()) for mesh in program.meshes.values())

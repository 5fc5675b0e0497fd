"""Groups of devices, parsed from replica groups in HLO and from mesh axes in reports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

import numpy as np

# Each group is a set of devices that communicate with each other.
Groups = frozenset[frozenset[int]]

_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(r"mesh\[([^\]]*)\](?:, device_ids=\((\[[\d,]+\])(T\([\d,]+\))?\))? ?\{([^}]*)\}")
_AXIS = re.compile(r"""['"]([^'"]+)['"](?::\((\d+)\)(\d+))?""")
_SIZE = re.compile(r"""['"]([^'"]+)['"]=(\d+)""")
_LIST = re.compile(r"\{((?:\{[\d,]*\},?)*)\}")


def groups_of_hlo(text: str, devices: int) -> Groups:
    """The groups of `replica_groups=…`: as lists, as an iota with a transposition, or as axes of a mesh."""
    if (mesh := _MESH.match(text)) is not None:
        sizes = [int(size) for _, size in _SIZE.findall(mesh[1])]
        names = [name for name, _ in _SIZE.findall(mesh[1])]
        ids = _iota(_numbers(mesh[2]), mesh[3]) if mesh[2] else np.arange(prod(sizes))
        return _along(names, sizes, ids.reshape(-1).tolist(), _AXIS.findall(mesh[4]))
    if (iota := _IOTA.match(text)) is not None:
        shape = _numbers(iota[1])
        return _grouped(_iota(_numbers(iota[2]), iota[3]).reshape(shape).tolist())
    listed = _LIST.match(text)
    rows = [] if listed is None else [_numbers(row) for row in re.findall(r"\{([\d,]+)\}", listed[1])]
    return _grouped(rows or [list(range(devices))])


def groups_of_axes(axes: str, mesh: str) -> Groups:
    """The groups along `{"x", "y":(1)2}` in the mesh `<["x"=4, "y"=2], device_ids=[…]>`."""
    names = [name for name, _ in _SIZE.findall(mesh)]
    sizes = [int(size) for _, size in _SIZE.findall(mesh)]
    _, _, ids = mesh.partition("device_ids=")
    devices = _numbers(ids) if ids else list(range(prod(sizes)))
    return _along(names, sizes, devices, _AXIS.findall(axes))


def _along(
    names: list[str], sizes: list[int], devices: list[int], axes: Iterable[tuple[str, str, str]]
) -> Groups:
    """The groups of devices whose coordinates differ only along these axes and sub-axes."""
    coordinates: dict[tuple[int, ...], set[int]] = {}
    varying = [(name, int(pre or 1), int(size or 0)) for name, pre, size in axes]
    for position, device in enumerate(devices):
        point = dict(zip(names, np.unravel_index(position, sizes), strict=True))
        key = []
        for name, total in zip(names, sizes, strict=True):
            rest = int(point[name])
            for axis, pre, size in varying:
                if axis == name:
                    minor = total // (pre * (size or total))
                    rest -= int(point[name]) // minor % (size or total) * minor
            key.append(rest)
        coordinates.setdefault(tuple(key), set()).add(device)
    return frozenset(map(frozenset, coordinates.values()))


def _iota(sizes: list[int], transposition: str | None) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    found = np.arange(prod(sizes), dtype=np.int64).reshape(sizes)
    return found.transpose(_numbers(transposition)) if transposition else found


def _grouped(rows: list[list[int]]) -> Groups:
    return frozenset(frozenset(row) for row in rows)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]

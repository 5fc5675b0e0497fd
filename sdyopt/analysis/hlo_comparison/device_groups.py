"""Groups of devices that communicate with each other: those of HLO's replica groups, and those along axes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice, product
from math import prod

# Each group is a set of devices.
Groups = frozenset[frozenset[int]]

_IOTA = re.compile(r"\[([\d,]+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MESH = re.compile(
    r"mesh\[([^\]]*)\](?:, device_ids=\((?:(\[[\d,]+\])(T\([\d,]+\))?|([\d,]+))\))? ?\{([^}]*)\}"
)
_AXIS = re.compile(r"""['"]([^'"]+)['"](?::\((\d{1,18})\)(\d{1,18}))?""")
_SIZE = re.compile(r"""['"]([^'"]+)['"]=(\d{1,18})""")
_LIST = re.compile(r"\{((?:\{[\d,]*\},?)*)\}")
# Programs on more devices are not compared, because the lists of HLO text are as long as these.
MAX_DEVICES = 1 << 16
_MAX_PARTED, _MAX_CHOICES = 4, 1 << 14


@lru_cache(maxsize=1 << 12)
def groups_of_hlo(text: str, devices: int) -> Groups:
    """The groups of `replica_groups=…`: as lists, as an iota with a transposition, or as axes of a mesh."""
    if (mesh := _MESH.match(text)) is not None:
        names, sizes = _names_and_sizes(mesh[1])
        if mesh[4]:
            ids = _numbers(mesh[4])
        elif mesh[2]:
            ids = _transposed(_numbers(mesh[2]), mesh[3])
        else:
            ids = list(range(_bounded(prod(sizes))))
        return _along(names, sizes, ids, _AXIS.findall(mesh[5]))
    if (iota := _IOTA.match(text)) is not None:
        ids = _transposed(_numbers(iota[2]), iota[3])
        size = max(_numbers(iota[1])[-1:], default=0) or 1
        return _grouped([ids[start : start + size] for start in range(0, len(ids), size)])
    listed = _LIST.match(text)
    rows = [] if listed is None else [_numbers(row) for row in re.findall(r"\{([\d,]+)\}", listed[1])]
    return _grouped(rows or [list(range(_bounded(devices)))])


@lru_cache(maxsize=1 << 12)
def groups_of_axes(axes: str, mesh: str) -> Groups:
    """The groups along `{"x", "y":(1)2}` in the mesh `<["x"=4, "y"=2], device_ids=[…]>`."""
    names, sizes = _names_and_sizes(mesh)
    _, _, ids = mesh.partition("device_ids=")
    devices = _numbers(ids) if ids else list(range(_bounded(prod(sizes))))
    return _along(names, sizes, devices, _AXIS.findall(axes))


@lru_cache(maxsize=1 << 12)
def axes_of_groups(groups: Groups, mesh: str) -> str:
    """`{"x", "y"}`: the axes of a mesh along which groups are; "" if they are along none of its axes."""
    names, sizes = _names_and_sizes(mesh)
    size = max(map(len, groups), default=1)
    used = [name for name, count in zip(names, sizes, strict=True) if count > 1]
    by_name = dict(zip(names, sizes, strict=True))
    for count in range(1, len(used) + 1):
        for chosen in combinations(used, count):
            if prod(by_name[name] for name in chosen) == size:
                axes = "{" + ", ".join(f'"{name}"' for name in chosen) + "}"
                if groups_of_axes(axes, mesh) == groups:
                    return axes
    # Parts of axes, at most one of each axis.
    parts = [[(name, before, part) for before, part in _sub_axes(by_name[name])] for name in used]
    choices = product(*([None, *each] for each in parts)) if len(used) <= _MAX_PARTED else ()
    for choice in islice(choices, _MAX_CHOICES):
        listed = [each for each in choice if each is not None]
        if prod(part for *_, part in listed) == size:
            axes = "{" + ", ".join(_axis_text(*each, by_name) for each in listed) + "}"
            if groups_of_axes(axes, mesh) == groups:
                return axes
    return ""


def _sub_axes(size: int) -> Iterator[tuple[int, int]]:
    """The parts of an axis, as the product of the sizes before and the own size; the whole axis, too."""
    divisors = [each for each in range(1, min(size, MAX_DEVICES) + 1) if size % each == 0]
    return (
        (before, part) for before in divisors for part in divisors if part > 1 and size % (before * part) == 0
    )


def _axis_text(name: str, before: int, part: int, sizes: Mapping[str, int]) -> str:
    return f'"{name}"' if part == sizes[name] else f'"{name}":({before}){part}'


def _names_and_sizes(mesh: str) -> tuple[list[str], list[int]]:
    pairs = _SIZE.findall(mesh)
    return [name for name, _ in pairs], [int(size) or 1 for _, size in pairs]


def _bounded(count: int) -> int:
    if count > MAX_DEVICES:
        raise OverflowError(f"{count} devices are more than the {MAX_DEVICES} that are compared")
    return count


def _along(
    names: Sequence[str], sizes: Sequence[int], devices: Sequence[int], axes: Iterable[tuple[str, str, str]]
) -> Groups:
    """The groups of devices whose coordinates differ only along these axes and sub-axes."""
    groups: dict[tuple[int, ...], set[int]] = {}
    varying: dict[str, list[tuple[int, int]]] = {}
    for axis, before, part in axes:
        varying.setdefault(axis, []).append((int(before or 1) or 1, int(part or 0)))
    for position, device in enumerate(devices):
        rest, key = position, []
        for name, total in zip(reversed(names), reversed(sizes), strict=True):
            rest, coordinate = divmod(rest, total)
            fixed = coordinate
            for pre, length in varying.get(name, ()):
                size = length or total
                minor = max(total // (pre * size), 1)
                fixed -= coordinate // minor % size * minor
            key.append(fixed)
        groups.setdefault(tuple(key), set()).add(device)
    return frozenset(map(frozenset, groups.values()))


def _transposed(sizes: Sequence[int], permutation: str | None) -> list[int]:
    """The numbers 0, 1, … in an array of these sizes, in the order of its transposition, if that is one."""
    count = _bounded(prod(sizes))
    order = _numbers(permutation or "")
    if sorted(order) != list(range(len(sizes))):
        return list(range(count))
    strides = [prod(sizes[number + 1 :]) for number in range(len(sizes))]
    found = [0]
    for dim in order:
        found = [start + index * strides[dim] for start in found for index in range(sizes[dim])]
    return found


def _grouped(rows: Iterable[Sequence[int]]) -> Groups:
    return frozenset(frozenset(row) for row in rows)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,18}", text)]

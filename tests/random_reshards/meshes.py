"""The meshes of a reshard's source and target: one mesh, or two that differ.

Two meshes differ in the order of devices, in the name alone, in the axes, or one of them has no axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random

from tests.random_modules.meshes import Mesh, mesh_text

AXIS_NAMES = ("x", "y", "z", "w", "a", "b")
AXIS_SIZES = (1, 2, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16)
MOST_AXES = 4
# Meshes of more devices have the default order.
MOST_SHUFFLED = 128


def pair_of_meshes(random: Random, name: str) -> tuple[Mesh, Mesh]:
    """The meshes of source and target, in most cases one mesh."""
    axes = _random_axes(random)
    first = _mesh(name, axes, _devices(random, axes) if random.random() < 0.15 else ())
    drawn = random.random()
    if drawn < 0.75:
        return first, first
    other = f"{name}_other"
    if drawn < 0.90:
        devices = _devices(random, axes)
        return first, _mesh(other, axes, devices) if devices else first
    if drawn < 0.93:
        return first, Mesh(axes, f"@{other}", first.definition.replace(f"@{name} ", f"@{other} "))
    if drawn < 0.97:
        axes = _random_axes(random)
        return first, _mesh(other, axes, ())
    second = _mesh(other, (), (random.randrange(8),)) if random.random() < 0.7 else _mesh(other, (), ())
    return (first, second) if random.random() < 0.5 else (second, first)


def _mesh(name: str, axes: tuple[tuple[str, int], ...], devices: Sequence[int]) -> Mesh:
    return Mesh(axes, f"@{name}", f"sdy.mesh @{name} = {mesh_text(axes, devices)}")


def is_maximal(mesh: Mesh) -> bool:
    """Whether the mesh is maximal: it has a single device, and shardings on it have no dimensions."""
    return not mesh.axes and "device_ids" in mesh.definition


def _random_axes(random: Random) -> tuple[tuple[str, int], ...]:
    names = random.sample(AXIS_NAMES, random.randint(1, MOST_AXES))
    return tuple((name, random.choice(AXIS_SIZES)) for name in names)


def _devices(random: Random, axes: Sequence[tuple[str, int]]) -> list[int]:
    """Device ids in random order; none for a large mesh, which then has the default order."""
    count = prod(size for _, size in axes)
    if count > MOST_SHUFFLED:
        return []
    return random.sample(range(count), count)

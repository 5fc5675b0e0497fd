"""The share of devices whose shard a permute changes: by arithmetic, and device by device."""

import random
from itertools import product
from math import prod

import pytest

from sdyopt.analysis.figures.local_shapes import LocalShapes
from sdyopt.analysis.figures.mesh_layout import kept_count, moved_share
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from tests.unit.report.programs import module

# (axis, pre-size, size)
Part = tuple[str, int, int]
Dims = list[list[Part]]


def shardings(axes: str, *dims: str) -> tuple[Mesh, list[TensorSharding]]:
    """The shardings of two dimensions of the arguments of a function."""
    arguments = ", ".join(
        f"%{number}: tensor<4x4xf32> {{sdy.sharding = #sdy.sharding<@mesh, {text}>}}"
        for number, text in enumerate(dims)
    )
    root = module(f"sdy.mesh @mesh = <[{axes}]>\nfunc.func @main({arguments}) {{\n  return\n}}")
    shapes = LocalShapes(root)
    (function,) = [op for op in root.walk() if isinstance(op, FuncOp)]
    found = [sharding for each in function.entry.arguments if (sharding := shapes.sharding(each))]
    mesh = shapes.mesh(found[0].mesh_or_ref)
    assert mesh is not None
    return mesh, found


@pytest.mark.parametrize(
    ("axes", "before", "after", "kept"),
    [
        # The diagonal: devices with equal coordinates.
        ('"x"=4, "y"=4', '[{"x"}, {}]', '[{"y"}, {}]', 4),
        ('"x"=4, "y"=4', '[{"x"}, {"y"}]', '[{"y"}, {"x"}]', 4),
        ('"x"=4, "y"=4', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]', 4),
        ('"x"=4, "y"=4, "z"=2', '[{"x"}, {}]', '[{"x"}, {}]', 32),
        # The halves of x swap devices: its first and last device stay.
        ('"x"=4', '[{"x"}, {}]', '[{"x":(2)2, "x":(1)2}, {}]', 2),
        # The digits of 8 line up as 2, 2 and 2.
        ('"x"=4, "y"=2', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]', 2),
        # All three coordinates are equal.
        ('"x"=2, "y"=2, "z"=2', '[{"x"}, {"y"}]', '[{"y"}, {"z"}]', 2),
    ],
)
def test_devices_that_keep_their_shard(axes: str, before: str, after: str, kept: int) -> None:
    mesh, (first, second) = shardings(axes, before, after)
    assert kept_count(first, second, mesh) == kept


def test_devices_are_compared_if_digits_do_not_line_up() -> None:
    """6 as 2 · 3 and as 3 · 2: devices are compared one by one."""
    mesh, (first, second) = shardings('"x"=2, "y"=3', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]')
    assert kept_count(first, second, mesh) is None
    assert moved_share(first, mesh, second, mesh) == (4, 6)


def test_devices_of_a_large_mesh_are_not_compared() -> None:
    mesh, (first, second) = shardings('"x"=20000, "y"=3', '[{"x", "y"}, {}]', '[{"y", "x"}, {}]')
    assert moved_share(first, mesh, second, mesh) is None


def test_devices_of_two_meshes_are_compared_by_their_ids() -> None:
    mesh, (sharding,) = shardings('"x"=2, "y"=2', '[{"x"}, {}]')
    other = Mesh(mesh.axes, (3, 1, 2, 0))
    assert moved_share(sharding, mesh, sharding, other) == (2, 4)


def test_a_large_mesh_is_counted_by_arithmetic() -> None:
    mesh, (first, second) = shardings('"x"=65536, "y"=65536', '[{"x"}, {"y"}]', '[{"y"}, {"x"}]')
    assert moved_share(first, mesh, second, mesh) == (2**32 - 2**16, 2**32)


@pytest.mark.parametrize("seed", range(60))
def test_arithmetic_and_devices_agree_on_random_shardings(seed: int) -> None:
    randomly = random.Random(seed)
    sizes = {f"a{number}": randomly.choice([2, 3, 4, 6, 8, 12]) for number in range(randomly.randint(1, 3))}
    before, after = random_dims(sizes, randomly), random_dims(sizes, randomly)
    while [prod(size for *_, size in dim) for dim in before] != [
        prod(size for *_, size in dim) for dim in after
    ]:
        before, after = random_dims(sizes, randomly), random_dims(sizes, randomly)
    axes = ", ".join(f'"{name}"={size}' for name, size in sizes.items())
    mesh, (first, second) = shardings(axes, text(before, sizes), text(after, sizes))
    points = [dict(zip(sizes, point, strict=True)) for point in product(*map(range, sizes.values()))]
    kept = sum(shards(before, point, sizes) == shards(after, point, sizes) for point in points)
    assert kept_count(first, second, mesh) in (kept, None)
    assert moved_share(first, mesh, second, mesh) == (len(points) - kept, len(points))


def random_dims(sizes: dict[str, int], randomly: random.Random) -> Dims:
    """The axes of two dimensions: those of the mesh, split at random; some shard neither dimension."""
    parts: list[Part] = []
    for name, total in sizes.items():
        pre = 1
        while pre < total:
            rest = total // pre
            size = randomly.choice([d for d in range(2, rest + 1) if rest % d == 0])
            parts.append((name, pre, size))
            pre *= size
    randomly.shuffle(parts)
    dims: Dims = [[], [], []]
    for part in parts:
        dims[randomly.choice([0, 0, 1, 1, 2])].append(part)
    return dims[:2]


def text(dims: Dims, sizes: dict[str, int]) -> str:
    def axis(part: Part) -> str:
        name, pre, size = part
        return f'"{name}"' if size == sizes[name] else f'"{name}":({pre}){size}'

    return "[" + ", ".join("{" + ", ".join(map(axis, dim)) + "}" for dim in dims) + "]"


def shards(dims: Dims, point: dict[str, int], sizes: dict[str, int]) -> list[int]:
    found = []
    for dim in dims:
        index = 0
        for name, pre, size in dim:
            index = index * size + point[name] // (sizes[name] // (pre * size)) % size
        found.append(index)
    return found

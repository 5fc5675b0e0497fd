"""Shardings are the same if they have the same axes, or if each device has the same slice."""

from __future__ import annotations

import pytest

from sdyopt.analysis.comparison.value_sharding import (
    ValueSharding,
    dimensions_text,
    local_bytes,
    same_annotation,
    same_placement,
)
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_sdy


def mesh(text: str) -> Mesh:
    return parse_mesh(Source("mesh", text))


def sdy(text: str, mesh_text: str = "x=4,y=2") -> ValueSharding:
    """`@mesh, [{"x"}]` on a mesh."""
    return ValueSharding(parse_sdy(Source("sharding", f"<{text}>")), mesh(mesh_text))


def gspmd(text: str) -> ValueSharding:
    return ValueSharding(gspmd=text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (sdy('@mesh, [{"x"}, {}]'), sdy('@mesh, [{"x"}, {?}p1], replicated={"y"}')),
        # The names of meshes and axes do not matter if devices have the same slices.
        (sdy('@mesh, [{"x"}]'), sdy('@other, [{"x"}]')),
        (sdy('@mesh, [{"x"}]'), sdy('@mesh, [{"data"}]', "data=4,model=2")),
        (sdy('@mesh, [{"x"}]'), sdy('@mesh, [{"z":(1)4}]', "z=8")),
        # The same axes of a mesh that has grown.
        (sdy('@mesh, [{"x"}]'), sdy('@mesh, [{"x"}]', "x=8,y=2")),
        (sdy('@mesh, [{"x"}, {}]'), gspmd("{devices=[4,1,2]<=[8] last_tile_dim_replicate}")),
        (sdy('@mesh, [{}, {"y"}]'), gspmd("{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}")),
        (sdy('@mesh, [{}, {"y"}]'), gspmd("{devices=[1,2,4]0,2,4,6,1,3,5,7 last_tile_dim_replicate}")),
        (sdy("@mesh, [{}, {}]"), gspmd("{replicated}")),
        (sdy("@mesh, [{}, {?}]"), None),
        (None, gspmd("{replicated}")),
    ],
)
def test_same_placement(before: ValueSharding | None, after: ValueSharding | None) -> None:
    assert same_placement(before, after)
    assert same_placement(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (sdy('@mesh, [{"x"}, {}]'), sdy('@mesh, [{}, {"x"}]')),
        (sdy('@mesh, [{"x"}]'), sdy('@mesh, [{"y"}]')),
        (sdy('@mesh, [{"x"}]'), None),
        (sdy("@mesh, [{}]"), sdy('@mesh, [{}], unreduced={"x"}')),
        # The same name of an axis, but of another mesh with other slices.
        (sdy('@mesh, [{"x"}]'), sdy('@other, [{"x"}]', "y=2,x=4")),
        (sdy('@mesh, [{"x"}]'), gspmd("{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}")),
        (sdy('@mesh, [{"x"}]'), gspmd("{unknown}")),
        (gspmd("{maximal device=0}"), gspmd("{maximal device=1}")),
        # Nothing is known about malformed text.
        (gspmd("{devices=oops}"), None),
    ],
)
def test_other_placement(before: ValueSharding | None, after: ValueSharding | None) -> None:
    assert not same_placement(before, after)
    assert not same_placement(after, before)


def test_annotations_differ_in_open_dimensions_and_priorities() -> None:
    closed, open_, late = (sdy(f'@mesh, [{{"x"{end}]') for end in ("}", ", ?}", "}p1"))
    assert same_annotation(closed, sdy('@mesh, [{"x"}p0]'))
    assert not same_annotation(closed, open_)
    assert not same_annotation(closed, late)
    assert not same_annotation(sdy("@mesh, [{}]"), None)
    assert same_annotation(None, None)


def test_text_without_the_mesh() -> None:
    assert dimensions_text(sdy('@mesh, [{"x", ?}p2, {}], unreduced={"y"}')) == (
        '[{"x", ?}p2, {}], unreduced={"y"}'
    )
    assert dimensions_text(None) == "none"
    # A sharding of GSPMD has no axes of its own.
    tiled = gspmd("{devices=[4,1,2]<=[8] last_tile_dim_replicate}")
    assert dimensions_text(tiled, mesh("x=4,y=2")) == '[{"x"}, {}]'
    assert dimensions_text(tiled, mesh("x=3")) == tiled.gspmd
    assert dimensions_text(tiled) == tiled.gspmd


def test_bytes_of_one_device() -> None:
    """Shards are rounded up: 10 rows in 4 shards are 3 rows each."""
    matrix = RankedTensor((10, 2), F32)
    assert local_bytes(matrix, sdy('@mesh, [{"x"}, {}]')) == 3 * 2 * 4
    assert local_bytes(matrix, gspmd("{devices=[4,2]<=[8]}")) == 3 * 1 * 4
    assert local_bytes(matrix, None) == local_bytes(matrix, gspmd("{unknown}")) == 80

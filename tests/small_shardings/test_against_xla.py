"""All shardings on small meshes: their GSPMD text, and the devices of their shards, are those of XLA.

Without XLA, the shardings in `golden.txt` are compared with the text there, which XLA wrote.
"""

from collections.abc import Sequence

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text
from sdyopt.shardy.notation.device_tiling import DeviceTiling
from sdyopt.shardy.notation.gspmd import gspmd_text, parse_gspmd
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_sdy
from sdyopt.shardy.notation.sharding_on_mesh import ShardingOnMesh, sharding_on, tiling_of
from tests.small_shardings.cases import RANKS, all_meshes, all_shardings
from tests.small_shardings.golden import GOLDEN, groups
from tests.small_shardings.xla import gspmd_texts, tiles_and_devices


def check(mesh: Mesh, sharding: TensorSharding, expected: str) -> None:
    """Checks that a sharding has the expected GSPMD text, and that the text is parsed to this sharding."""
    assert gspmd_text(tiling_of(ShardingOnMesh(sharding, mesh))) == expected
    parsed = parse_gspmd(Source("text", expected))
    assert gspmd_text(parsed) == expected
    assert sharding_on(parsed, mesh, sharding.mesh_or_ref, sharding.rank).sharding is sharding


def check_devices(tiling: DeviceTiling, tiles: Sequence[int], devices: Sequence[int]) -> None:
    """Checks the number of tiles, the devices of each shard, and the shard of each device."""
    assert list(tiling.tiles) == tiles
    size = len(devices) // tiling.shard_count
    for shard in range(tiling.shard_count):
        expected = devices[shard * size : (shard + 1) * size]
        assert sorted(tiling.devices_of(shard)) == sorted(expected)
        assert {tiling.shard_of(device) for device in expected} == {shard}


@pytest.mark.reference
@pytest.mark.parametrize("mesh", list(all_meshes()), ids=lambda mesh: Mesh.assembly.text(mesh))
def test_shardings_are_those_of_xla(mesh: Mesh) -> None:
    compared = set()
    for rank in RANKS:
        shardings = list(all_shardings(mesh, rank))
        for sharding, text in zip(shardings, gspmd_texts(mesh, shardings), strict=True):
            check(mesh, sharding, text)
            if text.startswith("{devices") and text not in compared:
                compared.add(text)
                tiling = tiling_of(ShardingOnMesh(sharding, mesh))
                assert isinstance(tiling, DeviceTiling)
                check_devices(tiling, *tiles_and_devices(text))


@pytest.mark.parametrize(("mesh", "cases"), groups(GOLDEN.read_text(encoding="utf-8")))
def test_shardings_are_those_that_xla_wrote(mesh: str, cases: list[tuple[str, str]]) -> None:
    parsed_mesh = parse_mesh(Source("mesh", mesh))
    for sharding, text in cases:
        check(parsed_mesh, parse_sdy(Source("sharding", sharding)), text)


def test_golden_shardings_have_all_forms_of_text() -> None:
    text = GOLDEN.read_text(encoding="utf-8")
    for part in (
        "_tile_dim_replicate",
        "{unreduced, replicated}",
        "={unreduced}",
        " {replicated}",
        "T(2,1,0)",
    ):
        assert part in text
    line = parse_mesh(Source("mesh", "x=4"))
    assert all(sharding_text(sharding) in text for rank in RANKS for sharding in all_shardings(line, rank))

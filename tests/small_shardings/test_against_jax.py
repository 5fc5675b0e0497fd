"""PartitionSpecs: the slices of each device, and their text in GSPMD, are those of JAX."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.shardy.notation.device_tiling import slice_of
from sdyopt.shardy.notation.gspmd import gspmd_text
from sdyopt.shardy.notation.reading import MeshAndShape, read_sharding

ROOT = Path(__file__).parents[2]
SIZE = 48


@pytest.mark.reference
def test_slices_and_gspmd_texts_are_those_of_jax() -> None:
    devices = {"XLA_FLAGS": "--xla_force_host_platform_device_count=24", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.small_shardings.jax_specs"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | devices, capture_output=True, check=True)
    cases = json.loads(done.stdout)
    assert len(cases) > 200
    for axes, rank, spec, hlo, slices in cases:
        mesh = Mesh(tuple(MeshAxis(name, size) for name, size in axes))
        view = read_sharding(Source("text", spec), MeshAndShape(mesh, (SIZE,) * rank))
        tiling = view.device_tiling
        assert tiling is not None
        assert gspmd_text(view.tiling) == hlo
        for device, expected in slices.items():
            shard = tiling.shard_of(int(device))
            assert shard is not None
            parts = zip(tiling.tiles, tiling.tile_of(shard), strict=True)
            assert [list(slice_of(SIZE, tiles, index)) for tiles, index in parts] == expected, spec

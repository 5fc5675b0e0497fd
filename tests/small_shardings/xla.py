"""XLA's representation of shardings: the GSPMD text, and the devices of each tile. Needs jaxlib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text

_PARAMETER = re.compile(r"parameter\((\d+)\), sharding=(\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\})")
# The number of arguments of a function.
CHUNK = 1000


def gspmd_texts(mesh: Mesh, shardings: Sequence[TensorSharding]) -> Iterator[str]:
    """The GSPMD text that XLA exports for each sharding, as that of a 64x64x… tensor."""
    for start in range(0, len(shardings), CHUNK):
        yield from _exported(mesh, shardings[start : start + CHUNK])


def _exported(mesh: Mesh, shardings: Sequence[TensorSharding]) -> list[str]:
    from jaxlib import _jax  # noqa: PLC0415  # only with the extra `reference`

    arguments = ", ".join([_argument(index, sharding) for index, sharding in enumerate(shardings)])
    mesh_op = f"sdy.mesh @mesh = {Mesh.assembly.text(mesh)}"
    module = f"module @m {{\n{mesh_op}\nfunc.func @main({arguments}) {{ return }}\n}}"
    computation = _jax.mlir.mlir_module_to_xla_computation(module, use_tuple_args=False, return_tuple=False)
    found = {int(match[1]): match[2] for match in _PARAMETER.finditer(computation.as_hlo_text())}
    return [found[index] for index in range(len(shardings))]


def _argument(index: int, sharding: TensorSharding) -> str:
    type = f"tensor<{'64x' * sharding.rank}f32>"
    return f"%a{index}: {type} {{sdy.sharding = #sdy.sharding{sharding_text(sharding)}}}"


def tiles_and_devices(text: str) -> tuple[list[int], list[int]]:
    """The number of tiles of each dimension, and the devices in the order of the tiles, of a GSPMD text."""
    from jaxlib import xla_client  # noqa: PLC0415  # only with the extra `reference`

    sharding = xla_client.HloSharding.from_string(text)
    dims = list(sharding.tile_assignment_dimensions())
    last_dims = len(sharding.subgroup_types()) or int(sharding.replicate_on_last_tile_dim())
    return dims[: len(dims) - last_dims], list(sharding.tile_assignment_devices())

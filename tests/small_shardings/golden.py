"""Writes and reads `golden.txt`: shardings of the sdy dialect, and the text that XLA exports for each.

    <["x"=2, "y"=3]>
    <@mesh, [{"y"}, {}]> {devices=[3,1,2]<=[2,3]T(1,0) last_tile_dim_replicate}

The file has all shardings on meshes of up to 6 devices, and every 151st one on the others. To write it, which
needs jaxlib:

    python -m tests.small_shardings.golden > tests/small_shardings/golden.txt
"""

from __future__ import annotations

from pathlib import Path

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import sharding_text
from tests.small_shardings.cases import RANKS, all_meshes, all_shardings
from tests.small_shardings.xla import gspmd_texts

GOLDEN = Path(__file__).with_name("golden.txt")
FEW, STEP = 6, 151


def groups(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The meshes, each with its shardings and their texts."""
    result: list[tuple[str, list[tuple[str, str]]]] = []
    for line in text.splitlines():
        sharding, separator, expected = line.partition("> {")
        if separator:
            result[-1][1].append((f"{sharding}>", f"{{{expected}"))
        else:
            result.append((line, []))
    return result


def main() -> None:
    for mesh in all_meshes():
        print(Mesh.assembly.text(mesh))
        step = 1 if mesh.total_size <= FEW else STEP
        shardings = [sharding for rank in RANKS for sharding in all_shardings(mesh, rank)][::step]
        for sharding, text in zip(shardings, gspmd_texts(mesh, shardings), strict=True):
            print(sharding_text(sharding), text)


if __name__ == "__main__":
    main()

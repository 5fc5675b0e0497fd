"""Shardings as HLO has them, as text, and folders that XLA dumps to."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdyopt
from passes.xla.support.hlo_shardings import hlo_text, leaves, tuple_text
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.ir.attribute import SymbolRef

MESH = Mesh((MeshAxis("x", 2), MeshAxis("y", 4)))
X, Y = AxisRef("x"), AxisRef("y")
PROGRAM = 'func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) { return }'


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        ("{devices=[2]<=[2]}", ["{devices=[2]<=[2]}"]),
        ("{mesh['x'=2], [{'x'}, {}]}", ["{mesh['x'=2], [{'x'}, {}]}"]),
        ("{{replicated}}", ["{replicated}"]),
        (
            "{{mesh['x'=2], [{'x'}, {}]}, /*index=5*/{devices=[1,2]0,1}}",
            ["{mesh['x'=2], [{'x'}, {}]}", "{devices=[1,2]0,1}"],
        ),
    ],
)
def test_a_tuple_has_a_sharding_for_each_element(text: str, elements: list[str]) -> None:
    assert leaves(text) == elements


def test_every_fifth_element_of_a_tuple_is_numbered() -> None:
    texts = ["{replicated}"] * 6
    assert tuple_text(texts).count("/*index=5*/") == 1
    assert leaves(tuple_text(texts)) == texts


@pytest.mark.parametrize(
    ("dims", "unreduced", "manual", "by_axes", "by_devices"),
    [
        (
            [(X,), ()],
            (),
            (),
            "{mesh['x'=2,'y'=4], [{'x'}, {}]}",
            "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
        ),
        ([(), ()], (), (), "{mesh[], replicated}", "{replicated}"),
        ([(), ()], (), ("x", "y"), "{mesh['x'=2,'y'=4], manual}", "{manual}"),
        (
            [(Y,), ()],
            (),
            ("x",),
            "{mesh['x'=2,'y'=4], [{'y'}, {}], manual={'x'}}",
            "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={manual}}",
        ),
        (
            [(AxisRef("y", SubAxis(1, 2)), X), ()],
            (),
            (),
            "{mesh['x'=2,'y'=4], [{'y':(1)2, 'x'}, {}]}",
            "{devices=[4,1,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
        ),
        (
            [(), ()],
            (X, Y),
            (),
            "{mesh['x'=2,'y'=4], [{}, {}], unreduced={'x', 'y'}}",
            '{unreduced metadata={op_type="sdy::reduction_op" op_name="SUM"}}',
        ),
    ],
)
def test_shardings_are_exported_by_axes_or_by_devices(
    dims: list[tuple[AxisRef, ...]],
    unreduced: tuple[AxisRef, ...],
    manual: tuple[str, ...],
    by_axes: str,
    by_devices: str,
) -> None:
    sharding = TensorSharding(SymbolRef("mesh"), tuple(map(DimensionSharding, dims)), (), unreduced)
    assert hlo_text(sharding, MESH, manual, by_axes=True) == by_axes
    assert hlo_text(sharding, MESH, manual, by_axes=False) == by_devices


def test_a_path_may_name_a_program_in_a_folder_of_dumps(tmp_path: Path) -> None:
    for name in ("module_0001.jit_f", "module_0002.jit_g"):
        folder = tmp_path / "shardy" / name
        folder.mkdir(parents=True)
        (folder / "00.input_module.mlir").write_text(PROGRAM)
    module = sdyopt.parse(Path(f"{tmp_path}:jit_g"))
    assert module.run("sdy-import-hlo-shardings").report().devices == 2
    with pytest.raises(FileNotFoundError, match="has 2 programs; choose one: "):
        sdyopt.parse(tmp_path)
    with pytest.raises(FileNotFoundError, match="has no program 'jit_h'"):
        sdyopt.parse(Path(f"{tmp_path}:jit_h"))

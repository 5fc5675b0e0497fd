"""Random shardings: the slice of each device, and the same sharding through each notation."""

from collections.abc import Sequence
from math import prod

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.axes import AxisRef, SubAxis, sorted_and_merged
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding, sharding_text
from sdyopt.mlir.dialects.sdy.sharding_checks import sharding_problem
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.shardy.notation.device_tiling import DeviceTiling, Sharing, Uniform, slice_of
from sdyopt.shardy.notation.gspmd import (
    UniformOnMesh,
    gspmd_text,
    named_sharding_text,
    parse_gspmd,
    parse_named_sharding,
)
from sdyopt.shardy.notation.mesh_text import parse_sdy
from sdyopt.shardy.notation.partition_spec import parse_partition_spec, partition_spec_text
from sdyopt.shardy.notation.reading import as_iota, mesh_dialect_text, parse_mesh_dialect
from sdyopt.shardy.notation.sharding_on_mesh import (
    ShardingOnMesh,
    sharding_on,
    sharding_on_new_mesh,
    tiling_of,
)

MESH = SymbolRef("mesh")


@st.composite
def meshes(draw: st.DrawFn) -> Mesh:
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=4))
    assume(prod(sizes) <= 256)
    axes = [MeshAxis(name, size) for name, size in zip("xyzw", sizes, strict=False)]
    ids = draw(st.one_of(st.just(()), st.permutations(range(prod(sizes)))))
    return mesh(axes, ids)


@st.composite
def shardings(draw: st.DrawFn, with_sub_axes: bool = True) -> ShardingOnMesh:
    """A valid sharding of rank 0 to 4. Axes of size 4, 6 or 8 may be split into two sub-axes."""
    on = draw(meshes())
    axis_refs: list[AxisRef] = []
    for axis in on.axes:
        major = draw(st.sampled_from([1, 2, 3, 4])) if with_sub_axes else 1
        if 1 < major < axis.size and axis.size % major == 0:
            axis_refs += [
                AxisRef(axis.name, SubAxis(1, major)),
                AxisRef(axis.name, SubAxis(major, axis.size // major)),
            ]
        else:
            axis_refs.append(AxisRef(axis.name))
    rank = draw(st.integers(0, 4))
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    unreduced = []
    for axis_ref in draw(st.permutations(axis_refs)):
        to = draw(st.integers(-2, rank - 1))
        if to >= 0:
            dims[to].append(axis_ref)
        elif to == -1:
            unreduced.append(axis_ref)
    sharding = TensorSharding(
        MESH, tuple(DimensionSharding(tuple(axes)) for axes in dims), (), sorted_and_merged(unreduced, on)
    )
    assume(sharding_problem(sharding, RankedTensor((8,) * rank, F32), on) is None)
    return ShardingOnMesh(sharding, on)


def coordinate(axis: AxisRef, position: int, on: Mesh) -> int:
    """The coordinate of the device at a position along an axis or sub-axis, by its definition."""
    names = [each.name for each in on.axes]
    coordinates = dict.fromkeys(names, 0)
    for each in reversed(on.axes):
        position, coordinates[each.name] = divmod(position, each.size)
    size = on.axis_size(axis.name)
    minor = size // (axis.pre_size * axis.size(on))
    return coordinates[axis.name] // minor % axis.size(on)


def shard_along(axes: Sequence[AxisRef], position: int, on: Mesh) -> int:
    shard = 0
    for axis in axes:
        shard = shard * axis.size(on) + coordinate(axis, position, on)
    return shard


@given(shardings())
@settings(max_examples=300)
def test_each_device_has_the_slice_of_its_coordinates(on_mesh: ShardingOnMesh) -> None:
    tiling = tiling_of(on_mesh)
    assert isinstance(tiling, DeviceTiling)
    sharding, on = on_mesh.sharding, on_mesh.mesh
    for position, device in enumerate(on.device_ids or range(on.total_size)):
        shard = tiling.shard_of(device)
        assert shard is not None
        expected = tuple(shard_along(dim.axes, position, on) for dim in sharding.dims)
        assert tiling.tile_of(shard) == expected
        assert device in list(tiling.devices_of(shard))


@given(shardings())
@settings(max_examples=300)
def test_gspmd_has_the_same_devices(on_mesh: ShardingOnMesh) -> None:
    tiling = tiling_of(on_mesh)
    assert isinstance(tiling, DeviceTiling)
    parsed = parse_gspmd(Source("text", gspmd_text(tiling)))
    if isinstance(parsed, Uniform):
        assert tiling.shard_count == 1
        return
    assert isinstance(parsed, DeviceTiling)
    for shard in range(tiling.shard_count):
        assert sorted(parsed.devices_of(shard)) == sorted(tiling.devices_of(shard))


@given(shardings())
@settings(max_examples=300)
def test_the_gspmd_text_stays_the_same_by_way_of_sdy(on_mesh: ShardingOnMesh) -> None:
    """On the mesh of the sharding, and on a new one, the tiling stays the same."""
    text = gspmd_text(tiling_of(on_mesh))
    parsed = parse_gspmd(Source("text", text))
    rank = on_mesh.sharding.rank
    found = [sharding_on(parsed, on_mesh.mesh, MESH, rank)]
    if isinstance(parsed, DeviceTiling) or parsed == Uniform(Sharing.REPLICATED):
        found.append(sharding_on_new_mesh(parsed, rank))
    for other in found:
        tiling = tiling_of(other)
        if isinstance(tiling, DeviceTiling) and (iota := as_iota(tiling)) is not None:
            tiling = iota
        if isinstance(parsed, DeviceTiling):
            parsed = as_iota(parsed) or parsed
        assert gspmd_text(tiling) == gspmd_text(parsed)


@given(shardings())
def test_the_sdy_text_parses_to_the_same_sharding(on_mesh: ShardingOnMesh) -> None:
    assert parse_sdy(Source("text", sharding_text(on_mesh.sharding))) is on_mesh.sharding


@given(shardings())
def test_the_text_of_hlo_parses_to_the_same_sharding(on_mesh: ShardingOnMesh) -> None:
    parsed = parse_named_sharding(Source("text", named_sharding_text(on_mesh)), MESH)
    if isinstance(parsed, UniformOnMesh):
        parsed = parsed.of_rank(0, MESH)
    assert isinstance(parsed, ShardingOnMesh)
    assert parsed.mesh is on_mesh.mesh
    assert tiling_of(parsed) == tiling_of(on_mesh)
    if on_mesh.sharding.rank:
        assert parsed.sharding is on_mesh.sharding


@given(shardings(with_sub_axes=False))
def test_the_partition_spec_parses_to_the_same_sharding(on_mesh: ShardingOnMesh) -> None:
    text = partition_spec_text(on_mesh)
    assert parse_partition_spec(Source("text", text), on_mesh.mesh, MESH, None) is on_mesh.sharding


@given(shardings(with_sub_axes=False), st.sampled_from([19, 21]))
def test_the_text_of_the_mesh_dialect_parses_to_the_same_sharding(
    on_mesh: ShardingOnMesh, version: int
) -> None:
    on_mesh = ShardingOnMesh(on_mesh.sharding, Mesh(on_mesh.mesh.axes))
    text = mesh_dialect_text(on_mesh, version)
    parsed = parse_mesh_dialect(Source("text", text), on_mesh.mesh, MESH, on_mesh.sharding.rank)
    assert parsed is on_mesh.sharding


@given(st.integers(0, 1 << 62), st.integers(1, 1 << 20))
def test_slices_cover_a_dimension(size: int, tiles: int) -> None:
    first, last = slice_of(size, tiles, 0), slice_of(size, tiles, tiles - 1)
    assert (first.start, last.stop) == (0, size)
    middle = tiles // 2
    if middle:
        assert slice_of(size, tiles, middle - 1).stop == slice_of(size, tiles, middle).start

"""Errors in the text of a sharding, mesh or shape: what is underlined, and the help."""

import pytest

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import FileRange, Source, resolve_file_location
from sdyopt.shardy.notation.mesh_text import parse_mesh, parse_shape
from sdyopt.shardy.notation.reading import MeshAndShape, read_sharding

MESH = parse_mesh(Source("mesh", "x=4, y=6"))


def underlined(text: str, error: DiagnosticError) -> str:
    location = resolve_file_location(error.diagnostic.location)
    assert location is not None
    end = location.end_column if isinstance(location, FileRange) else location.column
    return text[location.column - 1 : end - 1]


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("[0, 1]", "[0, 1]", "unknown notation of a sharding"),
        ("", "", "unknown notation of a sharding"),
        # sdy
        ('<@mesh, [{"x"}, {"q"}]>', '"q"', 'unknown axis name: "q"'),
        ('<@mesh, [{"x"}, {"x"}]>', '"x"', 'duplicate axis ref: "x"'),
        ('<@mesh, [{"y":(1)4}, {}]>', '"y":(1)4', "sub-axis next pre-size 4 doesn't divide"),
        ('<@mesh, [{"x"}]>', '<@mesh, [{"x"}]>', "sharding doesn't match tensor rank: 1 != 2"),
        ('<@mesh, [{"x"}, {}]> 1', "1", "unexpected text"),
        ('<@mesh, [{"y":(1)2}, {"y":(3)2}]>', '"y":(3)2', "no sub-axes make up both"),
        # GSPMD
        ("{devices=[2,2]0,1,1,3}", "1", "device 1 is listed twice"),
        ("{devices=[2,2]0,1,2}", "0,1,2", "3 devices are listed, but the tiles have 4"),
        ("{devices=[2,2]<=[5]}", "[5]", "[5] has 5 devices, but the tiles have 4"),
        ("{devices=[2,2]<=[2,2]}", "}", "expected 'T('"),
        ("{devices=[2,2]<=[2,2]T(0,2)}", "(0,2)", "expected each of the numbers 0,1 once"),
        ("{devices=[2,0]<=[2]}", "0", "a size must be at least 1"),
        ("{devices=[4]<=[4]}", "{devices=[4]<=[4]}", "the sharding has rank 1, but the tensor has rank 2"),
        (
            "{devices=[2]<=[2] last_tile_dims={manual, manual}}",
            "last_tile_dims={manual, manual}",
            "2 last tile",
        ),
        ("{devices=[2,2]<=[4] last_tile_dims={maximal}}", "maximal", "expected one of replicated, unreduced"),
        ("{{replicated}, {manual}}", "{", "a tuple has a sharding for each element"),
        ("{sharded}", "sharded", "expected one of devices, replicated"),
        ("{devices=[4611686018427387905]0}", "4611686018427387905", "the number is greater than 2^62"),
        (
            "{devices=[4294967296,4294967296]<=[1]}",
            "[4294967296,4294967296]",
            "the number of devices is greater",
        ),
        # HLO V3
        ("{mesh['x'=4], [{'q'}, {}]}", "'q'", "unknown axis name: 'q'"),
        ("{mesh['x'=4], [{x}, {}]}", "x", "expected an axis name in quotes"),
        ("{mesh['x'=4], [{'x'}, {'x'}]}", "'x'", 'duplicate axis ref: "x"'),
        ("{mesh['x'=4], [{'x'}]}", "{mesh['x'=4], [{'x'}]}", "sharding doesn't match tensor rank: 1 != 2"),
        ("{mesh['x'=4], device_ids=(0,1), [{}, {}]}", "0,1)", "2 devices are listed, but the mesh has 4"),
        ("{mesh['x'=4], device_ids=([3]), [{}, {}]}", "[3]", "[3] has 3 devices, but the tiles have 4"),
        ("{mesh['x'=0], [{}, {}]}", "0", "axis size must be at least 1"),
        ("{mesh['x'=4], [{'x', ?, 'y'}, {}]}", ",", "expected '}'"),
        ("{mesh['x'=4], [{}, {}], shared={'x'}}", "shared", "expected one of replicated, unreduced, manual"),
        ("{mesh['x'=4], [{}, {}], unreduced=add{'x'}}", "add", "expected one of sum, max, min"),
        (
            "{mesh['x'=4], [{}, {}], manual={'x':(1)2}}",
            "manual={'x':(1)2}",
            "only a part of an axis is manual",
        ),
        (
            "{mesh['x'=4], [{'x'}, {}], manual={'x'}}",
            "{mesh['x'=4], [{'x'}, {}], manual={'x'}",
            "axis 'x' is",
        ),
        # PartitionSpec
        ("P('q')", "'q'", "unknown axis name: 'q'"),
        ("P('x', ('y', 'x'))", "'x'", "axis 'x' is used twice"),
        ("P(x)", "x", "expected an axis name in quotes"),
        (
            "P(None, 'x', None)",
            "P(None, 'x', None)",
            "the PartitionSpec has 3 dimensions, but the tensor has 2",
        ),
        ("P(unreduced={'x'}, 'y')", "'y'", "expected ')' after"),
        ("P('x'", "", "expected ',' or ')'"),
        # The mesh dialect
        ("<@mesh, [[0], [7]]>", "7", "axis 7 is not in the mesh"),
        ("<@mesh, [[0], [0]]>", "0", "axis 0 is used twice"),
        ("<@mesh, [[0]], partial = product[1]>", "product", "expected 'sum', 'max' or 'min'"),
        (
            "mesh.sharding @mesh split_axes = [[0]] halo_sizes = [1, 1]",
            "halo_sizes",
            "halo_sizes is not supported",
        ),
        ("<@mesh, [[], [], [1]]>", "<@mesh, [[], [], [1]]>", "the sharding has 3 dimensions"),
    ],
)
def test_the_mistake_in_a_sharding_is_underlined(text: str, where: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        read_sharding(Source("--show-sharding", text), MeshAndShape(MESH, (64, 128)))
    assert message in raised.value.diagnostic.message
    assert underlined(text, raised.value) == where


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("", "", "expected the axes of the mesh"),
        ("x", "", "expected '=' and the size"),
        ("x=0", "0", "axis size must be at least 1"),
        ("x=2, x=2", "x=2, x=2", 'duplicate axis name: "x"'),
        ("x=2, device_ids=[0, 2]", "x=2, device_ids=[0, 2]", "sorted device ids must be iota"),
        ("x=2 y=2", "y=2", "unexpected text"),
        ("x=4294967296, y=4294967296", "x=4294967296, y=4294967296", "the number of devices is greater"),
    ],
)
def test_the_mistake_in_a_mesh_is_underlined(text: str, where: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message) as raised:
        parse_mesh(Source("--mesh", text))
    assert underlined(text, raised.value) == where


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("4x", "", "expected a size after 'x'"),
        ("4,4", ",4", "unexpected text"),
        ("-1", "-", "expected a size"),
    ],
)
def test_the_mistake_in_a_shape_is_underlined(text: str, where: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message) as raised:
        parse_shape(Source("--shape", text))
    assert underlined(text, raised.value) == where


def test_a_sharding_of_axes_needs_a_mesh() -> None:
    with pytest.raises(DiagnosticError, match="the mesh of this sharding is unknown") as raised:
        read_sharding(Source("--show-sharding", "P('x')"), MeshAndShape(None, None))
    assert "--mesh" in raised.value.diagnostic.help


@pytest.mark.parametrize(
    ("text", "shape"),
    [("64x128", (64, 128)), ("", ()), ("f32", ()), ("tensor<4x?xbf16>", (4, None)), ("8xi32", (8,))],
)
def test_valid_shapes(text: str, shape: tuple[int | None, ...]) -> None:
    assert parse_shape(Source("--shape", text)) == shape


@pytest.mark.parametrize(
    "text", ['"x"=4, "y"=6', "x=4,y=6", "'x': 4, 'y': 6", '<["x"=4, "y"=6]>', '#sdy.mesh<["x"=4, "y"=6]>']
)
def test_several_texts_are_one_mesh(text: str) -> None:
    assert parse_mesh(Source("--mesh", text)) is MESH

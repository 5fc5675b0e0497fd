"""Meshes and shapes on the command line.

"x"=4, "y"=4                            the quotes may be left out
"x"=2, "y"=2, device_ids=[3,2,1,0]
device_ids=[3]                          a single device
<["x"=2, "y"=2], device_ids=[0,2,1,3]>  as sdy.mesh writes it
"""

from __future__ import annotations

import re
from functools import partial

from sdyopt.analysis.notation.text_parser import MAX_NUMBER, TextParser
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, mesh, mesh_problem

_HELP = """such as --mesh='"x"=4, "y"=2'"""
_SHAPE_HELP = "such as --shape=64x128"
_ELEMENT_TYPE = re.compile(r"[a-z]\w*(?:<\w+>)?")

_OPENING = re.compile(r"\s*+(?:#sdy\.mesh|mesh)?+\s*+<")

Shape = tuple[int | None, ...]

# --- Meshes ---------------------------------------------------------------------------------------


def parse_mesh(source: Source) -> Mesh:
    """Parses a mesh. Raises DiagnosticError."""
    parser = TextParser(source)
    opening = _OPENING.match(source.text)
    if opening is not None:
        parser.position = opening.end()
        parser.expect("[", _HELP)
        axes = parser.items(partial(_parse_axis, parser), "]", _HELP)
        ids = _parse_device_ids(parser) if parser.accept(",") else []
        parser.expect(">")
    else:
        axes, ids = _parse_bare(parser)
    parser.finish(_HELP)
    size = 1
    for axis in axes:
        size *= axis.size
    if size > MAX_NUMBER:
        raise parser.error_since(0, "the number of devices is greater than 2^62")
    parsed = mesh(axes, ids)
    problem = mesh_problem(parsed)
    if problem is not None:
        raise parser.error_since(0, problem if len(problem) < 200 else problem[:200] + "…")
    return parsed


def _parse_bare(parser: TextParser) -> tuple[list[MeshAxis], list[int]]:
    axes: list[MeshAxis] = []
    if parser.at_end:
        raise parser.error("expected the axes of the mesh", _HELP)
    while True:
        if parser.looking_at("device_ids"):
            return axes, _parse_device_ids(parser)
        axes.append(_parse_axis(parser))
        if not parser.accept(","):
            return axes, []


def _parse_axis(parser: TextParser) -> MeshAxis:
    name = parser.accept_name()
    if name is None:
        raise parser.error("expected an axis name", _HELP)
    if not parser.accept("=") and not parser.accept(":"):
        raise parser.error("expected '=' and the size of the axis", _HELP)
    start = parser.skip_space()
    size = parser.number("the size of the axis")
    if size == 0:
        raise parser.error_since(start, "axis size must be at least 1, got: 0")
    return MeshAxis(name, size)


def _parse_device_ids(parser: TextParser) -> list[int]:
    parser.expect("device_ids")
    parser.expect("=")
    parser.expect("[")
    return parser.items(partial(parser.number, "a device id"), "]")


# --- Shapes ---------------------------------------------------------------------------------------


def parse_shape(source: Source) -> Shape:
    """Parses `64x128`, `64x?xf32` or `tensor<64x128xf32>`; an empty text is a scalar.

    Raises DiagnosticError.
    """
    parser = TextParser(source)
    is_type = parser.accept("tensor")
    if is_type:
        parser.expect("<", _SHAPE_HELP)
    sizes: list[int | None] = []
    while not parser.at_end and not parser.looking_at(">"):
        match = _ELEMENT_TYPE.match(source.text, parser.position)
        if match is not None:
            parser.position = match.end()
            break
        sizes.append(_parse_size(parser))
        if not parser.looking_at("x"):
            break
        parser.position += 1
        if parser.at_end:
            raise parser.error("expected a size after 'x'", _SHAPE_HELP)
    if is_type:
        parser.expect(">")
    parser.finish(_SHAPE_HELP)
    return tuple(sizes)


def _parse_size(parser: TextParser) -> int | None:
    if parser.accept("?"):
        return None
    # The number in `4x8` ends before the `x`.
    return parser.number("a size, or '?' for a dynamic one")

"""Meshes and shapes on the command line, and the parser of its short texts.

"x"=4, "y"=4                            the quotes may be left out
"x"=2, "y"=2, device_ids=[3,2,1,0]
device_ids=[3]                          a single device
<["x"=2, "y"=2], device_ids=[0,2,1,3]>  as sdy.mesh writes it
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import Diagnostic, DiagnosticError, Severity
from sdyopt.base.diagnostics.ids import Message, is_kind
from sdyopt.base.diagnostics.location import FileRange, Source
from sdyopt.base.patterns import constant_pattern
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.dialects.sdy.axes import axis_ref_text
from sdyopt.mlir.dialects.sdy.mesh import AXIS_SIZE, Mesh, MeshAxis, mesh, mesh_problem, sdy
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import (
    DUPLICATE_AXIS,
    UNKNOWN_AXIS,
    WRONG_RANK,
    sharding_problem,
)
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.types import F32, RankedTensor
from sdyopt.shardy.notation.sharding_on_mesh import IncompatibleSubAxes, ShardingOnMesh, tiling_of

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
        axes = parser.items(partial(TextParser.parse_axis, parser), "]", _HELP)
        ids = parser.parse_device_ids() if parser.accept(",") else []
        parser.expect(">")
    else:
        axes, ids = parser.parse_bare()
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
        sizes.append(parser.parse_size())
        if not parser.looking_at("x"):
            break
        parser.position += 1
        if parser.at_end:
            raise parser.error("expected a size after 'x'", _SHAPE_HELP)
    if is_type:
        parser.expect(">")
    parser.finish(_SHAPE_HELP)
    return tuple(sizes)


# Shardings of the sdy dialect as text on the command line.
#
# `<@mesh, [{"x"}, {"y":(1)2}]>`, also after `#sdy.sharding`, or with an inlined mesh:
# `<mesh<["x"=4]>, [{"x"}]>`. The dialect's own parser and verifier check it; this module gives errors of the
# verifier a location in the text.


_SDY_HELP = 'such as <@mesh, [{"x"}, {"y":(1)2}, {}]>'
_PREFIX = re.compile(r"\s*(?:#sdy\.sharding)?")


def parse_sdy(source: Source) -> TensorSharding:
    """Parses a sharding. Raises DiagnosticError."""
    state = ParserState(source, DialectTable({"sdy": sdy}.get, lambda: ["sdy"]), False)
    prefix = _PREFIX.match(source.text)
    assert prefix is not None
    parser = AsmParser(source, state.attribute_parser, prefix.end())
    try:
        sharding: TensorSharding = TensorSharding.assembly.parse(parser)
    except DiagnosticError as error:
        raise error if error.diagnostic.help else error.help(_SDY_HELP) from None
    if not parser.at_end:
        end = len(source.text.rstrip())
        raise error_at_range(source, parser.position, end, "unexpected text").help(_SDY_HELP)
    return sharding


def check_sdy(source: Source, on_mesh: ShardingOnMesh, shape: Shape | None) -> None:
    """Checks a parsed sharding against its mesh and the rank of a shape, if any. Raises DiagnosticError."""
    sharding, mesh = on_mesh.sharding, on_mesh.mesh
    rank = sharding.rank if shape is None else len(shape)
    problem = sharding_problem(sharding, RankedTensor((1,) * rank, F32), mesh)
    if problem is not None:
        axis = problem.values.get("axis", "") if isinstance(problem, Message) else ""
        raise _located(source, problem, axis).help(_help(problem, mesh))
    try:
        tiling_of(on_mesh)
    except IncompatibleSubAxes as error:
        axis = axis_ref_text(error.second)
        raise _located(source, str(error), axis).help("divide the axis at the same sizes for both") from None


def _located(source: Source, problem: str, axis: str) -> DiagnosticError:
    """The error, which underlines an axis where it last occurs, or where it first does if unknown."""
    text, find = source.text, source.text.find if is_kind(problem, UNKNOWN_AXIS) else source.text.rfind
    name = axis if axis.startswith('"') else f'"{axis}"'
    for written in (name, name.replace('"', "'")) if axis else ():
        if (offset := find(written)) >= 0:
            return error_at_range(source, offset, offset + len(written), problem)
    return error_at_range(source, len(text) - len(text.lstrip()), len(text.rstrip()), problem)


def _help(problem: str, mesh: Mesh) -> str:
    if is_kind(problem, UNKNOWN_AXIS):
        axes = ", ".join([f'"{axis.name}"={axis.size}' for axis in mesh.axes])
        return f"the mesh has {axes}" if axes else "the mesh has no axes"
    if is_kind(problem, WRONG_RANK):
        return "write one {…} for each dimension of --shape"
    return "an axis shards one dimension; remove one of the two" if is_kind(problem, DUPLICATE_AXIS) else ""


T = TypeVar("T")

# The largest size, device id and number of devices.
MAX_NUMBER = 1 << 62

_SPACE = constant_pattern(r"\s*")
_NUMBER = constant_pattern(r"\d+", re.ASCII)
_NAME = constant_pattern(r"[A-Za-z_][A-Za-z0-9_.$-]*")
_STRING = constant_pattern(r"\"([^\"\\\n]*)\"|'([^'\\\n]*)'")
_TOKEN = constant_pattern(r"\w+|\"[^\"]*\"|'[^']*'|\S|\Z")


def error_at_range(source: Source, start: int, end: int, message: str) -> DiagnosticError:
    """An error that underlines the text from `start` to `end`."""
    line, column = source.line_column(start)
    end_line, end_column = source.line_column(max(start, end))
    location = FileRange(source.name, line, column, end_line, end_column)
    return DiagnosticError(Diagnostic(Severity.ERROR, location, message))


class TextParser:
    """Parses tokens from a position in a source. Spaces before a token are skipped."""

    def __init__(self, source: Source, position: int = 0) -> None:
        self.source = source
        self.position = position

    def skip_space(self) -> int:
        """Moves to the next token and returns its offset."""
        match = _SPACE.match(self.source.text, self.position)
        assert match is not None
        self.position = match.end()
        return self.position

    @property
    def at_end(self) -> bool:
        return self.skip_space() == len(self.source.text)

    def looking_at(self, token: str) -> bool:
        """Whether the next token starts with this text."""
        return self.source.text.startswith(token, self.skip_space())

    def accept(self, token: str) -> bool:
        """Parses this text if it is next and does not end within a word; returns whether it did."""
        start = self.skip_space()
        end = start + len(token)
        text = self.source.text
        if not text.startswith(token, start):
            return False
        if token[-1].isalnum() and (text[end : end + 1].isalnum() or text[end : end + 1] == "_"):
            return False
        self.position = end
        return True

    def expect(self, token: str, help: str = "") -> None:
        """Parses this text, or raises an error at the next token."""
        if not self.accept(token):
            raise self.error(f"expected '{token}'", help)

    def accept_name(self) -> str | None:
        """Parses a name, with or without quotes, if one is next."""
        return self._match(_STRING) or self._match(_NAME)

    def accept_string(self) -> str | None:
        """Parses a string in single or double quotes if one is next, and returns its contents."""
        return self._match(_STRING)

    def number(self, what: str) -> int:
        """Parses a number of at most 2^62. If none is next, the error is that `what` is expected."""
        start = self.skip_space()
        text = self._match(_NUMBER)
        if text is None:
            raise self.error(f"expected {what}")
        if len(text) > 19 or int(text) > MAX_NUMBER:
            raise self.error_since(start, "the number is greater than 2^62")
        return int(text)

    def items(self, item: Callable[[], T], close: str, help: str = "") -> list[T]:
        """Parses items with commas between them, up to and including `close`. A trailing comma is allowed."""
        items: list[T] = []
        while not self.accept(close):
            if items and not self.accept(","):
                raise self.error(f"expected ',' or '{close}'", help)
            if items and self.accept(close):
                break
            items.append(item())
        return items

    def finish(self, help: str = "") -> None:
        """Raises an error if there is more text."""
        if not self.at_end:
            end = len(self.source.text.rstrip())
            raise error_at_range(self.source, self.position, end, "unexpected text").help(help)

    def error(self, message: str, help: str = "") -> DiagnosticError:
        """An error that underlines the next token."""
        start = self.skip_space()
        match = _TOKEN.match(self.source.text, start)
        assert match is not None
        return error_at_range(self.source, start, match.end(), message).help(help)

    def error_since(self, start: int, message: str, help: str = "") -> DiagnosticError:
        """An error that underlines what was parsed since an offset."""
        return error_at_range(self.source, start, self.position, message).help(help)

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.source.text, self.skip_space())
        if match is None:
            return None
        self.position = match.end()
        return next((group for group in match.groups() if group is not None), match[0])

    def parse_bare(self) -> tuple[list[MeshAxis], list[int]]:
        axes: list[MeshAxis] = []
        if self.at_end:
            raise self.error("expected the axes of the mesh", _HELP)
        while True:
            if self.looking_at("device_ids"):
                return axes, self.parse_device_ids()
            axes.append(self.parse_axis())
            if not self.accept(","):
                return axes, []

    def parse_axis(self) -> MeshAxis:
        name = self.accept_name()
        if name is None:
            raise self.error("expected an axis name", _HELP)
        if not self.accept("=") and not self.accept(":"):
            raise self.error("expected '=' and the size of the axis", _HELP)
        return self.axis_named(name)

    def axis_named(self, name: str) -> MeshAxis:
        """Parses the size of an axis."""
        start = self.skip_space()
        size = self.number("the size of the axis")
        if size == 0:
            raise self.error_since(start, AXIS_SIZE(size=0))
        return MeshAxis(name, size)

    def parse_device_ids(self) -> list[int]:
        self.expect("device_ids")
        self.expect("=")
        self.expect("[")
        return self.items(partial(self.number, "a device id"), "]")

    def parse_size(self) -> int | None:
        if self.accept("?"):
            return None
        # The number in `4x8` ends before the `x`.
        return self.number("a size, or '?' for a dynamic one")

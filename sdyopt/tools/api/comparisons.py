"""Comparisons of two programs, and snapshots of the shardings of one.

The code that compares is imported when it is used, because it imports rich and all of stablehlo.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from sdyopt.base.diagnostics.ids import SNAPSHOT_DIFFERENCE, SNAPSHOT_ERROR, identify
from sdyopt.base.diagnostics.text import counted
from sdyopt.mlir.ir.operation import Op
from sdyopt.tools.api.errors import (
    Diagnostic,
    Location,
    as_parse_error,
    diagnostic_of,
    from_source,
    path_text,
)
from sdyopt.tools.api.html import coloured, html_fragment, sections
from sdyopt.tools.api.program import OfProgram

if TYPE_CHECKING:  # imported only for comparisons, because importing rich is slow
    from sdyopt.analysis.comparison import comparison
    from sdyopt.analysis.comparison.program_values import ProgramValue


# The rows of each table that a notebook shows.
MAX_ROWS = 20


class BeforeAndAfter(NamedTuple):
    """A text in the program before and in the one after; None in a program without it."""

    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ShardingChange:
    """A value whose sharding differs between two programs.

    `label` is what the program calls it: the name of an argument, or a name stack. Names, types and shardings
    are those before and after, as text; None in a program that does not have the value or a sharding.
    """

    label: str
    location: Location
    names: BeforeAndAfter
    types: BeforeAndAfter
    before: str | None
    after: str | None

    def __str__(self) -> str:
        name = self.label or self.names.after or self.names.before
        return f"{name}: {self.before} → {self.after}"


class Comparison(OfProgram):
    """The comparison of `sdy-opt --compare-with`. `str` is its text."""

    __slots__ = ("ir",)
    _passed = "to_dict()"

    ir: comparison.ProgramComparison

    def __init__(self, ir: comparison.ProgramComparison) -> None:
        self.ir = ir

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return self.ir.is_empty

    @property
    def annotations(self) -> tuple[ShardingChange, ...]:
        """The values whose sharding differs before the passes; none if no passes ran."""
        return tuple(map(_change, self.ir.annotations))

    @property
    def shardings(self) -> tuple[ShardingChange, ...]:
        """The values whose slices on the devices differ, those that cause other differences first."""
        return tuple(map(_change, self.ir.placements))

    def to_json(self) -> str:
        """The comparison as JSON, whose schema is versioned."""
        return self._write(".json")

    def to_dict(self) -> dict[str, Any]:
        """The data of the JSON."""
        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def to_markdown(self) -> str:
        return self._write(".md")

    def to_html(self) -> str:
        """The comparison as an HTML page."""
        return self._write(".html")

    def __str__(self) -> str:
        return self._write(".txt")

    def __repr__(self) -> str:
        return f"<sdyopt.Comparison: {counted(len(self.ir.placements), 'sharding')} changed>"

    def _repr_html_(self) -> str:
        from sdyopt.analysis.comparison.comparison_sections import header_of, sections_of

        meshes = (mesh for side in (self.ir.before, self.ir.after) for mesh in side.meshes.values())
        axes = list(dict.fromkeys(axis.name for mesh in meshes for axis in mesh.axes))
        header = "\n".join([coloured(line, axes) for line in header_of(self.ir)])
        return html_fragment([f"<pre>{header}</pre>", *sections(sections_of(self.ir), axes, MAX_ROWS)])

    def _write(self, suffix: str) -> str:
        from sdyopt.analysis.comparison.comparison_formats import comparison_text

        return comparison_text(self.ir, f"comparison{suffix}")


class Comparable:
    """A module with its name, and its form before passes ran, if they did."""

    def __init__(self, name: str, op: Op, before_passes: Op | None = None) -> None:
        from sdyopt.analysis.comparison.comparison import NamedModule

        self._module = NamedModule(name, op, before_passes)

    def compared_with(self, before: Comparable) -> Comparison:
        """The differences from another module."""
        from sdyopt.analysis.comparison.comparison import compare_modules

        return Comparison(compare_modules(before._module, self._module))

    def snapshot(self, places: Sequence[str]) -> str:
        """The text of the snapshot."""
        from sdyopt.analysis.comparison.snapshot.analysis import snapshot_of_module

        return snapshot_of_module(self._module, places)

    def differences_from_snapshot(self, path: str | PathLike[str]) -> tuple[Diagnostic, ...]:
        """An error for each difference from a snapshot. Raises ParseError for a file with mistakes."""
        from sdyopt.analysis.comparison.snapshot.analysis import check_module

        with as_parse_error(SNAPSHOT_ERROR):
            diagnostics = check_module(self._module, path_text("path", path))
        for diagnostic in diagnostics:
            identify(diagnostic, SNAPSHOT_DIFFERENCE)
        return tuple([diagnostic_of(diagnostic, diagnostic.source) for diagnostic in diagnostics])


def _change(change: comparison.ShardingChange) -> ShardingChange:
    old, new = change.before, change.after
    return ShardingChange(
        change.value.label,
        from_source(change.value.location),
        BeforeAndAfter(_name(old), _name(new)),
        BeforeAndAfter(_type(old), _type(new)),
        _sharding(old),
        _sharding(new),
    )


def _name(value: ProgramValue | None) -> str | None:
    return None if value is None else value.name


def _type(value: ProgramValue | None) -> str | None:
    return None if value is None else value.type


def _sharding(value: ProgramValue | None) -> str | None:
    return None if value is None or value.sharding is None else value.sharding.text

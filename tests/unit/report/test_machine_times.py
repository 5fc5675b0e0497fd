"""How meshes lie on each machine, and how long collectives take there: the page machine_times.txt.

python -m tests.unit.report.test_machine_times    # writes the page
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from pathlib import Path

import pytest

from sdyopt.analysis.figures.machines import idle_text, machine_data, machine_of_mesh, slices_of
from sdyopt.analysis.figures.topology import built_in_topology, error_text, likely_error, speeds_text
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.usage import UsageError
from tests.unit.report.programs import parts_of_page

PAGE = Path(__file__).with_name("machine_times.txt")
_MESHES: tuple[dict[str, int], ...] = (
    *({"a": 8}, {"a": 2, "b": 4}, {"a": 4, "b": 2, "c": 8}, {"a": 16, "b": 32}, {"a": 3, "b": 2}),
)
# The page has the seconds of each for three numbers of bytes that a device sends.
_KINDS = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter", "one_way_permute")
# Machines with shapes, beside those without.
_SHAPES = (
    *(
        "tpu-v5e:4x4",
        "tpu-v5e:2x4",
        "tpu-v5e:16x16",
        "tpu-v5e:4x8,slices=2",
        "tpu-v5p:2x2x4",
        "tpu-v5p:4x4x8",
    ),
    *("tpu-v4:2x2x2", "tpu-v7x:2x2x1", "tpu-v7x:4x4x4", "h100:4x8", "h100:2x4", "gb200:72", "mi300:2x8"),
)


def names() -> list[str]:
    """The machines of the page."""
    return [*machine_data()["machines"], *_SHAPES]


def part_of(name: str) -> str:
    """The part of the page for a machine."""
    return "".join(f"{line}\n" for line in (name, *(f"  {line}" for line in _lines(name))))


def _lines(name: str) -> Iterator[str]:
    topology = built_in_topology(name)
    yield f"{error_text(topology)}; likely {float(likely_error(topology)):.9g}"
    for axes in _MESHES:
        mesh = f"<[{', '.join(f'{chr(34)}{axis}{chr(34)}={size}' for axis, size in axes.items())}]>"
        devices = prod(axes.values())
        try:
            yield f"{mesh}: {machine_of_mesh(name, devices)}, {idle_text(name, devices)}"
            laid = topology.on(mesh)
        except (DiagnosticError, UsageError) as error:
            yield f"{mesh}: {error}"
            continue
        yield f"  {speeds_text(laid)}, {slices_of(name, devices)} slices"
        yield f"  {len(laid.layouts(mesh))} layouts"
        groups = {**axes, "".join(axes): devices}
        for along, size in (*groups.items(), ("".join(axes), 2)):
            times = [
                laid.seconds(kind, list(along), size, Fraction(sent))
                for kind in _KINDS
                for sent in (64, 1 << 20, 3 << 28)
            ]
            shown = ["none" if time is None else f"{float(time):.6g}" for time in times]
            yield f"  {size} along {along}: {' '.join(shown)}"


@pytest.mark.parametrize("name", names())
def test_times_are_those_of_the_page(name: str) -> None:
    assert part_of(name) == parts_of_page(PAGE).get(name)


if __name__ == "__main__":
    PAGE.write_text("".join(map(part_of, names())), encoding="utf-8")

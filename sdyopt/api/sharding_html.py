"""A sharding as HTML, for notebooks: its text, and which devices have which shard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdyopt.api.html import coloured, html_fragment

# Grids with more rows or columns are not drawn; of the devices of a shard, at most this many are listed.
MAX_ROWS, MAX_COLUMNS, MAX_DEVICES = 32, 32, 8

# The devices of each shard, by the index of the shard in every dimension.
Devices = Mapping[tuple[int, ...], Sequence[int]]


def sharding_html(text: str, dimensions: Sequence[str], devices: Devices, axes: Sequence[str]) -> str:
    """The HTML of a sharding: its text, and a grid of the devices of each shard.

    `dimensions` are the texts of the dimension shardings, `axes` the names of the mesh axes. The first
    sharded dimension is vertical and the second horizontal; with more than two, there is no grid.
    """
    return html_fragment(_parts(text, dimensions, devices, axes))


def _parts(text: str, dimensions: Sequence[str], devices: Devices, axes: Sequence[str]) -> Iterator[str]:
    yield f"<p>{coloured(text, axes)}</p>"
    counts = [1 + max([shard[dim] for shard in devices], default=0) for dim in range(len(dimensions))]
    sharded = [dim for dim, count in enumerate(counts) if count > 1]
    if not devices or len(sharded) > 2:
        return
    # If only dimension 1 is sharded, it is horizontal: shards of a matrix are side by side.
    row, column = (None, 1) if sharded == [1] else [*sharded, None, None][:2]
    rows = 1 if row is None else counts[row]
    columns = 1 if column is None else counts[column]
    if rows > MAX_ROWS or columns > MAX_COLUMNS:
        return
    cells = {(_at(shard, row), _at(shard, column)): found for shard, found in devices.items()}
    yield "<table><caption>devices of each shard</caption>"
    if column is not None:
        corner = "" if row is None else "<th></th>"
        yield f'<tr>{corner}<th colspan="{columns}">{_heading(column, dimensions, axes)}</th></tr>'
    for number in range(rows):
        heading = ""
        if row is not None and not number:
            heading = f'<th rowspan="{rows}">{_heading(row, dimensions, axes)}</th>'
        found = [f"<td>{_devices_text(cells[number, at])}</td>" for at in range(columns)]
        yield f"<tr>{heading}{''.join(found)}</tr>"
    yield "</table>"


def _at(shard: tuple[int, ...], dim: int | None) -> int:
    return 0 if dim is None else shard[dim]


def _heading(dim: int, dimensions: Sequence[str], axes: Sequence[str]) -> str:
    return f"dimension {dim} {coloured(dimensions[dim], axes)}"


def _devices_text(devices: Sequence[int]) -> str:
    more = "" if len(devices) <= MAX_DEVICES else f" and {len(devices) - MAX_DEVICES} more"
    return " ".join(map(str, devices[:MAX_DEVICES])) + more

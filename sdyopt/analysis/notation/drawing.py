"""A sharding on a terminal: what is sharded, the devices of each shard, and the sharding in each notation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from sdyopt.analysis.notation.device_tiling import DeviceTiling, Maximal, Sharing, Uniform
from sdyopt.analysis.notation.mesh_text import Shape
from sdyopt.analysis.notation.shard_table import shard_table
from sdyopt.analysis.notation.views import Form, ShardingView, forms
from sdyopt.mlir.dialects.sdy.mesh import Mesh

MIN_WIDTH = 60
# The length at which a list of device ids is cut, unless all rows are shown.
MAX_LISTED = 64
_LABEL_WIDTH = 15
_UNIFORM = {
    Sharing.REPLICATED: "every device has the whole tensor",
    Sharing.UNREDUCED: "the whole tensor is a sum, and every device has one term of it",
    Sharing.MANUAL: "every device has a tensor of its own",
}


def drawing(view: ShardingView, width: int = 80, rows: int | None = 16, mesh_version: int = 19) -> str:
    """The text of a view, if possible in `width` columns.

    `rows` is the largest number of rows of shards; None shows all.
    """
    width = max(width, MIN_WIDTH)
    max_devices = None if rows is None else MAX_LISTED
    parts = [*_head(view, width, max_devices), "\n", *_shards(view, width, rows), "\n"]
    parts += [line for form in forms(view, mesh_version, max_devices) for line in _form_lines(form, width)]
    return "".join(parts)


# --- Head and notations ---------------------------------------------------------------------------


def _head(view: ShardingView, width: int, max_devices: int | None) -> Iterator[str]:
    if view.shape is not None:
        yield from _entry("tensor", shape_text(view.shape), width)
    subject = view.subject
    if subject is not None:
        yield _line("mesh", mesh_text(subject.mesh, max_devices))
        if subject.manual_axes:
            names = ", ".join([f'"{name}"' for name in subject.manual_axes])
            yield from _entry("manual", f"in the body of an sdy.manual_computation along {names}", width)
    tiling = view.device_tiling
    if tiling is not None:
        yield from _entry("shards", _summary(tiling, view.shape or ()), width)
        for sentence in _padding(tiling, view.shape or ()):
            yield from _entry("", sentence, width)


def _form_lines(form: Form, width: int) -> Iterator[str]:
    """The lines of a notation. Its text stays on one line, for copying; the reason why it has none wraps."""
    if form.text:
        return iter([_line(form.notation, form.text)])
    return _entry(form.notation, f"none: {form.problem}", width)


def _entry(label: str, sentence: str, width: int) -> Iterator[str]:
    lines = textwrap.wrap(sentence, width - _LABEL_WIDTH, break_on_hyphens=False) or [""]
    return (_line("" if number else label, line) for number, line in enumerate(lines))


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL_WIDTH}}{printable(text)}\n"


def shape_text(shape: Shape) -> str:
    """`64x?x128`; `scalar` for rank 0."""
    return "x".join(["?" if size is None else str(size) for size in shape]) or "scalar"


def mesh_text(mesh: Mesh, max_devices: int | None = None) -> str:
    """`<["x"=4], device_ids=[…]>`, with at most `max_devices` device ids; None shows all."""
    cut = mesh.device_ids[:max_devices]
    text = Mesh.assembly.text(Mesh(mesh.axes, cut))
    return text if cut == mesh.device_ids else text.removesuffix("]>") + ", …]>"


def _summary(tiling: DeviceTiling, shape: Shape) -> str:
    local = tuple([None if n is None else -(-n // k) for n, k in zip(shape, tiling.tiles, strict=True)])
    shards = f"{tiling.shard_count} of {shape_text(local)}" if local else str(tiling.shard_count)
    devices = "1 device" if tiling.group_size == 1 else f"{tiling.group_size} devices"
    if tiling.shard_count == 1:
        return f"{shards}, on {devices}"
    return f"{shards}, each on {devices}"


def _padding(tiling: DeviceTiling, shape: Shape) -> Iterator[str]:
    for index, (size, tiles) in enumerate(zip(shape, tiling.tiles, strict=True)):
        if size is not None and size % tiles:
            yield f"dimension {index} of size {size} is not divisible by {tiles}: the last shards are padded"


# --- Devices --------------------------------------------------------------------------------------


def _shards(view: ShardingView, width: int, rows: int | None) -> Iterator[str]:
    tiling = view.device_tiling
    if tiling is not None:
        return shard_table(tiling, view.shape or (), width, rows, view.reduction)
    match view.tiling:
        case Maximal(device):
            sentence = f"device {device} has the whole tensor"
        case Uniform(sharing):
            sentence = _UNIFORM[sharing]
        case _:
            sentence = "the devices of the tensor are unknown"
    return iter([f"{sentence}\n"])


def printable(text: str) -> str:
    """The text with U+FFFD in place of unprintable characters, which names of axes may have."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)

"""Shardings of GSPMD, as XLA writes them in HLO.

{devices=[4,2,2]<=[16] last_tile_dim_replicate}    V2: devices by reshaping and transposing iota
{devices=[2,2]0,2,1,3}                             V1: a list of devices
{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}
{replicated} {maximal device=3} {manual} {unreduced} {unknown}
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from sdyopt.base.diagnostics.location import Source
from sdyopt.shardy.notation.device_tiling import (
    DeviceOrder,
    DeviceTiling,
    Maximal,
    Sharing,
    Subgroup,
    Tiling,
    Uniform,
    Unknown,
    canonical_order,
    listed_order,
    simplified,
)
from sdyopt.shardy.notation.mesh_text import MAX_NUMBER, TextParser
from sdyopt.shardy.notation.sharding_on_mesh import sorted_replicas

_HELP = "such as {devices=[2,1,2]<=[4] last_tile_dim_replicate} or {replicated}"

# --- Text -----------------------------------------------------------------------------------------


def gspmd_text(tiling: Tiling, max_devices: int | None = None) -> str:
    """The text of a tiling, with at most `max_devices` devices of a list; None shows all."""
    if isinstance(tiling, DeviceTiling):
        tiling = simplified(tiling)
    match tiling:
        case Uniform(sharing):
            return f"{{{sharing}}}"
        case Maximal(device):
            return f"{{maximal device={device}}}"
        case Unknown():
            return "{unknown}"
    dims = ",".join(map(str, tiling.sizes))
    return f"{{devices=[{dims}]{_order_text(tiling, max_devices)}{_subgroups_text(tiling)}}}"


def _order_text(tiling: DeviceTiling, max_devices: int | None) -> str:
    order = tiling.order
    if not order.is_iota:
        ids = sorted_replicas(tiling, order.ids)
        return ",".join(map(str, ids[:max_devices])) + ("…" if ids[:max_devices] != ids else "")
    dims = ",".join(map(str, order.dims))
    permutation = ",".join(map(str, order.permutation))
    return f"<=[{dims}]" + (f"T({permutation})" if len(order.dims) > 1 else "")


def _subgroups_text(tiling: DeviceTiling) -> str:
    sharings = [group.sharing for group in tiling.subgroups]
    if not sharings:
        return ""
    if sharings == [Sharing.REPLICATED]:
        return " last_tile_dim_replicate"
    return f" last_tile_dims={{{', '.join(sharings)}}}"


# --- Parsing --------------------------------------------------------------------------------------


def parse_gspmd(source: Source) -> Tiling:
    """Parses the text of a sharding. Raises DiagnosticError."""
    parser = TextParser(source)
    parser.expect("{", _HELP)
    for word, parse in _WORDS.items():
        if parser.accept(word):
            tiling = parse(parser)
            break
    else:
        if parser.looking_at("{"):
            raise parser.error("a tuple has a sharding for each element", "give the sharding of one element")
        raise parser.error(f"expected one of {', '.join(_WORDS)}", _HELP)
    if parser.accept("metadata"):
        skip_metadata(parser)
    parser.expect("}")
    parser.finish("remove it")
    return tiling


def _parse_maximal(parser: TextParser) -> Tiling:
    parser.expect("device", "such as {maximal device=0}")
    parser.expect("=")
    return Maximal(parser.number("a device id"))


def _parse_devices(parser: TextParser) -> Tiling:
    parser.expect("=")
    start = parser.skip_space()
    sizes = _parse_sizes(parser)
    count = prod(sizes)
    if count > MAX_NUMBER:
        raise parser.error_since(start, "the number of devices is greater than 2^62")
    order = parse_iota(parser, count) if parser.accept("<=") else _parse_list(parser, count)
    group_start = parser.skip_space()
    sharings = _parse_sharings(parser)
    if len(sharings) > len(sizes):
        message = f"{len(sharings)} last tile dimensions, but devices=[…] has {len(sizes)} dimensions"
        raise parser.error_since(
            group_start, message, "write one size for each of them, after those of the tensor"
        )
    rank = len(sizes) - len(sharings)
    subgroups = [Subgroup(sharing, size) for sharing, size in zip(sharings, sizes[rank:], strict=True)]
    return DeviceTiling(tuple(sizes[:rank]), tuple(subgroups), order)


def _parse_sizes(parser: TextParser) -> list[int]:
    """Parses `[4,2]`."""
    parser.expect("[", _HELP)
    start = parser.position
    sizes = parser.items(partial(_parse_size, parser), "]")
    if not sizes:
        raise parser.error_since(start - 1, "expected a size for each dimension", _HELP)
    return sizes


def _parse_size(parser: TextParser) -> int:
    start = parser.skip_space()
    size = parser.number("a size")
    if size == 0:
        raise parser.error_since(start, "a size must be at least 1")
    return size


def parse_iota(parser: TextParser, count: int) -> DeviceOrder:
    """Parses `[4,2]T(1,0)`, an order of `count` devices."""
    start = parser.skip_space()
    dims = _parse_sizes(parser)
    if prod(dims) != count:
        message = f"[{','.join(map(str, dims))}] has {prod(dims)} devices, but the tiles have {count}"
        raise parser.error_since(start, message, "make the products of both lists equal")
    if not parser.accept("T"):
        if len(dims) > 1:
            raise parser.error("expected 'T(', the order of the dimensions", f"for iota write <=[{count}]")
        return canonical_order(dims)
    start = parser.skip_space()
    parser.expect("(")
    permutation = parser.items(partial(parser.number, "the number of a dimension"), ")")
    if sorted(permutation) != list(range(len(dims))):
        numbers = ",".join(map(str, range(len(dims))))
        raise parser.error_since(start, f"expected each of the numbers {numbers} once")
    return canonical_order(dims, permutation)


def _parse_list(parser: TextParser, count: int) -> DeviceOrder:
    """Parses `0,2,1,3`, the devices in order."""
    start = parser.skip_space()
    ids: list[int] = []
    seen: set[int] = set()
    while True:
        at = parser.skip_space()
        device = parser.number("a device id, or '<=' and the shape of iota" if not ids else "a device id")
        if device in seen:
            raise parser.error_since(at, f"device {device} is listed twice")
        ids.append(device)
        seen.add(device)
        if not parser.accept(","):
            break
    if len(ids) != count:
        raise parser.error_since(start, f"{len(ids)} devices are listed, but the tiles have {count}")
    return listed_order(ids)


def _parse_sharings(parser: TextParser) -> list[Sharing]:
    """Parses `last_tile_dim_replicate` or `last_tile_dims={manual, replicated}`, if any."""
    if parser.accept("last_tile_dim_replicate"):
        return [Sharing.REPLICATED]
    if not parser.accept("last_tile_dims"):
        return []
    parser.expect("=")
    parser.expect("{")
    return parser.items(partial(_parse_sharing, parser), "}")


def _parse_sharing(parser: TextParser) -> Sharing:
    for sharing in Sharing:
        if parser.accept(sharing):
            return sharing
    raise parser.error(f"expected one of {', '.join(Sharing)}")


def skip_metadata(parser: TextParser) -> None:
    """Skips `={op_name="a"}`, which has no effect on devices."""
    parser.expect("=")
    parser.expect("{")
    depth = 1
    while depth:
        if parser.at_end:
            raise parser.error("expected '}'")
        if parser.accept_string() is not None:
            continue
        depth += (parser.source.text[parser.position] == "{") - (parser.source.text[parser.position] == "}")
        parser.position += 1


_WORDS: dict[str, Callable[[TextParser], Tiling]] = {
    "devices": _parse_devices,
    "replicated": lambda _: Uniform(Sharing.REPLICATED),
    "maximal": _parse_maximal,
    "manual": lambda _: Uniform(Sharing.MANUAL),
    "unreduced": lambda _: Uniform(Sharing.UNREDUCED),
    "unknown": lambda _: Unknown(),
}

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
    parser = GspmdParser(source)
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
        parser.skip_metadata()
    parser.expect("}")
    parser.finish("remove it")
    return tiling


class GspmdParser(TextParser):
    """A parser of HLO shardings."""

    def parse_maximal(self) -> Tiling:
        self.expect("device", "such as {maximal device=0}")
        self.expect("=")
        return Maximal(self.number("a device id"))

    def parse_devices(self) -> Tiling:
        self.expect("=")
        start = self.skip_space()
        sizes = self._parse_sizes()
        count = prod(sizes)
        if count > MAX_NUMBER:
            raise self.error_since(start, "the number of devices is greater than 2^62")
        order = self.parse_iota(count) if self.accept("<=") else self._parse_list(count)
        group_start = self.skip_space()
        sharings = self._parse_sharings()
        if len(sharings) > len(sizes):
            message = f"{len(sharings)} last tile dimensions, but devices=[…] has {len(sizes)} dimensions"
            raise self.error_since(
                group_start, message, "write one size for each of them, after those of the tensor"
            )
        rank = len(sizes) - len(sharings)
        subgroups = [Subgroup(sharing, size) for sharing, size in zip(sharings, sizes[rank:], strict=True)]
        return DeviceTiling(tuple(sizes[:rank]), tuple(subgroups), order)

    def _parse_sizes(self) -> list[int]:
        """Parses `[4,2]`."""
        self.expect("[", _HELP)
        start = self.position
        sizes = self.items(self._parse_size, "]")
        if not sizes:
            raise self.error_since(start - 1, "expected a size for each dimension", _HELP)
        return sizes

    def _parse_size(self) -> int:
        start = self.skip_space()
        size = self.number("a size")
        if size == 0:
            raise self.error_since(start, "a size must be at least 1")
        return size

    def parse_iota(self, count: int) -> DeviceOrder:
        """Parses `[4,2]T(1,0)`, an order of `count` devices."""
        start = self.skip_space()
        dims = self._parse_sizes()
        if prod(dims) != count:
            message = f"[{','.join(map(str, dims))}] has {prod(dims)} devices, but the tiles have {count}"
            raise self.error_since(start, message, "make the products of both lists equal")
        if not self.accept("T"):
            if len(dims) > 1:
                raise self.error("expected 'T(', the order of the dimensions", f"for iota write <=[{count}]")
            return canonical_order(dims)
        start = self.skip_space()
        self.expect("(")
        permutation = self.items(partial(self.number, "the number of a dimension"), ")")
        if sorted(permutation) != list(range(len(dims))):
            numbers = ",".join(map(str, range(len(dims))))
            raise self.error_since(start, f"expected each of the numbers {numbers} once")
        return canonical_order(dims, permutation)

    def _parse_list(self, count: int) -> DeviceOrder:
        """Parses `0,2,1,3`, the devices in order."""
        start = self.skip_space()
        ids: list[int] = []
        seen: set[int] = set()
        while True:
            at = self.skip_space()
            device = self.number("a device id, or '<=' and the shape of iota" if not ids else "a device id")
            if device in seen:
                raise self.error_since(at, f"device {device} is listed twice")
            ids.append(device)
            seen.add(device)
            if not self.accept(","):
                break
        if len(ids) != count:
            raise self.error_since(start, f"{len(ids)} devices are listed, but the tiles have {count}")
        return listed_order(ids)

    def _parse_sharings(self) -> list[Sharing]:
        """Parses `last_tile_dim_replicate` or `last_tile_dims={manual, replicated}`, if any."""
        if self.accept("last_tile_dim_replicate"):
            return [Sharing.REPLICATED]
        if not self.accept("last_tile_dims"):
            return []
        self.expect("=")
        self.expect("{")
        return self.items(self._parse_sharing, "}")

    def _parse_sharing(self) -> Sharing:
        for sharing in Sharing:
            if self.accept(sharing):
                return sharing
        raise self.error(f"expected one of {', '.join(Sharing)}")

    def skip_metadata(self) -> None:
        """Skips `={op_name="a"}`, which has no effect on devices."""
        self.expect("=")
        self.expect("{")
        depth = 1
        while depth:
            if self.at_end:
                raise self.error("expected '}'")
            if self.accept_string() is not None:
                continue
            depth += (self.source.text[self.position] == "{") - (self.source.text[self.position] == "}")
            self.position += 1


_WORDS: dict[str, Callable[[GspmdParser], Tiling]] = {
    "devices": GspmdParser.parse_devices,
    "replicated": lambda _: Uniform(Sharing.REPLICATED),
    "maximal": GspmdParser.parse_maximal,
    "manual": lambda _: Uniform(Sharing.MANUAL),
    "unreduced": lambda _: Uniform(Sharing.UNREDUCED),
    "unknown": lambda _: Unknown(),
}

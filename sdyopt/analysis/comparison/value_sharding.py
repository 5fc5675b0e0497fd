"""The sharding of a value, in the sdy dialect or as a tiling of GSPMD, and when two of them are the same.

Two programs may have different names for a mesh and its axes, and partitioners different notations. So two
shardings are the same if they have the same axes, or if each device has the same slice.
"""

from __future__ import annotations

from functools import lru_cache

from sdyopt.analysis.figures.local_shapes import bytes_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding, sharding_text
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr, SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.ir.types import DYNAMIC, RankedShapedType, Type
from sdyopt.shardy.notation.device_tiling import (
    DeviceTiling,
    Maximal,
    Sharing,
    Tiling,
    Uniform,
    Unknown,
    simplified,
)
from sdyopt.shardy.notation.gspmd import gspmd_text, parse_hlo_tiling
from sdyopt.shardy.notation.sharding_on_mesh import (
    IncompatibleSubAxes,
    NotExpressible,
    ShardingOnMesh,
    sharding_on,
    sorted_replicas,
    tiling_of,
)

# The largest number of devices that are compared one by one.
MAX_COMPARED = 1 << 12

# A longer text of GSPMD is cut to this number of devices.
MAX_TEXT, MAX_SHOWN = 100, 8


@dataclass(frozen=True, slots=True)
class ValueSharding:
    """A sharding with its mesh, or the text of a GSPMD sharding, which has no mesh."""

    sharding: TensorSharding | None = None
    mesh: Mesh | None = None
    gspmd: str = ""

    @property
    def text(self) -> str:
        """The sharding as the program has it."""
        return self.gspmd if self.sharding is None else sharding_text(self.sharding)

    def tiling(self) -> Tiling | None:
        if self.sharding is None:
            return _gspmd_tiling(self.gspmd)
        if self.mesh is None:
            return None
        try:
            return tiling_of(ShardingOnMesh(self.sharding, self.mesh))
        except IncompatibleSubAxes:
            return None


def same_placement(before: ValueSharding | None, after: ValueSharding | None) -> bool:
    """Whether both have the same axes, or each device has the same slice.

    Open dimensions and priorities do not count. No sharding counts as fully replicated.
    """
    return before == after or _have_same_axes(before, after) or _have_same_tiling(before, after)


def same_annotation(before: ValueSharding | None, after: ValueSharding | None) -> bool:
    """Whether both are the same for propagation: open dimensions and priorities count.

    None is the same as None only.
    """
    if before is None or after is None:
        return before is after
    if before.sharding is None or after.sharding is None:
        return same_placement(before, after)
    return _annotation(before.sharding) == _annotation(after.sharding) and same_placement(before, after)


def dimensions_text(sharding: ValueSharding | None, mesh: Mesh | None = None) -> str:
    """`[{"x"}, {}]`: the sharding without its mesh; "none" for None.

    A sharding of GSPMD is converted to `mesh`, if it has a form there.
    """
    if sharding is None:
        return "none"
    if sharding.sharding is None:
        on_mesh = _on_mesh(sharding.gspmd, mesh)
        return _short_gspmd(sharding.gspmd) if on_mesh is None else _dims_text(on_mesh)
    if sharding.mesh is not None and sharding.mesh.is_maximal:
        return f"device {sharding.mesh.device_ids[0]}"
    return _dims_text(sharding.sharding)


def local_bytes(type: Type, sharding: ValueSharding | None) -> int | None:
    """Bytes of a value on one device; None if unknown."""
    if not isinstance(type, RankedShapedType) or sharding is None:
        return bytes_of(type)
    counts = _shard_counts(sharding)
    if len(counts) != type.rank:
        return bytes_of(type)
    shape = [
        size if size == DYNAMIC else -(-size // count) for size, count in zip(type.shape, counts, strict=True)
    ]
    return bytes_of(type, shape)


# --- Parts of a sharding --------------------------------------------------------------------------


def _dims_text(sharding: TensorSharding) -> str:
    dims = ", ".join(map(DimensionSharding.assembly.text, sharding.dims))
    lists = (("replicated", sharding.replicated_axes), ("unreduced", sharding.unreduced_axes))
    others = "".join([f", {word}={{{axis_refs_text(axes)}}}" for word, axes in lists if axes])
    return f"[{dims}]{others}"


def _have_same_axes(before: ValueSharding | None, after: ValueSharding | None) -> bool:
    """Whether both have the same axes of the same mesh, or of meshes with the same name."""
    if before is None or after is None or before.sharding is None or after.sharding is None:
        return False
    first, second = before.sharding, after.sharding
    has_same_mesh = before.mesh is after.mesh or first.mesh_name == second.mesh_name is not None
    return has_same_mesh and _axes(first) == _axes(second)


def _axes(sharding: TensorSharding) -> object:
    return [dim.axes for dim in sharding.dims], set(sharding.unreduced_axes)


def _annotation(sharding: TensorSharding) -> object:
    dims = [(dim.is_closed, dim.priority or 0) for dim in sharding.dims]
    return dims, set(sharding.replicated_axes)


@lru_cache(maxsize=1 << 12)
def _shard_counts(sharding: ValueSharding) -> tuple[int, ...]:
    """The number of shards of each dimension; empty if unknown."""
    if sharding.sharding is not None:
        mesh = sharding.mesh
        return () if mesh is None else tuple([dim.sharded_size(mesh) for dim in sharding.sharding.dims])
    tiling = _gspmd_tiling(sharding.gspmd)
    return tiling.tiles if isinstance(tiling, DeviceTiling) else ()


# --- Tilings --------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _have_same_tiling(before: ValueSharding | None, after: ValueSharding | None) -> bool:
    first, second = _comparable_tiling(before), _comparable_tiling(after)
    return first is not None and first == second


@lru_cache(maxsize=1 << 12)
def _comparable_tiling(sharding: ValueSharding | None) -> object:
    """A key that equal tilings have in common; None if the tiling is unknown.

    It lists up to `MAX_COMPARED` devices. With more, the tiling is known only if it has a short text.
    """
    tiling = Uniform(Sharing.REPLICATED) if sharding is None else sharding.tiling()
    if isinstance(tiling, DeviceTiling):
        tiling = simplified(tiling)
    if not isinstance(tiling, DeviceTiling):
        return None if isinstance(tiling, Unknown | None) else tiling
    if tiling.device_count > MAX_COMPARED:
        return gspmd_text(tiling) if tiling.order.is_iota else None
    order = tiling.order
    devices = sorted_replicas(tiling, [order.device_at(at) for at in range(tiling.device_count)])
    return tiling.tiles, tiling.subgroups, tuple(devices)


@lru_cache(maxsize=1 << 12)
def _gspmd_tiling(text: str) -> Tiling:
    """The tiling of a sharding in HLO; unknown if it is malformed, which only the importer of XLA reports."""
    try:
        return parse_hlo_tiling(Source("sharding", text))
    except (DiagnosticError, IncompatibleSubAxes):
        return Unknown()


def _short_gspmd(text: str) -> str:
    """The text, with a shorter list of devices if it is long."""
    return text if len(text) <= MAX_TEXT else gspmd_text(_gspmd_tiling(text), MAX_SHOWN)


@lru_cache(maxsize=1 << 12)
def _on_mesh(text: str, mesh: Mesh | None) -> TensorSharding | None:
    """A GSPMD sharding on a mesh; None if it has no form there."""
    tiling: Tiling = _gspmd_tiling(text)
    if mesh is None or isinstance(tiling, Maximal | Uniform):
        return None
    rank = len(tiling.tiles) if isinstance(tiling, DeviceTiling) else 0
    try:
        return sharding_on(tiling, mesh, SymbolRef("mesh"), rank).sharding
    except NotExpressible:
        return None


_ATTRIBUTE = "mhlo.sharding"


def gspmd_argument(function: FunctionOpInterface, index: int) -> ValueSharding | None:
    """The GSPMD sharding of an argument."""
    return _sharding(function.argument_attributes[index])


def gspmd_function_result(function: FunctionOpInterface, index: int) -> ValueSharding | None:
    """The GSPMD sharding of a function result."""
    return _sharding(function.result_attributes[index])


def gspmd_result(op: Op, index: int) -> ValueSharding | None:
    """The GSPMD sharding of a result of an operation; several results have a tuple of shardings."""
    sharding = _sharding(op.attributes)
    if sharding is None or len(op.results) == 1:
        return sharding
    parts = _tuple_parts(sharding.gspmd)
    return ValueSharding(gspmd=parts[index]) if index < len(parts) else None


def _sharding(attributes: DictAttr) -> ValueSharding | None:
    attribute = attributes.get(_ATTRIBUTE)
    return ValueSharding(gspmd=attribute.value) if isinstance(attribute, StringAttr) else None


def _tuple_parts(text: str) -> list[str]:
    """The parts of `{{devices=[2]<=[2]}, {replicated}}`; the text alone if it is no tuple."""
    if not text.startswith("{{"):
        return [text]
    parts: list[str] = []
    depth = start = 0
    for position, character in enumerate(text):
        if character == "{":
            depth += 1
            start = position if depth == 2 else start
        elif character == "}":
            if depth == 2:
                parts.append(text[start : position + 1])
            depth -= 1
    return parts

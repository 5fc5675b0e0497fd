"""A sharding that was read in any notation, with its shape and mesh, and its text in every notation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sdyopt.analysis.notation.device_order import digits_of, order_of_digits
from sdyopt.analysis.notation.device_tiling import (
    DeviceTiling,
    Maximal,
    Tiling,
    Uniform,
    uniform_tiling,
)
from sdyopt.analysis.notation.gspmd import gspmd_text
from sdyopt.analysis.notation.mesh_dialect import mesh_dialect_text
from sdyopt.analysis.notation.mesh_of_tiling import (
    MAX_LISTED,
    NotExpressible,
    sharding_on,
    sharding_on_new_mesh,
    sorted_replicas,
)
from sdyopt.analysis.notation.mesh_text import Shape
from sdyopt.analysis.notation.named_sharding import named_sharding_text
from sdyopt.analysis.notation.partition_spec import partition_spec_text
from sdyopt.analysis.notation.sharding_on_mesh import ShardingOnMesh, tiling_of
from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import sharding_text
from sdyopt.mlir.ir.attribute import SymbolRef

# The mesh that a sharding refers to if its notation does not name one.
DEFAULT_MESH = SymbolRef("mesh")


@dataclass(frozen=True)
class ShardingView:
    """A sharding to be shown. `subject` is its sdy form; None if it has none, and `problem` says why."""

    shape: Shape | None
    tiling: Tiling
    subject: ShardingOnMesh | None
    problem: str = ""

    @property
    def reduction(self) -> ReductionKind:
        """How partial results along unreduced axes are combined."""
        return ReductionKind.SUM if self.subject is None else self.subject.sharding.reduction

    @property
    def device_tiling(self) -> DeviceTiling | None:
        """The devices of each shard; None for a single device, or if the devices are unknown."""
        if isinstance(self.tiling, DeviceTiling):
            return self.tiling
        mesh = None if self.subject is None else self.subject.mesh
        if isinstance(self.tiling, Uniform) and mesh is not None and not mesh.is_empty:
            rank = len(self.shape or ())
            return uniform_tiling(self.tiling.sharing, mesh.total_size, rank, mesh.device_ids)
        return None


def view_of_sharding(subject: ShardingOnMesh, shape: Shape | None) -> ShardingView:
    """The view of a sharding of the sdy dialect; without a shape, the sizes of dimensions are unknown."""
    if shape is None:
        shape = (None,) * subject.sharding.rank
    return ShardingView(shape, tiling_of(subject), subject)


def view_of_tiling(tiling: Tiling, mesh: Mesh | None, shape: Shape | None) -> ShardingView:
    """The view of a tiling on a mesh; without one, on a mesh made for it."""
    if shape is None and isinstance(tiling, DeviceTiling):
        shape = (None,) * len(tiling.tiles)
    try:
        if shape is None and not isinstance(tiling, Maximal):
            raise NotExpressible("the rank is unknown; give the shape with --shape")
        rank = len(shape or ())
        if mesh is not None and not isinstance(tiling, Maximal):
            return ShardingView(shape, tiling, sharding_on(tiling, mesh, DEFAULT_MESH, rank))
        made = sharding_on_new_mesh(tiling, rank)
        sharding = made.sharding.with_mesh(DEFAULT_MESH)
        return ShardingView(shape, tiling, ShardingOnMesh(sharding, made.mesh, made.manual_axes))
    except NotExpressible as reason:
        return ShardingView(shape, tiling, None, str(reason))


# --- Notations ------------------------------------------------------------------------------------


class Form(NamedTuple):
    """The text of a sharding in a notation or, if it has none, the reason why."""

    notation: str
    text: str = ""
    problem: str = ""


def forms(view: ShardingView, mesh_version: int = 19, max_devices: int | None = None) -> Iterator[Form]:
    """The sharding in each notation, with at most `max_devices` devices of a list; None shows all."""
    writers: dict[str, Callable[[ShardingOnMesh], str]] = {
        "sdy": lambda subject: "#sdy.sharding" + sharding_text(subject.sharding),
        "HLO V3": lambda subject: named_sharding_text(subject, max_devices),
        "PartitionSpec": partition_spec_text,
        "mesh dialect": lambda subject: mesh_dialect_text(subject, mesh_version),
    }
    yield _form("sdy", view, writers["sdy"])
    yield _form("HLO V3", view, writers["HLO V3"])
    if view.reduction is ReductionKind.SUM:
        yield from _gspmd_forms(view.tiling, max_devices)
    else:
        yield Form("GSPMD V2", problem=f"partial results are combined by {view.reduction}, not summed")
    for notation in ("PartitionSpec", "mesh dialect"):
        yield _form(notation, view, writers[notation])


def _form(notation: str, view: ShardingView, write: Callable[[ShardingOnMesh], str]) -> Form:
    if view.subject is None:
        return Form(notation, problem=view.problem)
    try:
        return Form(notation, write(view.subject))
    except NotExpressible as reason:
        return Form(notation, problem=str(reason))


def _gspmd_forms(tiling: Tiling, max_devices: int | None) -> Iterator[Form]:
    """GSPMD V2 and, for a list of devices, also V1, in which XLA prints such a sharding."""
    text = gspmd_text(tiling, max_devices)
    if "<=" in text or not text.startswith("{devices"):
        yield Form("GSPMD V2", text)
        return
    assert isinstance(tiling, DeviceTiling)
    iota = as_iota(tiling)
    if iota is None:
        yield Form("GSPMD V2", problem="its order of devices is not one of reshaping and transposing iota")
    else:
        yield Form("GSPMD V2", gspmd_text(iota))
    yield Form("GSPMD V1", text)


def as_iota(tiling: DeviceTiling) -> DeviceTiling | None:
    """The same tiling with an iota order instead of a list; None if there is none or the list is too long."""
    if tiling.order.is_iota or tiling.device_count > MAX_LISTED:
        return tiling if tiling.order.is_iota else None
    digits = digits_of(sorted_replicas(tiling, tiling.order.ids))
    order = None if digits is None else order_of_digits(digits)
    return None if order is None else DeviceTiling(tiling.tiles, tiling.subgroups, order)

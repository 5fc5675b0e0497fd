"""Shardings in HLO as text, of one tensor or of a tuple: converted from and to shardings of sdy.

{mesh['x'=2,'y'=4], [{'x'}, {}]}                        V3, by mesh axes
{devices=[2,1,4]<=[8] last_tile_dim_replicate}          V2, by devices
{{mesh['x'=2], [{'x'}]}, {replicated}}                  a tuple
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.sharding import (
    MeshOrRef,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.ir.attribute import SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.shardy.notation.device_tiling import Maximal, Sharing, Tiling, Uniform
from sdyopt.shardy.notation.gspmd import gspmd_text, parse_gspmd
from sdyopt.shardy.notation.named_sharding import (
    OPENING,
    UniformOnMesh,
    named_sharding_text,
    parse_named_sharding,
)
from sdyopt.shardy.notation.sharding_on_mesh import ShardingOnMesh, tiling_of

# XLA writes the number of every fifth element of a tuple.
_NUMBERED = 5
_UNUSED = SymbolRef("mesh")


def is_by_axes(text: str) -> bool:
    """Whether a sharding is in the notation by mesh axes (V3)."""
    return any(OPENING.match(leaf) is not None for leaf in leaves(text))


def leaves(text: str) -> list[str]:
    """The shardings of the elements of a tuple; of a sharding of one tensor, itself."""
    inner = text.strip()
    if not inner.startswith("{") or not inner[1:].lstrip().startswith(("{", "/*")):
        return [inner]
    parts, depth, start, position = [], 0, 1, 1
    end = len(inner) - 1
    while position < end:
        if inner.startswith("/*", position):
            position = start = inner.find("*/", position) + 2
            continue
        depth += (inner[position] in "{[(") - (inner[position] in "}])")
        if inner[position] == "," and not depth:
            parts.append(inner[start:position].strip())
            start = position + 1
        position += 1
    return [*parts, inner[start:end].strip()]


# --- Import ---------------------------------------------------------------------------------------


def sharding_by_axes(op: Op, text: str, rank: int) -> TensorSharding | None:
    """The sharding with an inlined mesh that a text by mesh axes is; None if it may be ignored.

    As in XLA, `{replicated}` without a mesh is a placeholder. Raises DiagnosticError for others by devices.
    """
    if OPENING.match(text) is None:
        tiling = parse_tiling(op, text)
        if tiling != Uniform(Sharing.REPLICATED):
            message = f"sharding {text} is by devices, but those of the program are by mesh axes"
            raise op.error(message).help("convert the program with -xla-sdy-stablehlo-import-pipeline")
        return None
    try:
        parsed = parse_named_sharding(Source("<mhlo.sharding>", text), _UNUSED)
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None
    match parsed:
        case Maximal(device):
            return TensorSharding(Mesh((), (device,)))
        case UniformOnMesh():
            return parsed.of_rank(rank, _UNUSED).sharding.with_mesh(parsed.mesh)
    return parsed.sharding.with_mesh(parsed.mesh)


def shardings_by_axes(op: Op, text: str, types: Sequence[Type]) -> ShardingPerValue | None:
    """The shardings of the results of an operation; None if all may be ignored."""
    texts = leaves(text)
    if not types:
        # The maximal sharding of an operation without results.
        sharding = sharding_by_axes(op, texts[0], 0)
        return None if sharding is None else ShardingPerValue((sharding,))
    if len(texts) != len(types):
        raise op.error(f"sharding {text} is for {len(texts)} values, the operation has {len(types)} results")
    ranks = [rank_of(type) for type in types]
    shardings = [sharding_by_axes(op, text, rank) for text, rank in zip(texts, ranks, strict=True)]
    mesh = next((sharding.mesh_or_ref for sharding in shardings if sharding is not None), None)
    if mesh is None:
        return None
    return ShardingPerValue(
        tuple(
            [
                fully_replicated(rank, mesh, is_closed=False) if sharding is None else sharding
                for sharding, rank in zip(shardings, ranks, strict=True)
            ]
        )
    )


def manual_axes_of(op: Op, text: str) -> ManualAxes:
    """The manual axes in a sharding by mesh axes; of a tuple, in that of the first element."""
    try:
        parsed = parse_named_sharding(Source("<mhlo.sharding>", leaves(text)[0]), _UNUSED)
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None
    match parsed:
        case UniformOnMesh():
            return ManualAxes(parsed.of_rank(0, _UNUSED).manual_axes)
        case ShardingOnMesh():
            return ManualAxes(parsed.manual_axes)
    return ManualAxes()


def parse_tiling(op: Op, text: str) -> Tiling:
    """The tiling of a sharding by devices. Raises DiagnosticError."""
    try:
        return parse_gspmd(Source("<mhlo.sharding>", text))
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None


def _invalid(op: Op, text: str, error: DiagnosticError) -> DiagnosticError:
    return op.error(f"invalid sharding {text}: " + error.diagnostic.message)


# --- Export ---------------------------------------------------------------------------------------


def hlo_text(sharding: TensorSharding, mesh: Mesh, manual_axes: Sequence[str], by_axes: bool) -> str:
    """The text of a sharding in HLO."""
    names = tuple([axis.name for axis in mesh.axes if axis.name in manual_axes])
    is_manual = bool(names) and len(names) == len(mesh.axes)
    if not by_axes:
        if is_manual:
            return gspmd_text(Uniform(Sharing.MANUAL))
        text = gspmd_text(tiling_of(ShardingOnMesh(sharding, mesh, names)))
        names_kind = bool(sharding.unreduced_axes) and Behavior.REDUCTION_KINDS.active
        return text[:-1] + _kind_text(sharding) if names_kind else text
    if mesh.is_maximal:
        return named_sharding_text(ShardingOnMesh(sharding, mesh))
    if is_manual:
        return named_sharding_text(ShardingOnMesh(_without_dimensions(mesh), mesh, names))
    if not names and not any(True for _ in sharding.axis_refs) and sharding.is_fully_closed:
        return named_sharding_text(ShardingOnMesh(_without_dimensions(Mesh()), Mesh()))
    return named_sharding_text(ShardingOnMesh(sharding, mesh, names))


def _kind_text(sharding: TensorSharding) -> str:
    """The metadata by which a sharding by devices says how partial results are combined."""
    kind = sharding.reduction.name
    return f' metadata={{op_type="sdy::reduction_op" op_name="{kind}"}}}}'


def _without_dimensions(mesh_or_ref: MeshOrRef) -> TensorSharding:
    return TensorSharding(mesh_or_ref)


def tuple_text(texts: Sequence[str]) -> str:
    """The text of the sharding of a tuple."""
    numbered = [
        f"/*index={index}*/{text}" if index and index % _NUMBERED == 0 else text
        for index, text in enumerate(texts)
    ]
    return f"{{{', '.join(numbered)}}}"

"""The encodings of sdy attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.mlir.bytecode.builtin_encodings import NAME
from sdyopt.mlir.bytecode.encodings import (
    ATTRIBUTE,
    BOOL,
    SIGNED,
    SIGNED_LIST,
    STRING,
    Codec,
    DialectEncodings,
    EntryReader,
    EntryWriter,
    attribute_of,
    listed,
    optional_attribute_of,
)
from sdyopt.mlir.dialects.sdy.axes import (
    AllToAllParam,
    AllToAllParams,
    AxesPerDim,
    AxisRef,
    AxisRefList,
    ManualAxes,
    SubAxis,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh, MeshAxis, axis_problem, mesh, mesh_problem
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef

sdy = DialectEncodings("sdy")


def _read_optional_number(reader: EntryReader) -> int | None:
    number, is_present = reader.flagged()
    return number if is_present else None


def _write_optional_number(writer: EntryWriter, value: int | None) -> None:
    writer.varint(0 if value is None else value << 1 | 1)


_OPTIONAL_NUMBER = Codec(_read_optional_number, _write_optional_number)
_AXES = listed(attribute_of(AxisRef))
_DIMENSIONS = listed(attribute_of(DimensionSharding))
_MAPPINGS = listed(attribute_of(TensorMapping))


def _axis(name: str, size: int) -> MeshAxis | str:
    axis = MeshAxis(name, size)
    return axis_problem(axis) or axis


def _mesh(axes: Sequence[MeshAxis], device_ids: Sequence[int]) -> Mesh | str:
    read = mesh(axes, device_ids)
    return mesh_problem(read) or read


def _sharding(
    mesh: Attribute,
    dims: tuple[DimensionSharding, ...],
    replicated: tuple[AxisRef, ...],
    unreduced: tuple[AxisRef, ...] = (),
    reduction: int = 0,
) -> TensorSharding | str:
    if not isinstance(mesh, Mesh) and not (isinstance(mesh, SymbolRef) and not mesh.nested):
        return "the mesh of a sharding is neither a mesh nor the name of one"
    if not 0 <= reduction < len(ReductionKind):
        return f"there is no kind of reduction with the number {reduction}"
    return TensorSharding(mesh, dims, replicated, unreduced, ReductionKind(reduction))


def _factors(reader: EntryReader) -> tuple[int, ...]:
    start = reader.position
    factors = SIGNED_LIST.read(reader)
    if any(factor < 0 for factor in factors):
        reader.fail(f"{min(factors)} is not the index of a factor", start)
    return factors


_FACTORS = Codec(_factors, SIGNED_LIST.write)


def _reduction_is(kind: bool) -> Any:
    return lambda sharding: (
        bool(sharding.unreduced_axes) and (sharding.reduction is ReductionKind.SUM) == kind
    )


sdy.attribute(0, ManualAxes, listed(NAME))
sdy.attribute(1, MeshAxis, STRING, SIGNED, make=_axis)
sdy.attribute(2, Mesh, listed(attribute_of(MeshAxis)), SIGNED_LIST, make=_mesh)
sdy.attribute(3, SubAxis, SIGNED, SIGNED)
sdy.attribute(4, AxisRef, STRING, optional_attribute_of(SubAxis))
sdy.attribute(5, DimensionSharding, _AXES, BOOL, _OPTIONAL_NUMBER)
sdy.attribute(
    6,
    TensorSharding,
    ATTRIBUTE,
    _DIMENSIONS,
    _AXES,
    make=_sharding,
    applies=lambda sharding: not sharding.unreduced_axes,
)
sdy.attribute(
    7,
    ShardingPerValue,
    listed(attribute_of(TensorSharding)),
    applies=lambda shardings: not any(sharding.unreduced_axes for sharding in shardings.shardings),
)
sdy.attribute(8, DimMapping, _FACTORS)
sdy.attribute(9, TensorMapping, listed(attribute_of(DimMapping)))
sdy.attribute(
    10,
    OpShardingRule,
    *(SIGNED_LIST, _MAPPINGS, _MAPPINGS),
    *(_FACTORS, _FACTORS, _FACTORS, _FACTORS),
    BOOL,
)
sdy.attribute(11, AxisRefList, _AXES)
sdy.attribute(12, AxesPerDim, listed(attribute_of(AxisRefList)))
sdy.attribute(13, AllToAllParam, _AXES, SIGNED, SIGNED)
sdy.attribute(14, AllToAllParams, listed(attribute_of(AllToAllParam)))
sdy.attribute(
    15, TensorSharding, ATTRIBUTE, _DIMENSIONS, _AXES, _AXES, make=_sharding, applies=_reduction_is(True)
)
sdy.attribute(16, ShardingPerValue, listed(attribute_of(TensorSharding)))
sdy.attribute(
    17,
    TensorSharding,
    ATTRIBUTE,
    _DIMENSIONS,
    _AXES,
    _AXES,
    SIGNED,
    make=_sharding,
    applies=_reduction_is(False),
)

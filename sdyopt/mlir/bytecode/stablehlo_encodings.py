"""The encodings of attributes and types of StableHLO, and of CHLO and MHLO, most of which are the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdyopt.mlir.bytecode.builtin_encodings import DOUBLE
from sdyopt.mlir.bytecode.encodings import (
    ATTRIBUTE,
    BOOL,
    SIGNED,
    SIGNED_LIST,
    STRING,
    TYPE,
    WIDE_BOOL,
    DialectEncodings,
    attribute_of,
    listed,
    optional,
)
from sdyopt.mlir.dialects.chlo import broadcast
from sdyopt.mlir.dialects.mhlo import attributes
from sdyopt.mlir.dialects.mhlo.dialect import ResultAlias
from sdyopt.mlir.dialects.stablehlo.compare_select import ComparisonDirection, ComparisonType
from sdyopt.mlir.dialects.stablehlo.contraction import DotDimensions
from sdyopt.mlir.dialects.stablehlo.convolution import ConvDimensions
from sdyopt.mlir.dialects.stablehlo.custom_call import OutputOperandAlias
from sdyopt.mlir.dialects.stablehlo.elementwise import ResultAccuracy, ResultAccuracyMode
from sdyopt.mlir.dialects.stablehlo.gather import GatherDimensions, ScatterDimensions
from sdyopt.mlir.dialects.stablehlo.numerics import FftType, RngAlgorithm, RngDistribution, Transpose
from sdyopt.mlir.dialects.stablehlo.precision import DotAlgorithm, Precision
from sdyopt.mlir.dialects.stablehlo.replica_groups import (
    AxisRef,
    ChannelHandle,
    Mesh,
    MeshAxis,
    ReplicaGroupMeshAxes,
    SubAxisInfo,
)
from sdyopt.mlir.dialects.stablehlo.types import Bounds, FutureType, TokenType
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseElements

stablehlo = DialectEncodings("stablehlo")


def _mesh(axes: ArrayAttr, device_ids: DenseElements | None) -> Mesh | str:
    mesh_axes = [axis for axis in axes if isinstance(axis, MeshAxis)]
    if len(mesh_axes) != len(axes):
        return "an axis of a mesh is another attribute"
    return Mesh(tuple(mesh_axes), device_ids)


def _mesh_axes(mesh: Attribute, axes: tuple[Attribute, ...]) -> ReplicaGroupMeshAxes | str:
    if not isinstance(mesh, Mesh | SymbolRef):
        return "the mesh of replica groups is neither a mesh nor the name of one"
    return ReplicaGroupMeshAxes(mesh, ArrayAttr(axes))


def add_shared(dialect: DialectEncodings, classes: Mapping[str, type[Any]]) -> None:
    """Declares the encodings that StableHLO and MHLO share; `classes` has those of the dialect by name."""
    dialect.attribute(1, classes["ChannelHandle"], SIGNED, SIGNED)
    dialect.attribute(4, classes["ConvDimensions"], *(SIGNED, SIGNED, SIGNED_LIST) * 3)
    dialect.attribute(5, classes["DotDimensions"], *[SIGNED_LIST] * 4)
    dialect.attribute(7, classes["GatherDimensions"], *[SIGNED_LIST] * 5, SIGNED)
    dialect.attribute(11, classes["ScatterDimensions"], *[SIGNED_LIST] * 5, SIGNED)
    for code, name in _SHARED_ENUMS.items():
        dialect.enum(code, classes[name], first=int(name == "RngDistribution"))


_SHARED_ENUMS = {
    2: "ComparisonDirection",
    3: "ComparisonType",
    6: "FftType",
    8: "Precision",
    9: "RngAlgorithm",
    10: "RngDistribution",
    12: "Transpose",
}

_CLASSES: tuple[type[Any], ...] = (
    *(ChannelHandle, ComparisonDirection, ComparisonType, ConvDimensions, DotDimensions, FftType),
    *(GatherDimensions, Precision, RngAlgorithm, RngDistribution, ScatterDimensions, Transpose),
)
add_shared(stablehlo, {encoded.__name__: encoded for encoded in _CLASSES})
stablehlo.attribute(13, Bounds, SIGNED_LIST)
stablehlo.attribute(14, OutputOperandAlias, SIGNED_LIST, SIGNED, SIGNED_LIST)
stablehlo.attribute(15, DotAlgorithm, TYPE, TYPE, TYPE, SIGNED, SIGNED, SIGNED, BOOL)
stablehlo.enum(16, ResultAccuracyMode)
stablehlo.attribute(17, ResultAccuracy, DOUBLE, DOUBLE, SIGNED, attribute_of(ResultAccuracyMode))
stablehlo.attribute(
    18,
    ReplicaGroupMeshAxes,
    ATTRIBUTE,
    listed(ATTRIBUTE),
    make=_mesh_axes,
    take=lambda groups: (groups.mesh, groups.axes.elements),
)
stablehlo.attribute(19, SubAxisInfo, SIGNED, SIGNED)
stablehlo.attribute(20, AxisRef, STRING, optional(BOOL, attribute_of(SubAxisInfo)))
stablehlo.attribute(21, MeshAxis, STRING, SIGNED)
stablehlo.attribute(
    22,
    Mesh,
    attribute_of(ArrayAttr),
    optional(BOOL, attribute_of(DenseElements)),
    make=_mesh,
    take=lambda mesh: (ArrayAttr(mesh.axes), mesh.device_ids),
)
stablehlo.type(0, TokenType)
stablehlo.type(1, FutureType, listed(TYPE))

chlo = DialectEncodings("chlo")
chlo.enum(0, broadcast.ComparisonDirection)
chlo.enum(1, broadcast.ComparisonType)

mhlo = DialectEncodings("mhlo")
mhlo.attribute(0, ResultAlias, SIGNED_LIST, SIGNED, SIGNED_LIST, WIDE_BOOL)
add_shared(mhlo, vars(attributes))
mhlo.attribute(13, attributes.TypeExtensions, SIGNED_LIST)
mhlo.enum(14, attributes.DomainKind)
mhlo.enum(15, attributes.FusionKind)
mhlo.attribute(16, attributes.OutputOperandAlias, SIGNED_LIST, SIGNED, SIGNED_LIST)
mhlo.enum(17, attributes.ResultAccuracyMode)
_MODE = attribute_of(attributes.ResultAccuracyMode)
mhlo.attribute(18, attributes.ResultAccuracy, DOUBLE, DOUBLE, SIGNED, _MODE)
mhlo.type(0, attributes.TokenType)
mhlo.type(1, attributes.AsyncBundle, listed(TYPE))

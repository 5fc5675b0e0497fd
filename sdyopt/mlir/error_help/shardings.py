"""Explanations of errors in shardings that look at the mesh."""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.asm.lexical import symbol_text
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.error_help.table import (
    Case,
    ErrorExplanation,
    did_you_mean,
    explains,
    listed,
    sentences,
    text,
)
from sdyopt.mlir.ir.attribute import nested_attributes
from sdyopt.mlir.ir.operation import Op


@explains("axis")
def _unknown_axis(case: Case) -> str:
    return _axis_help(case, case["axis"])


@explains("mesh order")
def _not_in_mesh_order(case: Case) -> str:
    sharding = next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    axes = "" if mesh is None else f": {_axes(mesh).removeprefix('the axes ')}"
    return case.message.kind.help + axes


@explains("local shape")
def _local_shape(case: Case) -> str | ErrorExplanation:
    # The verifier checks the shapes before the names of the axes.
    axis = _undefined_manual_axis(case.op)
    return "" if axis is None else ErrorExplanation([text(f'"{axis}"')], _axis_help(case, axis))


def _axis_help(case: Case, axis: str) -> str:
    sharding = next((s for s in _shardings(case.op) if any(a.name == axis for a in s.axis_refs)), None)
    sharding = sharding or next(_shardings(case.op), None)
    mesh = None if sharding is None or case.op is None else mesh_of(sharding, case.op)
    if mesh is None or sharding is None:
        return ""
    names = [axis.name for axis in mesh.axes]
    return sentences(
        did_you_mean(axis, names, lambda name: f'"{name}"'), f"{_mesh_name(sharding)} has {_axes(mesh)}"
    )


def _shardings(op: Op | None) -> Iterator[TensorSharding]:
    """The shardings in the attributes of an operation."""
    if op is not None:
        for dictionary in (op.inherent_attributes(), op.attributes):
            for nested_attribute in nested_attributes(dictionary):
                if isinstance(nested_attribute, TensorSharding):
                    yield nested_attribute


def _mesh_name(sharding: TensorSharding) -> str:
    return "the mesh" if sharding.mesh_name is None else symbol_text(sharding.mesh_name)


def _axes(mesh: Mesh) -> str:
    if not mesh.axes:
        return "no axes"
    axes = listed(f'"{axis.name}"={axis.size}' for axis in mesh.axes)
    return f"the axes {axes}"


def _undefined_manual_axis(op: Op | None) -> str | None:
    """The first manual axis that the mesh lacks."""
    sharding = next(_shardings(op), None)
    mesh = None if sharding is None or op is None else mesh_of(sharding, op)
    if op is None or mesh is None:
        return None
    manual = (
        nested_attribute
        for nested_attribute in nested_attributes(op.inherent_attributes())
        if isinstance(nested_attribute, ManualAxes)
    )
    known = {axis.name for axis in mesh.axes}
    return next((name for axes in manual for name in axes.names if name not in known), None)

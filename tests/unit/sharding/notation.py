"""Reads and writes examples in sdy's own syntax, so that they can be checked on paper.

    ADD = read_rule("([i, j], [i, j])->([i, j]) {i=8, j=8}")
    read_sharding('[{"x", ?}, {}]')

A sharding is written without its mesh; `NONE` stands for a missing sharding.
"""

from __future__ import annotations

from functools import cache

from sdyopt.mlir.dialects.sdy.axes import axis_refs_text
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, sharding_text
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.shardy.sharding.axis_lists import Axes
from tests.simulation.programs import read_unverified

NONE = "none"


@cache
def _attribute(text: str) -> Attribute:
    return read_unverified(f"module attributes {{attribute = {text}}} {{}}").attributes["attribute"]


def read_mesh(text: str) -> Mesh:
    """The mesh of `"x"=4, "y"=2`."""
    mesh = _attribute(f"#sdy.mesh<[{text}]>")
    assert isinstance(mesh, Mesh)
    return mesh


def read_rule(text: str) -> OpShardingRule:
    """The rule of `([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}`."""
    rule = _attribute(f"#sdy.op_sharding_rule<{text}>")
    assert isinstance(rule, OpShardingRule)
    return rule


def read_sharding(text: str, mesh: str = "@mesh") -> TensorSharding | None:
    """The sharding of `[{"x", ?}, {}], replicated={"y"}`; None for `NONE`."""
    if text == NONE:
        return None
    sharding = _attribute(f"#sdy.sharding<{mesh}, {text}>")
    assert isinstance(sharding, TensorSharding)
    return sharding


def write_sharding(sharding: TensorSharding | None) -> str:
    """The reverse of `read_sharding`."""
    return NONE if sharding is None else sharding_text(sharding)[1:-1].partition(", ")[2]


def read_axes(text: str) -> Axes:
    """The axes of `"x", "y":(1)2`."""
    sharding = read_sharding(f"[{{{text}}}]")
    assert sharding is not None
    return sharding.dims[0].axes


def write_axes(axes: Axes) -> str:
    """The reverse of `read_axes`."""
    return axis_refs_text(axes)

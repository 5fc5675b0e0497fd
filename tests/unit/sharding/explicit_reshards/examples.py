"""Runs the steps of explicit reshards on examples in the notation of the tests."""

from __future__ import annotations

from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.shardy.sharding.axis_lists import Axes
from sdyopt.shardy.sharding.sharding_projection import TensorProjection, project
from tests.unit.sharding.notation import read_sharding, write_axes


def project_all(rule: OpShardingRule, mesh: Mesh, shardings: tuple[str, ...]) -> list[TensorProjection]:
    return project(rule, [read_sharding(text) for text in shardings], mesh)


def tensor_sizes(rule: OpShardingRule) -> list[int]:
    """The number of elements of each operand and result."""
    return [_size(rule, mapping) for mapping in rule.tensors]


def _size(rule: OpShardingRule, mapping: TensorMapping) -> int:
    size = 1
    for dim in mapping.dims:
        for factor in dim.factors:
            size *= rule.factor_sizes[factor]
    return size


def by_factor(axes: list[Axes]) -> dict[str, str]:
    """The axes of the factors i, j, k and so on, as text."""
    return {chr(ord("i") + factor): write_axes(each) for factor, each in enumerate(axes)}

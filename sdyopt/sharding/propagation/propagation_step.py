"""One step of propagation: from the shardings of an operation's operands and results to better ones.

A step is a function of facts alone: the rule, the shardings, and what kind of step it is. A program has
many operations and few different steps, so each is worked out once, and then looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import DimMapping, OpShardingRule, TensorMapping
from sdyopt.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.sharding.propagation.aggressive_factor_propagation import propagate_aggressive
from sdyopt.sharding.propagation.basic_factor_propagation import propagate_basic
from sdyopt.sharding.propagation.factor_propagation import FactorPropagation
from sdyopt.sharding.propagation.propagation_direction import Policy, directions
from sdyopt.sharding.sharding_projection import TensorProjection, project, unproject

Shardings = Sequence[TensorSharding | None]
# The operands and results that get another sharding, by number.
Changes = tuple[tuple[int, TensorSharding], ...]


class Strategy(Enum):
    """How a step resolves conflicts."""

    BASIC = "basic"
    AGGRESSIVE = "aggressive"

    __hash__ = object.__hash__


_PROPAGATE: dict[Strategy, Callable[[FactorPropagation], None]] = {
    Strategy.BASIC: propagate_basic,
    Strategy.AGGRESSIVE: propagate_aggressive,
}


class StepKind(NamedTuple):
    """How a step is taken, apart from the rule."""

    policy: Policy
    strategy: Strategy
    is_elementwise: bool = False
    is_conservative: bool = False


class Step(NamedTuple):
    """What a step found, in full. Projections are those of operands, then of results."""

    mesh: Mesh
    before: list[TensorProjection]
    after: list[TensorProjection]
    changes: Changes


class Steps:
    """Takes steps in one program, whose meshes `mesh_of` knows."""

    def __init__(self, mesh_of: Callable[[MeshOrRef], Mesh | None]) -> None:
        self._mesh_of = cache(mesh_of)
        self._directions = cache(directions)
        self._known: dict[StepKind, dict[object, Changes]] = {}

    def known(self, kind: StepKind) -> dict[object, Changes]:
        """The changes of steps of a kind. The caller decides on the key and adds what is missing."""
        return self._known.setdefault(kind, {})

    def changes(self, kind: StepKind, rule: OpShardingRule, shardings: Shardings) -> Changes:
        """Which operands and results get another sharding."""
        if all(sharding is None for sharding in shardings):
            return ()
        step = self.take(kind, rule, shardings)
        return () if step is None else step.changes

    def take(self, kind: StepKind, rule: OpShardingRule, shardings: Shardings) -> Step | None:
        """Takes a step; None if there is nothing to do, or the shardings speak of different meshes."""
        mesh_or_ref = self._common_mesh(shardings)
        mesh = None if mesh_or_ref is None else self._mesh_of(mesh_or_ref)
        if mesh_or_ref is None or mesh is None or mesh.is_maximal:
            return None
        if any(
            s is not None and s.rank != mapping.rank
            for s, mapping in zip(shardings, rule.tensors, strict=True)
        ):
            # Only a group of tensors that are not alike comes to this; the verifier will say so.
            return None
        tensors = project(rule, shardings, mesh)
        before = [tensor.copy() for tensor in tensors]
        count = len(rule.operands)
        _PROPAGATE[kind.strategy](
            FactorPropagation(
                rule.factor_sizes,
                self._directions(kind.policy, rule),
                tensors[:count],
                tensors[count:],
                mesh,
                kind.is_elementwise,
                kind.is_conservative,
            )
        )
        changes = []
        for number, mapping in enumerate(rule.tensors):
            if tensors[number].factors != before[number].factors:
                new = unproject(tensors[number], mapping, rule.factor_sizes, mesh_or_ref, mesh)
                old = shardings[number]
                if new is not old and (old is not None or any(new.axis_refs)):
                    changes.append((number, new))
        return Step(mesh, before, tensors, tuple(changes))

    def _common_mesh(self, shardings: Shardings) -> MeshOrRef | None:
        """How the first sharding speaks of the mesh on which all agree; an empty mesh agrees with any."""
        common: MeshOrRef | None = None
        mesh: Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            other = self._mesh_of(sharding.mesh_or_ref)
            if mesh is None or mesh.is_empty:
                mesh, common = other, sharding.mesh_or_ref
            elif other is not None and not other.is_empty and other is not mesh:
                return None
        return common


def identity_rule(shape: tuple[int, ...], operand_count: int, result_count: int = 1) -> OpShardingRule:
    """The rule by which each dimension of all operands and results is a factor."""
    mapping = TensorMapping(tuple([DimMapping((dim,)) for dim in range(len(shape))]))
    return OpShardingRule(shape, (mapping,) * operand_count, (mapping,) * result_count)

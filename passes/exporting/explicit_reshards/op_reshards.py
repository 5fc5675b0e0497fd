"""Remedies: what has to be done so that one operation and all around it agree on the shardings.

A remedy follows from facts: the operation's form, its rule, and the shardings of its operands and results.
A program has many operations and few different cases, so each is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sdyopt.dialects.sdy.axes import difference, sorted_and_merged
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.sharding import MeshOrRef, TensorSharding
from sdyopt.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import RankedShape, Type
from sdyopt.sharding.axis_lists import Axes
from sdyopt.sharding.explicit_reshards.common_axes import common_factor_axes, find_common_axes
from sdyopt.sharding.explicit_reshards.dot_result import better_dot_result_axes
from sdyopt.sharding.explicit_reshards.reshape_overflow import find_common_reshape_axes, has_overflow
from sdyopt.sharding.sharding_projection import TensorProjection, project, unproject

Shardings = tuple[TensorSharding | None, ...]
# (rule, projections, sizes, mesh) -> the axes of each factor
Agree = Callable[[OpShardingRule, Sequence[TensorProjection], Sequence[int], Mesh], list[Axes]]
_PRODUCTS = (DotOp, DotGeneralOp)


class OpReshards(NamedTuple):
    """Operands to reshard, results to give another sharding and to reshard behind it, and axes to sum over.

    Where a result has no sharding, it counts as replicated over the mesh.
    """

    mesh_or_ref: MeshOrRef
    operands: tuple[tuple[int, TensorSharding], ...] = ()
    results: tuple[tuple[int, TensorSharding], ...] = ()
    reduced_axes: Axes = ()


class OpShardings(NamedTuple):
    """All that a remedy follows from. Shardings are of operands, then results, seen through barriers.

    `source` is that of the first operand itself, where that makes a difference.
    """

    signature: OpSignature
    rule: OpShardingRule
    shardings: Shardings
    source: TensorSharding | None = None


class IncompatibleReductionError(Exception):
    """A result is not reduced yet along axes on which the operands do not agree."""


class OpReshardsFinder:
    """The remedies of one program, whose meshes `mesh_of` knows. `agree` decides between tensors."""

    def __init__(
        self, mesh_of: Callable[[MeshOrRef], Mesh | None], find_common_axes: Agree = find_common_axes
    ) -> None:
        self._mesh_of = mesh_of
        self._agree = find_common_axes
        self._known: dict[tuple[OpShardings, bool], OpReshards | None] = {}

    def of(self, case: OpShardings, in_full: bool) -> OpReshards | None:
        """The remedy, None if nothing has to be done. If not in full, only for some things that never pay."""
        key = case, in_full
        try:
            return self._known[key]
        except KeyError:
            reshards = self._known[key] = self._find(case, in_full)
            return reshards

    def _find(self, case: OpShardings, in_full: bool) -> OpReshards | None:
        mesh_or_ref = self._best_mesh(case.shardings)
        mesh = None if mesh_or_ref is None else self._mesh_of(mesh_or_ref)
        if mesh_or_ref is None or mesh is None or mesh.is_maximal:
            return None
        find = self._in_full if in_full else _unreduced_and_dot_only
        reshards = find(case, mesh_or_ref, mesh)
        return reshards if any(reshards[1:]) else None

    def _in_full(self, case: OpShardings, mesh_or_ref: MeshOrRef, mesh: Mesh) -> OpReshards:
        rule, shardings = case.rule, case.shardings
        tensors = project(rule, shardings, mesh, closed_if_missing=True)
        before = [tensor.copy() for tensor in tensors]
        is_overflowing = any(map(has_overflow, tensors))
        is_reshape = is_overflowing and issubclass(case.signature.op_class, ReshapeOp)
        if is_reshape:
            axes = find_common_reshape_axes(rule, tensors, mesh_or_ref, mesh)
        else:
            axes = self._agree(rule, tensors, sizes_of(case.signature), mesh)
            _split(tensors, axes)
        changes = []
        for number, (tensor, mapping) in enumerate(zip(tensors, rule.tensors, strict=True)):
            old = shardings[number]
            if is_reshape:
                new = unproject(tensor, mapping, rule.factor_sizes, mesh_or_ref, mesh)
                is_changed = not new.is_equivalent(old if number else case.source)
            else:
                is_changed = tensor.factors != before[number].factors
            if is_changed or self._is_ordered_otherwise(old, mesh):
                changes.append((number, unproject(tensor, mapping, rule.factor_sizes, mesh_or_ref, mesh)))
        reduction = tuple([axis for factor in rule.reduction for axis in axes[factor]])
        return _op_reshards(case, mesh_or_ref, mesh, changes, reduction)

    # --- Meshes -----------------------------------------------------------------------------------

    def _best_mesh(self, shardings: Shardings) -> MeshOrRef | None:
        """Of meshes that differ in the order of devices at most, that of most shardings that split."""
        found = self._common_mesh(shardings)
        if found is None:
            return None
        best, most = found, 0
        counts: Counter[MeshOrRef] = Counter()
        for sharding in shardings:
            if sharding is not None and not sharding.is_fully_replicated:
                counts[sharding.mesh_or_ref] += 1
                if counts[sharding.mesh_or_ref] > most:
                    best, most = sharding.mesh_or_ref, counts[sharding.mesh_or_ref]
        return best

    def _common_mesh(self, shardings: Shardings) -> MeshOrRef | None:
        """How one of the shardings speaks of the mesh, best one with its devices in order.

        Empty meshes do not count; None if there are none or if axes differ.
        """
        common: MeshOrRef | None = None
        mesh: Mesh | None = None
        for sharding in shardings:
            if sharding is None:
                continue
            other = self._mesh_of(sharding.mesh_or_ref)
            if other is None:
                return None
            if mesh is not None and not mesh.is_empty:
                if other.is_empty:
                    continue
                if other.axes != mesh.axes or other.is_maximal != mesh.is_maximal:
                    return None
                if other.device_ids:
                    continue
            mesh, common = other, sharding.mesh_or_ref
        return common

    def _is_ordered_otherwise(self, sharding: TensorSharding | None, mesh: Mesh) -> bool:
        """Whether a sharding splits over devices in another order."""
        if sharding is None or sharding.is_fully_replicated:
            return False
        other = self._mesh_of(sharding.mesh_or_ref)
        return other is not None and other.device_ids != mesh.device_ids


def _unreduced_and_dot_only(case: OpShardings, mesh_or_ref: MeshOrRef, mesh: Mesh) -> OpReshards:
    rule, signature = case.rule, case.signature
    is_product = issubclass(signature.op_class, _PRODUCTS)
    first = _first_result(case)
    if not is_product and (first is None or not first.unreduced_axes):
        return OpReshards(mesh_or_ref)
    tensors = project(rule, case.shardings, mesh, closed_if_missing=True)
    changes = []
    if is_product:
        better = better_dot_result_axes(rule, tensors, sizes_of(signature))
        if better is not None:
            result = tensors[2].copy()
            result.set_axes(*better)
            changes.append((2, unproject(result, rule.results[0], rule.factor_sizes, mesh_or_ref, mesh)))
    reduction: Axes = ()
    if first is not None and first.unreduced_axes:
        for factor in rule.reduction:
            axes = common_factor_axes(tensors, factor)
            if axes is None:
                raise IncompatibleReductionError
            reduction += axes
    return _op_reshards(case, mesh_or_ref, mesh, changes, reduction)


def _op_reshards(
    case: OpShardings,
    mesh_or_ref: MeshOrRef,
    mesh: Mesh,
    changes: list[tuple[int, TensorSharding]],
    reduction: Axes,
) -> OpReshards:
    """`changes` number operands and results together; `reduction` are the axes that split reductions."""
    count = len(case.rule.operands)
    first = _first_result(case)
    unreduced = () if first is None else first.unreduced_axes
    return OpReshards(
        mesh_or_ref,
        tuple([change for change in changes if change[0] < count]),
        tuple([(number - count, sharding) for number, sharding in changes if number >= count]),
        sorted_and_merged(difference(reduction, unreduced, mesh), mesh),
    )


def _first_result(case: OpShardings) -> TensorSharding | None:
    return next(iter(case.shardings[len(case.rule.operands) :]), None)


def _split(tensors: list[TensorProjection], axes: list[Axes]) -> None:
    for tensor in tensors:
        for factor, split in tensor.factors.items():
            if split.overflow_axes or split.axes != axes[factor]:
                tensor.factors[factor] = split._replace(axes=axes[factor], overflow_axes=())


def sizes_of(signature: OpSignature) -> list[int]:
    """The numbers of elements of operands and results; 0 where nobody knows."""
    return [_size(type) for type in (*signature.operand_types, *signature.result_types)]


def _size(type: Type) -> int:
    return type.num_elements if isinstance(type, RankedShape) and type.has_static_shape else 0

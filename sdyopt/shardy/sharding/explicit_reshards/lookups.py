"""Finds how XLA's SPMD partitioner computes a gather or scatter.

    table [{"model"}, {"data"}]    indices [{"data"}, {}]    rows [{"data"}, {}, {}]

XLA forms groups of devices, each of which computes a part of the operation, and divides each group further,
until nothing is sharded within a group. There are four ways to form groups:

- along the axes of batching dimensions, which all tensors have: always first;
- along the axes of the features, those dimensions of the table that rows have whole;
- along the axes of the dimensions that are looked up: rows are summed up between groups;
- along the axes of the batch, the dimensions of the indices: updates are summed up between groups.

It takes the way that needs least memory if groups are not divided further: that of the operation, or of the
largest collective that reshards a tensor for it. Among equal ones, the one that sends least. Of a tensor that
is not sharded along the axes of the groups, each group keeps as many shards as there are devices for, along
other axes: indices that are sharded along "data" are, in groups along "data", sharded along "model".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import gcd, prod

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.mlir.dialects.sdy.axes import AxisRef, difference
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllSliceOp, CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, TensorSharding
from sdyopt.mlir.dialects.stablehlo.gather import GatherOp
from sdyopt.mlir.dialects.stablehlo.scatter import ScatterOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import ComplexType, FloatType, IntegerType, RankedTensor, Type
from sdyopt.shardy.sharding.axis_lists import (
    Axes,
    major_sub_axis,
    overlap,
    prefix_without_overlap,
    sharded_size,
)
from sdyopt.shardy.sharding.reshard_to_collectives.plan import plan_as_partitioner, shard_elements
from sdyopt.shardy.sharding.sharding_projection import TensorProjection

# The axes of each factor of a tensor.
_Factors = dict[int, Axes]
_TABLE, _INDICES, _ROWS = range(3)


# The axes of each dimension, of each sharding of each operand and result.
Stages = tuple[tuple[tuple[Axes, ...], ...], ...]


class Lookup(NamedTuple):
    """How a gather or scatter is computed.

    `axes` are those of each factor. An operand or result has the shardings of its `stages` between the one
    that it is given with and the one that it is computed with, in the order of the program.
    """

    axes: list[Axes]
    stages: Stages


def find_stages(
    signature: OpSignature, rule: OpShardingRule, tensors: Sequence[TensorProjection], mesh: Mesh
) -> Stages:
    """The stages of each operand and result of an operation; none if it is no gather or scatter."""
    if not issubclass(signature.op_class, GatherOp | ScatterOp):
        return ()
    lookup = find_lookup(signature, rule, tensors, mesh)
    return () if lookup is None else lookup.stages


class _Groups(NamedTuple):
    """Groups of devices: the axes along which they differ, and those of factors between and within them.

    `summed`: results are summed up between these groups and those that they are parts of.
    """

    axes: Axes
    between: _Factors
    within: tuple[_Factors, ...]
    summed: bool = False

    def sharding(self, tensor: int) -> _Factors:
        """The axes of the factors of a tensor over all devices."""
        within = self.within[tensor]
        return {factor: self.between.get(factor, ()) + axes for factor, axes in within.items()}

    def whole_in_group(self, tensor: int) -> _Factors:
        """The same, if each device has what its group has of the tensor."""
        return {factor: self.between.get(factor, ()) for factor in self.within[tensor]}


def find_lookup(
    signature: OpSignature,
    rule: OpShardingRule,
    tensors: Sequence[TensorProjection],
    mesh: Mesh,
) -> Lookup | None:
    """How XLA computes a gather or scatter; None if it has several tables."""
    if len(rule.results) > 1 or any(len(dim.factors) != 1 for one in rule.tensors for dim in one.dims):
        return None
    return _Search(signature, rule, tensors, mesh).find()


class _Search:
    """The search for the groups of one operation."""

    def __init__(
        self, signature: OpSignature, rule: OpShardingRule, tensors: Sequence[TensorProjection], mesh: Mesh
    ) -> None:
        self._rule = rule
        self._mesh = mesh
        self._is_scatter = issubclass(signature.op_class, ScatterOp)
        all_types = (*signature.operand_types, *signature.result_types)
        # Those of a gather are the table, the indices and the result; a scatter's result is as its table.
        self._dims = [tuple([dim.factors[0] for dim in mapping.dims]) for mapping in rule.tensors]
        types = [type for type in all_types if isinstance(type, RankedTensor)]
        self._shapes = [type.shape for type in types]
        self._widths = [max(1, _bits(type.element) // 8) for type in types]
        table, indices, rows = (set(dims) for dims in self._dims[:3])
        self._batching = [factor for factor in self._dims[_ROWS] if factor in table and factor in indices]
        self._features = [factor for factor in self._dims[_ROWS] if factor in table - indices]
        self._batch = [factor for factor in self._dims[_ROWS] if factor in indices - table]
        self._looked_up = [
            factor
            for factor in self._dims[_TABLE]
            if factor not in rows and factor not in rule.need_replication
        ]
        self._given = [{factor: one.factors[factor].axes for factor in one.factors} for one in tensors]

    def find(self) -> Lookup:
        levels = [_Groups((), {}, tuple(self._given[:3]))]
        while ways := list(self._ways(levels[-1])):
            levels.append(self._best(levels[-1], ways))
        last = levels[-1]
        axes: list[Axes] = [()] * len(self._rule.factor_sizes)
        for factor, between in last.between.items():
            axes[factor] = between
        if not self._is_scatter:
            # What each device keeps of the rows that its group has looked up.
            for factor, kept in last.sharding(_ROWS).items():
                if factor not in self._rule.need_replication:
                    axes[factor] = kept
        stages = []
        for tensor in range(3 if self._is_scatter else 2):
            steps: list[_Factors] = []
            for groups, way in pairwise(levels):
                steps += [*self._between(tensor, groups, way), way.sharding(tensor)]
            stages.append(self._stages(tensor, steps))
        result = _TABLE if self._is_scatter else _ROWS
        stages.append(self._stages(result, [level.sharding(result) for level in levels[:0:-1]]))
        return Lookup(axes, tuple(stages))

    def _stages(self, tensor: int, shardings: Iterable[_Factors]) -> tuple[tuple[Axes, ...], ...]:
        dims = self._dims[tensor]
        return tuple([tuple([sharding[factor] for factor in dims]) for sharding in shardings])

    def _best(self, groups: _Groups, ways: Sequence[_Groups]) -> _Groups:
        """The way that XLA takes: along batching dimensions, if these are sharded, or the cheapest."""
        if any(groups.within[tensor][factor] for tensor in (_TABLE, _INDICES) for factor in self._batching):
            return ways[0]
        return min(ways, key=lambda way: self._cost(groups, way))

    # --- Ways to form groups ---

    def _ways(self, groups: _Groups) -> Iterator[_Groups]:
        """The ways to divide groups."""
        table, indices, rows = groups.within
        if any(table[factor] or indices[factor] for factor in self._batching):
            yield self._along_batching(groups)
        if any(table[factor] for factor in self._features):
            chosen = {factor: table[factor] for factor in self._features if table[factor]}
            yield self._divided(groups, chosen, rows=_merged(rows, chosen))
        if any(table[factor] for factor in self._looked_up):
            yield self._along_looked_up(groups)
        is_combined = not self._is_scatter or all(factor in self._rule.reduction for factor in self._batch)
        of_rows = {factor: rows[factor] for factor in self._batch}
        merged = _merged(of_rows, indices)
        further = indices if merged is None else {**indices, **of_rows, **_without_empty(indices)}
        if is_combined and any(further[factor] for factor in self._batch):
            chosen = {factor: further[factor] for factor in self._batch if further[factor]}
            kept = {factor: axes for factor, axes in further.items() if factor not in chosen}
            yield self._divided(
                groups, chosen, indices=kept, rows=_merged(rows, chosen), summed=self._is_scatter
            )

    def _along_batching(self, groups: _Groups) -> _Groups:
        table, indices, rows = groups.within
        of_table, of_indices = (
            {factor: one[factor] for factor in self._batching if one[factor]} for one in (table, indices)
        )
        chosen = max(of_indices, of_table, key=lambda one: self._size(one))
        used = [axis for axes in chosen.values() for axis in axes]
        kept_table, kept_indices = (
            {
                factor: () if factor in self._batching or overlap(axes, used) else axes
                for factor, axes in one.items()
            }
            for one in (table, indices)
        )
        of_rows: _Factors = dict.fromkeys(rows, ())
        of_rows.update({factor: kept_indices[factor] for factor in self._batch})
        features = {factor: kept_table[factor] for factor in self._features}
        if _merged(of_rows, features) is not None:
            of_rows.update(features)
        return self._divided(groups, chosen, table=kept_table, indices=kept_indices, rows=of_rows)

    def _along_looked_up(self, groups: _Groups) -> _Groups:
        table, indices, rows = groups.within
        chosen = {factor: table[factor] for factor in self._looked_up if table[factor]}
        kept_indices = self._regrouped(groups, indices, chosen, self._batch)
        kept_rows = self._regrouped(groups, rows, chosen, (*self._batch, *self._features))
        if any(kept_indices.values()) and not any(kept_rows.values()):
            of_indices = {factor: indices.get(factor, ()) for factor in rows}
            kept_rows = self._regrouped(groups, of_indices, chosen, (*self._batch, *self._features))
        elif any(kept_rows.values()) and not any(kept_indices.values()):
            of_rows = {factor: rows.get(factor, ()) for factor in indices}
            kept_indices = self._regrouped(groups, of_rows, chosen, self._batch)
        return self._divided(
            groups, chosen, indices=kept_indices, rows=kept_rows, summed=not self._is_scatter
        )

    def _divided(
        self,
        groups: _Groups,
        chosen: _Factors,
        table: _Factors | None = None,
        indices: _Factors | None = None,
        rows: _Factors | None = None,
        summed: bool = False,
    ) -> _Groups:
        """Groups that are divided along the axes of some factors.

        Without a sharding within the new groups, the table and the indices keep as much as there are devices
        for, and rows nothing.
        """
        old_table, old_indices, old_rows = groups.within
        if table is None and any(factor in self._batch for factor in chosen):
            table = self._regrouped(groups, old_table, chosen, (*self._looked_up, *self._features))
        if indices is None:
            indices = self._regrouped(groups, old_indices, chosen, self._batch)
        within = []
        for old, new in (old_table, table), (old_indices, indices), (old_rows, rows):
            if new is None:
                new = old if old is old_table else {}
            within.append({factor: () if factor in chosen else new.get(factor, ()) for factor in old})
        between = dict(groups.between)
        for factor, axes in chosen.items():
            between[factor] = between.get(factor, ()) + axes
        added = tuple([axis for axes in chosen.values() for axis in axes])
        return _Groups(groups.axes + added, between, tuple(within), summed)

    def _regrouped(
        self, groups: _Groups, sharding: _Factors, chosen: _Factors, order: Sequence[int]
    ) -> _Factors:
        """The sharding of a tensor within new groups that it is not sharded along.

        Factors of `order` lose shards, the first ones first, if there are not enough devices that have the
        same shard.
        """
        mesh = self._mesh
        taken = tuple([axis for axes in chosen.values() for axis in axes])
        rest = self._left((*groups.axes, *taken))
        sizes = {factor: sharded_size(axes, mesh) for factor, axes in sharding.items()}
        devices = mesh.total_size // sharded_size(groups.axes, mesh)
        count, copies = sharded_size(taken, mesh), devices // prod(sizes.values())
        if copies % count:
            needed = count // copies if count % copies == 0 else 0
            for factor in order if needed else ():
                size = sizes[factor]
                if needed % size == 0:
                    needed //= size
                    sizes[factor] = 1
                elif size % needed == 0:
                    sizes[factor] = size // needed
                    needed = 1
            if needed != 1:
                return dict.fromkeys(sharding, ())
        kept: _Factors = {}
        for factor, axes in sharding.items():
            is_same = sizes[factor] == sharded_size(axes, mesh)
            kept[factor] = axes if is_same and not overlap(axes, taken) else ()
        for factor in sharding:
            left = sizes[factor] // sharded_size(kept[factor], mesh)
            for axis in rest:
                size = gcd(left, axis.size(mesh))
                if size > 1 and not any(overlap((axis,), used) for used in kept.values()):
                    whole = size == axis.size(mesh)
                    kept[factor] += (axis if whole else major_sub_axis(axis, size),)
                    left //= size
        return kept

    def _left(self, used: Axes) -> tuple[AxisRef, ...]:
        """The axes of the mesh that are not used."""
        return difference([AxisRef(axis.name) for axis in self._mesh.axes], used, self._mesh)

    def _size(self, sharding: _Factors) -> int:
        return prod([sharded_size(axes, self._mesh) for axes in sharding.values()])

    # --- What a way costs ---

    def _cost(self, groups: _Groups, way: _Groups) -> tuple[int, int]:
        """The largest memory that an operation takes, and the bytes that collectives send."""
        memory, sent = [0], [0]

        def reshard(tensor: int, *shardings: _Factors) -> None:
            for before, after in pairwise(shardings):
                for taken, bytes_sent in self._collectives(tensor, before, after):
                    memory.append(taken)
                    sent.append(bytes_sent)

        for tensor in (_TABLE, _INDICES, *((_ROWS,) if self._is_scatter else ())):
            reshard(
                tensor,
                groups.sharding(tensor),
                *self._between(tensor, groups, way),
                way.sharding(tensor),
                way.whole_in_group(tensor),
            )
        memory.append(sum([self._bytes(tensor, way.whole_in_group(tensor)) for tensor in range(3)]))
        result = _TABLE if self._is_scatter else _ROWS
        if way.summed:
            memory.append(self._bytes(result, way.sharding(result)))
            # Along the axes of a dimension by itself.
            sent.append(
                2 * memory[-1] * len([f for f in way.between if way.between[f] != groups.between.get(f)])
            )
        reshard(result, way.sharding(result), groups.sharding(result))
        return max(memory), sum(sent)

    def _between(self, tensor: int, groups: _Groups, way: _Groups) -> Iterator[_Factors]:
        """A sharding through which an operand is resharded for groups, if any.

        XLA gathers given updates before all of their axes move to other dimensions, unless these are all
        axes of the mesh.
        """
        before, after = groups.sharding(tensor), way.sharding(tensor)
        size = self._size(before)
        if (
            tensor == _ROWS
            and not groups.axes
            and not any(way.within[tensor].values())
            and size == self._size(after) < self._mesh.total_size
            and any(
                sharded_size(axes, self._mesh) != sharded_size(after[factor], self._mesh)
                for factor, axes in before.items()
            )
        ):
            yield dict.fromkeys(before, ())

    def _collectives(self, tensor: int, before: _Factors, after: _Factors) -> Iterator[tuple[int, int]]:
        """The memory that each collective of a reshard takes, and the bytes that it sends."""
        shape, width, mesh = self._shapes[tensor], self._widths[tensor], self._mesh
        source = self._tensor_sharding(tensor, before)
        for step in plan_as_partitioner(shape, source, self._tensor_sharding(tensor, after), mesh):
            sizes = [width * shard_elements(shape, one, mesh) for one in (source, step.sharding)]
            if step.op_class is AllGatherOp:
                # By dimension.
                for old, new in zip(source.dims, step.sharding.dims, strict=True):
                    count = old.sharded_size(mesh) // new.sharded_size(mesh)
                    if count > 1:
                        yield sizes[0] * (count + 1), sizes[0] * (count - 1)
                        sizes[0] *= count
            elif step.op_class is CollectivePermuteOp:
                yield sum(sizes), sizes[1]
            elif step.op_class is not AllSliceOp:
                moved = prod(
                    [
                        max(1, old.sharded_size(mesh) // new.sharded_size(mesh))
                        for old, new in zip(source.dims, step.sharding.dims, strict=True)
                    ]
                )
                yield sum(sizes), sizes[1] - sizes[1] // moved
            source = step.sharding

    def _tensor_sharding(self, tensor: int, sharding: _Factors) -> TensorSharding:
        dims = tuple([DimensionSharding(sharding[factor]) for factor in self._dims[tensor]])
        return TensorSharding(self._mesh, dims)

    def _bytes(self, tensor: int, sharding: _Factors) -> int:
        """The bytes of a shard."""
        elements = shard_elements(self._shapes[tensor], self._tensor_sharding(tensor, sharding), self._mesh)
        return self._widths[tensor] * elements


def _bits(element: Type) -> int:
    """The width of an element; that of an unknown one is 32."""
    if isinstance(element, ComplexType):
        return 2 * _bits(element.element)
    return element.width if isinstance(element, FloatType | IntegerType) else 32


def _without_empty(sharding: _Factors) -> _Factors:
    return {factor: axes for factor, axes in sharding.items() if axes}


def _merged(sharding: _Factors, other: _Factors) -> _Factors | None:
    """A sharding of a tensor, in dimensions where another one has none.

    Of each dimension, that is what comes before axes that the other one has elsewhere. None if that is
    nothing of a sharded dimension, or if a dimension is sharded otherwise.
    """
    used = [axis for axes in other.values() for axis in axes]
    merged = dict(other)
    for factor, axes in sharding.items():
        others = other.get(factor, ())
        if not others:
            merged[factor] = prefix_without_overlap(axes, used)
            if axes and not merged[factor]:
                return None
        elif axes and axes != others:
            return None
    return merged

"""Propagation sites: the operations along which shardings propagate, with their rules and sharding slots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, PropagationBarrierOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule, TensorMapping
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, with_manual_axes, without_manual_axes
from sdyopt.mlir.dialects.sdy.value_shardings import (
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    owning_op,
    sources_of_edge,
)
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.shapes import BroadcastInDimOp, ReshapeOp, TransposeOp
from sdyopt.mlir.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import BlockArgument, OpResult, Value
from sdyopt.shardy.record import FunctionResult
from sdyopt.shardy.sharding.op_sharding_rule_builder import is_elementwise
from sdyopt.shardy.sharding.op_sharding_rule_registry import is_rule_context_free, sharding_rule_of
from sdyopt.shardy.sharding.propagation.propagation_step import Shardings, identity_rule

from ...common.support.call_graph import callee_of
from .sharding_map import ShardingMap
from .worklist import DependentOps, OpCategory

_BARRIERS = (OpCategory.BARRIER_NONE, OpCategory.BARRIER_FORWARD, OpCategory.BARRIER_BACKWARD)
_OFFLOAD_TARGETS = ("MoveToDevice", "MoveToHost")


@dataclass(frozen=True, eq=False, slots=True)
class SiteKind:
    """The properties of a site that determine the kind of its steps in a round. Compared by identity."""

    category: OpCategory
    is_elementwise: bool
    is_conservative: bool


_SITE_KINDS = {key: SiteKind(*key) for key in product(OpCategory, (False, True), (False, True))}
SITE_KINDS = tuple(_SITE_KINDS.values())


class EdgeConversion(NamedTuple):
    """Converts the sharding of an edge into or out of a manual computation.

    The sources of such an edge are outside the region and its result inside, or the reverse. Only shardings
    outside have the manual axes. A step uses the shardings of the side of the sources.
    """

    to_source_side: Callable[[TensorSharding], TensorSharding]
    from_source_side: Callable[[TensorSharding], TensorSharding]


class PropagationSite:
    """An operation with a rule, and the slots of its operands' and results' shardings."""

    # Programs have many of these. What few of them have is in `IdentitySite`.
    __slots__ = ("kind", "op", "rule", "slots")

    conversion: EdgeConversion | None = None
    fallback: PropagationSite | None = None

    def __init__(self, op: Op, rule: OpShardingRule, kind: SiteKind, slots: tuple[int, ...]) -> None:
        self.op = op
        self.rule = rule
        self.kind = kind
        self.slots = slots

    @property
    def is_plain(self) -> bool:
        """Whether it reads at least two shardings as they are, and there is no other site to fall back to."""
        return self.conversion is None and self.fallback is None and len(self.slots) > 1

    @property
    def values(self) -> Sequence[Value]:
        """The values whose shardings are in the slots."""
        return [*self.op.operands, *self.op.results]

    def read(self, shardings: Sequence[TensorSharding | None]) -> Shardings:
        """Selects the shardings of the site from `ShardingMap.shardings`."""
        return tuple([shardings[slot] for slot in self.slots])


class IdentitySite(PropagationSite):
    """A barrier, a data-flow edge or a result of the main function: all values are sharded alike.

    For a data-flow edge, its sources take the place of operands.

    `conversion` applies to the last slot.
    `fallback`, for data-flow edges and barriers with a `sdy.sharding_rule` attribute, propagates by that rule
    if this site propagates nothing.
    """

    __slots__ = ("_values", "conversion", "fallback")

    def __init__(
        self,
        op: Op,
        rule: OpShardingRule,
        kind: SiteKind,
        slots: tuple[int, ...],
        values: Sequence[Value],
    ) -> None:
        super().__init__(op, rule, kind, slots)
        self._values = values
        self.conversion = None
        self.fallback = None

    @property
    def values(self) -> Sequence[Value]:
        return self._values


class PropagationSites:
    """Creates the sites of a module with `op_count` operations.

    `rules` has the rule of each operation visited so far, by its index, if it has one. With
    `keeps_inert_sites`, there are also sites along which nothing can propagate, because their rules have no
    factor in common to two tensors. Only explanations need them.
    """

    def __init__(
        self,
        op_count: int,
        sharding_map: ShardingMap,
        dependent_ops: DependentOps,
        is_conservative: bool,
        keeps_inert_sites: bool,
    ) -> None:
        self.rules: list[OpShardingRule | None] = [None] * op_count
        self._sharding_map = sharding_map
        self._dependent_ops = dependent_ops
        self._is_conservative = is_conservative
        self._identity_rule = cache(identity_rule)
        # Of operations without attributes, by signature.
        self._rules_and_kinds: dict[OpSignature, tuple[OpShardingRule | None, SiteKind | None]] = {}
        self._have_shared_factor = cache(_have_shared_factor)
        self._keeps_inert_sites = keeps_inert_sites

    def site(self, op: Op) -> PropagationSite | None:
        """The site of an operation; None if nothing propagates along it."""
        create = _CREATE_SITE.get(type(op))
        if create is None:
            return self._rule_site(op)
        site = create(self, op)
        fallback = self._rule_site(op) if SHARDING_RULE in op.attributes else None
        if site is None:
            return fallback
        site.fallback = fallback
        return site

    def function_result(self, function: FuncOp, index: int, value: Value) -> PropagationSite | None:
        """The site between a returned value and the result in the function signature."""
        if not isinstance(value.type, RankedShapedType) or not value.type.has_static_shape:
            return None
        result = FunctionResult(function, index)
        slots = (self._sharding_map.slot(value), self._sharding_map.result_slot(result))
        rule = self._identity_rule(value.type.shape, 1)
        return IdentitySite(
            function, rule, _SITE_KINDS[OpCategory.OTHER, False, False], slots, [value, value]
        )

    def _rule_site(self, op: Op) -> PropagationSite | None:
        rule_and_kind = None if op.attributes.entries else self._rules_and_kinds.get(op.signature)
        if rule_and_kind is None:
            rule_and_kind = self._rule_and_kind(op)
        rule, kind = rule_and_kind
        if rule is None:
            return None
        self.rules[op.order] = rule
        if kind is None:
            return None
        slot_of = self._sharding_map.slot
        slots = [slot_of(use.value) for use in op.operand_uses]
        slots += [slot_of(result) for result in op.results]
        return PropagationSite(op, rule, kind, tuple(slots)) if slots else None

    def _rule_and_kind(self, op: Op) -> tuple[OpShardingRule | None, SiteKind | None]:
        """The rule of an operation, if it has one, and the kind of its site, if anything may propagate."""
        rule = sharding_rule_of(op, self._is_conservative)
        may_propagate = rule is not None and self._may_propagate(rule)
        rule_and_kind = rule, op.signature.cached(_kinds)[self._is_conservative] if may_propagate else None
        if is_rule_context_free(op) and SHARDING_RULE not in op.attributes:
            self._rules_and_kinds[op.signature] = rule_and_kind
        return rule_and_kind

    def _may_propagate(self, rule: OpShardingRule) -> bool:
        return self._keeps_inert_sites or self._have_shared_factor(rule.operands, rule.results)

    def _identity_site(
        self, op: Op, category: OpCategory, sources: list[Value], result: Value, is_elementwise: bool = False
    ) -> IdentitySite | None:
        if not isinstance(result.type, RankedShapedType) or not result.type.has_static_shape:
            return None
        values = [*sources, result]
        rule = self._identity_rule(result.type.shape, len(sources))
        if not self._may_propagate(rule):
            return None
        slots = tuple([self._sharding_map.slot(value) for value in values])
        return IdentitySite(op, rule, _SITE_KINDS[category, is_elementwise, False], slots, values)

    def _barrier(self, op: PropagationBarrierOp) -> IdentitySite | None:
        category = _BARRIERS[op.allowed_direction]
        return self._identity_site(op, category, [op.input], op.result, is_elementwise=True)

    def _data_flow_edge(self, op: DataFlowEdgeOp) -> IdentitySite | None:
        owner = op.input
        sources = sources_of_edge(op)
        if sources is None:
            raise op.op_error("expected input of sdy.data_flow_edge to be the owner of a data-flow edge")
        assert isinstance(owner, OpResult | BlockArgument)
        edge_owner = owning_op(owner)
        site = self._identity_site(op, OpCategory.PASS_THROUGH, [use.value for use in sources], op.result)
        if site is not None and isinstance(edge_owner, ManualComputationOp):
            site.conversion = _edge_conversion(edge_owner, owner)
        return site

    def _func_data_flow_edge(self, op: FuncDataFlowEdgeOp) -> IdentitySite | None:
        sources = self._func_edge_sources(op)
        if sources is None:
            return None
        return self._identity_site(op, OpCategory.PASS_THROUGH, sources, op.result)

    def _func_edge_sources(self, op: FuncDataFlowEdgeOp) -> list[Value] | None:
        """The operands of all calls, or the value that the callee returns, if any.

        None if there are no calls, or if the callee has no body.
        """
        value = op.input
        if isinstance(value, BlockArgument):
            function = op.parent_of_type(FuncOp)
            users = self._dependent_ops.of_function(function) if isinstance(function, FuncOp) else []
            return [user.operand_at(value.index) for user in users if isinstance(user, CallOp)] or None
        assert isinstance(value, OpResult)
        call = value.op
        callee = callee_of(call) if isinstance(call, CallOp) else None
        if callee is None or callee.is_declaration:
            return None
        terminator = callee.entry.last
        return [terminator.operand_at(value.index)] if isinstance(terminator, ReturnOp) else []


def _have_shared_factor(operands: tuple[TensorMapping, ...], results: tuple[TensorMapping, ...]) -> bool:
    """Whether a factor is in more than one tensor."""
    factors = [{factor for dim in mapping.dims for factor in dim.factors} for mapping in operands + results]
    return len(set().union(*factors)) < sum(map(len, factors))


# Each function takes operations of its own class only.
_CREATE_SITE: dict[type[Op], Callable[[PropagationSites, Any], IdentitySite | None]] = {
    PropagationBarrierOp: PropagationSites._barrier,
    DataFlowEdgeOp: PropagationSites._data_flow_edge,
    FuncDataFlowEdgeOp: PropagationSites._func_data_flow_edge,
}

_CATEGORIES: dict[type[Op], OpCategory] = {
    DataFlowEdgeOp: OpCategory.PASS_THROUGH,
    FuncDataFlowEdgeOp: OpCategory.PASS_THROUGH,
    ReshapeOp: OpCategory.PASS_THROUGH,
    TransposeOp: OpCategory.PASS_THROUGH,
    DynamicSliceOp: OpCategory.DYNAMIC_SLICE,
    DynamicUpdateSliceOp: OpCategory.DYNAMIC_SLICE,
    BroadcastInDimOp: OpCategory.BROADCAST,
}


def _kinds(signature: OpSignature) -> tuple[SiteKind, SiteKind]:
    """The kind of the site of an operation, and its kind if propagation is conservative."""
    category, elementwise = _categorize(signature)
    return _SITE_KINDS[category, elementwise, False], _SITE_KINDS[category, elementwise, True]


def _categorize(signature: OpSignature) -> tuple[OpCategory, bool]:
    """The category of an operation, and whether it is elementwise."""
    if is_elementwise(signature):
        return OpCategory.PASS_THROUGH, True
    if issubclass(signature.op_class, CustomCallOp):
        is_offload = signature[CustomCallOp.call_target_name] in _OFFLOAD_TARGETS
        return OpCategory.PASS_THROUGH if is_offload else OpCategory.OTHER, False
    return _CATEGORIES.get(signature.op_class, OpCategory.OTHER), False


def _edge_conversion(op: ManualComputationOp, owner: OpResult | BlockArgument) -> EdgeConversion:
    """The conversion for the edge of an argument or result of a manual computation."""
    manual = op.manual_axes
    remove = cache(lambda sharding: without_manual_axes(sharding, manual))
    if isinstance(owner, BlockArgument):
        in_sharding = op.in_shardings.shardings[owner.index]
        return EdgeConversion(cache(lambda local: with_manual_axes(local, in_sharding, manual)), remove)
    out_sharding = op.out_shardings.shardings[owner.index]
    return EdgeConversion(remove, cache(lambda local: with_manual_axes(local, out_sharding, manual)))

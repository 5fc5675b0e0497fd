"""Sites: the operations over which shardings propagate, and what there is to know about each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.dialects.sdy.manual_axes import with_manual_axes, without_manual_axes
from sdyopt.dialects.sdy.ops import DataFlowEdgeOp, FuncDataFlowEdgeOp, PropagationBarrierOp
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.dialects.sdy.sharding import TensorSharding
from sdyopt.dialects.sdy.value_shardings import owning_op
from sdyopt.dialects.stablehlo.broadcast import BroadcastInDimOp
from sdyopt.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.dialects.stablehlo.shapes import ReshapeOp, TransposeOp
from sdyopt.dialects.stablehlo.slicing import DynamicSliceOp, DynamicUpdateSliceOp
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import BlockArgument, OpResult, Value
from sdyopt.sharding.elementwise import is_elementwise
from sdyopt.sharding.op_sharding_rule_registry import sharding_rule_of
from sdyopt.sharding.propagation.propagation_step import identity_rule

from ...common.support.call_graph import callee_of
from .dependent_ops import Uses
from .op_priorities import Flow
from .sharding_map import FunctionResult, ShardingMap

# A sharding as the step sees it, from the one that is kept, and the other way.
View = Callable[[TensorSharding], TensorSharding]


_BARRIERS = (Flow.BARRIER_NONE, Flow.BARRIER_FORWARD, Flow.BARRIER_BACKWARD)
# Whether an operation is elementwise, and whether a step over it is conservative.
SITE_FLAGS = ((False, False), (False, True), (True, False), (True, True))
_OFFLOAD_TARGETS = ("MoveToDevice", "MoveToHost")


class PropagationSite:
    """An operation with a rule, and where its shardings are kept.

    `numbers` are those of operands, then of results, in the store. `read` takes their shardings out of
    the store's list, as a key that is the same for the same shardings. `otherwise` is how shardings go over
    the operation if nothing changes here.
    """

    __slots__ = (
        "flow",
        "from_view",
        "numbers",
        "op",
        "otherwise",
        "read",
        "rule",
        "sort",
        "to_view",
        "values",
    )

    def __init__(
        self,
        op: Op,
        rule: OpShardingRule,
        flow: Flow,
        values: Sequence[Value],
        numbers: Sequence[int],
        is_elementwise: bool = False,
        is_conservative: bool = False,
    ) -> None:
        self.op = op
        self.rule = rule
        self.flow = flow
        self.values = values
        self.numbers = numbers
        # Which kind of step is taken here in a round: the flow and the flags in one number.
        self.sort = flow * len(SITE_FLAGS) + SITE_FLAGS.index((is_elementwise, is_conservative))
        self.read: Callable[[Sequence[Any]], Any] = itemgetter(*numbers)
        # Only of edges in and out of manual computations, for their only result.
        self.to_view: View | None = None
        self.from_view: View | None = None
        # Only of data-flow edges and barriers with a rule that somebody wrote on them.
        self.otherwise: PropagationSite | None = None


class PropagationSites:
    """Makes the sites of a module."""

    def __init__(self, module: ModuleOp, store: ShardingMap, uses: Uses, is_conservative: bool) -> None:
        self._module = module
        self._store = store
        self._uses = uses
        self._is_conservative = is_conservative
        self._identity_rule = cache(identity_rule)
        # The rules that operations got, in the order in which they were asked.
        self.rules: list[tuple[Op, OpShardingRule]] = []

    def site(self, op: Op) -> PropagationSite | None:
        """The site of an operation; None if nothing propagates over it."""
        make = _MAKERS.get(type(op))
        if make is None:
            return self._of_rule(op)
        site = make(self, op)
        written = self._of_rule(op) if SHARDING_RULE in op.attributes else None
        if site is None:
            return written
        site.otherwise = written
        return site

    def _of_rule(self, op: Op) -> PropagationSite | None:
        rule = sharding_rule_of(op, self._is_conservative)
        if rule is None:
            return None
        self.rules.append((op, rule))
        values = [*op.operands, *op.results]
        if not values:
            return None
        flow, elementwise = op.signature.cached(_traits_of)
        numbers = [self._store.number(value) for value in values]
        return PropagationSite(op, rule, flow, values, numbers, elementwise, self._is_conservative)

    def _barrier(self, op: PropagationBarrierOp) -> PropagationSite | None:
        flow = _BARRIERS[op.allowed_direction]
        return self._identity(op, flow, [op.input], op.result, is_elementwise=True)

    def _edge(self, op: DataFlowEdgeOp) -> PropagationSite | None:
        owner = op.input
        assert isinstance(owner, OpResult | BlockArgument)
        holder = owning_op(owner)
        sources = [use.value for use in holder.data_flow.sources(holder, owner)]
        site = self._identity(op, Flow.PASS_THROUGH, sources, op.result)
        if site is not None and isinstance(holder, ManualComputationOp):
            _see_manual_axes(site, holder, owner)
        return site

    def _function_edge(self, op: FuncDataFlowEdgeOp) -> PropagationSite | None:
        sources = self._calls_sources(op)
        return None if sources is None else self._identity(op, Flow.PASS_THROUGH, sources, op.result)

    def _calls_sources(self, op: FuncDataFlowEdgeOp) -> list[Value] | None:
        """What is passed at all calls, or what the called function returns; None if there is nothing."""
        value = op.input
        if isinstance(value, BlockArgument):
            function = op.parent_of(FuncOp)
            users = self._uses.users_of(function) if isinstance(function, FuncOp) else []
            return [user.operand_at(value.index) for user in users if isinstance(user, CallOp)] or None
        assert isinstance(value, OpResult)
        call = value.op
        callee = callee_of(call) if isinstance(call, CallOp) else None
        if callee is None or callee.is_declaration:
            return None
        end = callee.entry.last
        return [end.operand_at(value.index)] if isinstance(end, ReturnOp) else []

    def result(self, function: FuncOp, index: int, value: Value) -> PropagationSite | None:
        """The site between what a function returns and what its signature says of that."""
        if not isinstance(value.type, RankedShape) or not value.type.has_static_shape:
            return None
        numbers = [self._store.number(value), self._store.result_number(FunctionResult(function, index))]
        rule = self._identity_rule(value.type.shape, 1)
        return PropagationSite(function, rule, Flow.OTHER, [value, value], numbers)

    def _identity(
        self, op: Op, flow: Flow, sources: list[Value], result: Value, is_elementwise: bool = False
    ) -> PropagationSite | None:
        if not isinstance(result.type, RankedShape) or not result.type.has_static_shape:
            return None
        values = [*sources, result]
        rule = self._identity_rule(result.type.shape, len(sources))
        return PropagationSite(
            op, rule, flow, values, [self._store.number(value) for value in values], is_elementwise
        )


_MAKERS: dict[type[Op], Callable[[PropagationSites, Any], PropagationSite | None]] = {
    PropagationBarrierOp: PropagationSites._barrier,
    DataFlowEdgeOp: PropagationSites._edge,
    FuncDataFlowEdgeOp: PropagationSites._function_edge,
}

_FLOWS: dict[type[Op], Flow] = {
    DataFlowEdgeOp: Flow.PASS_THROUGH,
    FuncDataFlowEdgeOp: Flow.PASS_THROUGH,
    ReshapeOp: Flow.PASS_THROUGH,
    TransposeOp: Flow.PASS_THROUGH,
    DynamicSliceOp: Flow.SLICE,
    DynamicUpdateSliceOp: Flow.SLICE,
    BroadcastInDimOp: Flow.BROADCAST,
}


def _traits_of(signature: OpSignature) -> tuple[Flow, bool]:
    if is_elementwise(signature):
        return Flow.PASS_THROUGH, True
    if issubclass(signature.op_class, CustomCallOp) and signature.call_target_name in _OFFLOAD_TARGETS:
        return Flow.PASS_THROUGH, False
    return _FLOWS.get(signature.op_class, Flow.OTHER), False


def _see_manual_axes(site: PropagationSite, op: ManualComputationOp, owner: OpResult | BlockArgument) -> None:
    """Lets an edge be seen as it is where its source is: with manual axes outside, without them inside."""
    manual = op.manual_axes
    if isinstance(owner, BlockArgument):
        outside = op.in_shardings.shardings[owner.index]
        site.to_view = cache(lambda inner: with_manual_axes(inner, outside, manual))
        site.from_view = cache(lambda outer: without_manual_axes(outer, manual))
    else:
        outside = op.out_shardings.shardings[owner.index]
        site.to_view = cache(lambda outer: without_manual_axes(outer, manual))
        site.from_view = cache(lambda inner: with_manual_axes(inner, outside, manual))

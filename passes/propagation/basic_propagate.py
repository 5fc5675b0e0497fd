"""sdy-basic-propagate: spread shardings over the program, where nothing speaks against it.

    func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> … {
      %0 = stablehlo.negate %a : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>
becomes
    func.func @main(%a: …) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) {
      %0 = stablehlo.negate %a {sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>

The sharding rule of an operation says which dimensions of its operands and results belong together. An
axis that splits one of them goes to the others, from operands to results and back, if all of them can
take it: the dimension is open, and the axis is not used otherwise. This is done until nothing changes.

Shardings go along data-flow edges into loops and calls and out again; over a barrier only in the allowed
direction; into a manual computation without the manual axes; and to all values of a sharding group. The
results of the main function get what the values have that it returns.
"""

from __future__ import annotations

from functools import cached_property

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.dialects.builtin import ModuleOp
from sdyopt.dialects.sdy.attribute_names import SHARDING_RULE
from sdyopt.dialects.sdy.rule import OpShardingRule
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape, ShapedType, TupleType
from sdyopt.pipeline import Pass, option
from sdyopt.registry import register
from sdyopt.sharding.propagation.propagation_step import Strategy

from .engine.debug_info import DebugInfoRecorder
from .engine.op_priorities import EVERYTHING, Round
from .engine.propagation_driver import PropagationDriver
from .engine.sharding_groups import ShardingGroups


@register("sdy-basic-propagate")
class BasicPropagation(Pass):
    keep_sharding_rules: bool = option(
        default=False, help="keep the sharding rules, those found by this pass included"
    )
    module_dump_directory: str = option(
        default="", help="where to write the program in between, if it is rewritten in several steps"
    )
    conservative_propagation: bool = option(
        default=False, help="neither split axes nor shard what they do not divide"
    )
    debug_sharding_origins: bool = option(
        default=False, help="say of every axis of a sharding which constraint, input or output it comes from"
    )
    debug_propagation_edge_sharding: bool = option(
        default=False, help="say at every operation which axes went from which operand or result to which"
    )

    def run(self, module: ModuleOp) -> bool:
        _check_types(module)
        rewriter = Rewriter()
        has_origins, has_edges = self.debug_sharding_origins, self.debug_propagation_edge_sharding
        is_recorded = has_origins or has_edges
        recorder = DebugInfoRecorder(module, has_origins, has_edges, rewriter) if is_recorded else None
        propagation = Propagation(module, rewriter, self.conservative_propagation, recorder)
        self.propagate(propagation)
        propagation.write(with_rules=self.keep_sharding_rules)
        if not self.keep_sharding_rules:
            _remove_rules(module, propagation.rewriter)
        if recorder is not None:
            recorder.save()
        return propagation.changed

    def propagate(self, propagation: Propagation) -> None:
        """Propagates all there is."""
        self.propagate_round(propagation, EVERYTHING)

    def propagate_round(self, propagation: Propagation, round: Round) -> None:
        """Propagates what a round allows."""
        propagation.driver.run(round, Strategy.BASIC)


class Propagation:
    """One run of a pass: what it works on."""

    def __init__(
        self,
        module: ModuleOp,
        rewriter: Rewriter,
        is_conservative: bool,
        recorder: DebugInfoRecorder | None = None,
    ) -> None:
        self.module = module
        self.rewriter = rewriter
        self._is_conservative = is_conservative
        self._recorder = recorder
        self._groups = ShardingGroups(module)
        self._groups.synchronize(self.rewriter)

    @cached_property
    def driver(self) -> PropagationDriver:
        """Reads the shardings when first asked for."""
        return PropagationDriver(self.module, self._groups, self._is_conservative, self._recorder)

    @property
    def changed(self) -> bool:
        return self.rewriter.changed or self.driver.changed

    def write(self, with_rules: bool) -> None:
        """Gives the operations their shardings, and perhaps the rules by which these propagated."""
        self.driver.write(self.rewriter)
        if with_rules:
            self.driver.write_rules(self.rewriter)


def _check_types(module: ModuleOp) -> None:
    for op in module.walk_post_order():
        problem = op.signature.cached(_type_problem)
        if problem is not None:
            raise op.error(problem)


def _type_problem(signature: OpSignature) -> str | None:
    for type in signature.result_types:
        if isinstance(type, ShapedType) and not (isinstance(type, RankedShape) and type.has_static_shape):
            return (
                "Shardy propagation only supports ranked tensors with a static shape. "
                f"type: '{plain_type(type)}'"
            )
        if isinstance(type, TupleType):
            return f"Shardy propagation doesn't support tuples: '{plain_type(type)}'"
    return None


def _remove_rules(module: ModuleOp, rewriter: Rewriter) -> None:
    """Removes the rules that were not written by users."""
    for op in module.walk():
        rule = op.attributes.get(SHARDING_RULE)
        if isinstance(rule, OpShardingRule) and not rule.is_custom:
            rewriter.remove_attribute(op, SHARDING_RULE)

"""sdy-basic-propagate: propagate shardings that do not conflict.

    func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> … {
      %0 = stablehlo.negate %a : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>
becomes
    func.func @main(%a: …) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {?}]>}) {
      %0 = stablehlo.negate %a {sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{"x", ?}, {?}]>]>} : tensor<8x4xf32>
      return %0 : tensor<8x4xf32>

The sharding rule of an operation maps the dimensions of its operands and results to factors. Shardings
propagate along each factor, from operands to results and back, to a fixed point. An axis propagates only if
it conflicts in no operand or result: the dimensions are open, and no other dimension uses the axis, nor are
the tensors replicated or unreduced along it.

Shardings also propagate along data-flow edges into and out of loops and calls, through a propagation barrier
in its allowed direction, into and out of manual computations without the manual axes, between the values of a
sharding group, and between the results of the main function and the values that it returns. Dead operations
are erased.
"""

from __future__ import annotations

from functools import cached_property

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType, ShapedType, TupleType
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.propagation.propagation_step import Strategy

from .engine.debug_info import DebugInfoRecorder
from .engine.missing_shardings import warn_of_missing_shardings, warn_of_mistyped_attributes
from .engine.op_priorities import ALL_OPS, Round
from .engine.propagation_driver import PropagationDriver
from .engine.sharding_groups import ShardingGroups

# Options that the propagation pipeline has too.
DEBUG_SHARDING_ORIGINS = option(
    default=False, help="write the origin of each axis: a constraint, input, output or manual computation"
)
DEBUG_PROPAGATION_EDGE_SHARDING = option(
    default=False, help="write which axes propagated between which operands and results of each operation"
)


@register("sdy-basic-propagate")
class BasicPropagation(Pass):
    keep_sharding_rules: bool = option(
        default=False, help="keep the sharding rules on operations, including those that this pass derives"
    )
    module_dump_directory: str = option(
        default="",
        help="directory for the module after each user priority but the last; nothing is written if empty",
    )
    conservative_propagation: bool = option(
        default=False,
        help="propagate no sub-axes, and nothing along sliced, padded, concatenated or windowed dimensions",
    )
    debug_sharding_origins: bool = DEBUG_SHARDING_ORIGINS
    debug_propagation_edge_sharding: bool = DEBUG_PROPAGATION_EDGE_SHARDING

    def run(self, module: ModuleOp) -> bool:
        _check_types(module)
        rewriter = Rewriter()
        has_origins, has_edges = self.debug_sharding_origins, self.debug_propagation_edge_sharding
        recorder = None
        if has_origins or has_edges:
            recorder = DebugInfoRecorder(module, has_origins, has_edges, rewriter)
        propagation = Propagation(module, rewriter, self.conservative_propagation, recorder)
        self.propagate(propagation)
        propagation.write(with_rules=self.keep_sharding_rules)
        if not self.keep_sharding_rules:
            _remove_rules(module, propagation.rewriter)
        propagation.driver.finish_recording()
        if recorder is not None:
            recorder.save()
        if not any(isinstance(op, MeshOp) for op in module.block.ops):
            warn_of_missing_shardings(module)
        warn_of_mistyped_attributes(module)
        return propagation.changed

    def propagate(self, propagation: Propagation) -> None:
        """Runs all rounds of this pass."""
        self.propagate_round(propagation, ALL_OPS)

    def propagate_round(self, propagation: Propagation, round: Round) -> None:
        """Runs one round."""
        propagation.driver.run(round, Strategy.BASIC)


class Propagation:
    """The module, sharding groups and driver of one run of a propagation pass."""

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
        """Created at the first use, because it reads the shardings of the module."""
        return PropagationDriver(self.module, self._groups, self._is_conservative, self._recorder)

    @property
    def changed(self) -> bool:
        return self.rewriter.changed or self.driver.changed

    def write(self, with_rules: bool) -> None:
        """Writes the shardings to the module, and optionally the rules by which they propagated."""
        self.driver.write(self.rewriter, with_rules)


def _check_types(module: ModuleOp) -> None:
    signatures = {op.signature for op in module.walk()}
    if not any(signature.cached(_type_problem) for signature in signatures):
        return
    for op in module.walk_post_order():
        problem = op.signature.cached(_type_problem)
        if problem is not None:
            raise op.error(problem)


def _type_problem(signature: OpSignature) -> str | None:
    for type in signature.result_types:
        if isinstance(type, ShapedType) and not (
            isinstance(type, RankedShapedType) and type.has_static_shape
        ):
            return (
                "Shardy propagation only supports ranked tensors with a static shape. "
                f"type: '{plain_type(type)}'"
            )
        if isinstance(type, TupleType):
            advice = ". Please flatten or canonicalize tuples before running Shardy propagation."
            return f"Shardy propagation doesn't support tuples: '{plain_type(type)}'" + (
                advice if Behavior.REWORDED_ERRORS.active else ""
            )
    return None


def _remove_rules(module: ModuleOp, rewriter: Rewriter) -> None:
    """Removes all rules but custom ones."""
    for op in module.walk():
        rule = op.attributes.get(SHARDING_RULE)
        if isinstance(rule, OpShardingRule) and not rule.is_custom:
            rewriter.remove_attribute(op, SHARDING_RULE)

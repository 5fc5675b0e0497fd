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

from collections.abc import Iterator, Sequence
from functools import cached_property

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit, is_first_occurrence
from sdyopt.base.diagnostics.ids import GSPMD_SHARDING, NO_SHARDING, UNKNOWN_ATTRIBUTE
from sdyopt.base.diagnostics.usage import closest
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy import mesh
from sdyopt.mlir.dialects.sdy.attribute_checks import (
    OPERAND,
    RESULT,
    AxisPropagation,
    EdgeValueRef,
    PropagationEdges,
    PropagationStep,
)
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.mesh import PROPAGATION_EDGES, SHARDING, SHARDING_RULE
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue, TensorSharding
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.ir.types import RankedShapedType, ShapedType, TupleType
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.notation.hlo_programs import HloShardings, hlo_shardings
from sdyopt.shardy.record import StepSite
from sdyopt.shardy.sharding.propagation.propagation_step import (
    Shardings,
    StepRunner,
    Strategy,
    propagated_axes,
)

from ..common.support.sharding_origins import ShardingOrigins, last_step
from .engine.propagation_driver import PropagationDriver
from .engine.sharding_map import ShardingGroups
from .engine.worklist import ALL_OPS, Round

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


class _Edge(NamedTuple):
    axis: AxisRef
    source: EdgeValueRef
    target: EdgeValueRef


class DebugInfoRecorder:
    """Records the origins of axes, or propagation edges, or both."""

    def __init__(self, module: ModuleOp, has_origins: bool, has_edges: bool, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._origins = ShardingOrigins(module, rewriter) if has_origins else None
        self._has_edges = has_edges
        # The edges of each operation, with the first step that propagated along each.
        self._edges: dict[Op, dict[_Edge, int]] = {}
        self._step = last_step(module) + 1

    def record(self, site: StepSite, runner: StepRunner, shardings: Shardings) -> None:
        """Records a step that has updates."""
        step = runner.run(site.rule, shardings)
        assert step is not None
        for propagated in propagated_axes(site.rule, step):
            if self._has_edges:
                source = _edge_value(site.rule, propagated.source)
                edge = _Edge(propagated.axis, source, _edge_value(site.rule, propagated.target))
                self._edges.setdefault(site.op, {}).setdefault(edge, self._step)
            if self._origins is not None:
                source_value, target_value = site.values[propagated.source], site.values[propagated.target]
                self._origins.inherit(source_value, target_value, propagated.axis)
        self._step += 1

    def save(self) -> None:
        """Writes the attributes."""
        if self._origins is not None:
            self._origins.save()
        for op, edges in self._edges.items():
            if isinstance(op, FuncOp):
                # As in Shardy, on result 0: every function result is result 0 of its own steps.
                self._rewriter.set_result_attribute(op, 0, PROPAGATION_EDGES, _attribute(edges))
            elif op.parent is not None:
                self._rewriter.set_attribute(op, PROPAGATION_EDGES, _attribute(edges))


def _edge_value(rule: OpShardingRule, index: int) -> EdgeValueRef:
    count = len(rule.operands)
    return EdgeValueRef(OPERAND, index) if index < count else EdgeValueRef(RESULT, index - count)


def _attribute(edges: dict[_Edge, int]) -> PropagationEdges:
    steps: dict[int, dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]]] = {}
    for edge, step in edges.items():
        steps.setdefault(step, {}).setdefault((edge.axis, edge.source), []).append(edge.target)
    return PropagationEdges(
        tuple([PropagationStep(step, _axis_propagations(steps[step])) for step in sorted(steps)])
    )


def _axis_propagations(
    targets: dict[tuple[AxisRef, EdgeValueRef], list[EdgeValueRef]],
) -> tuple[AxisPropagation, ...]:
    propagations = [
        AxisPropagation(axis, source, tuple(sorted(values, key=lambda value: (value.kind, value.index))))
        for (axis, source), values in targets.items()
    ]
    propagations.sort(key=lambda propagation: propagation.axis.sort_key)
    return tuple(propagations)


# The attribute with which JAX annotates shardings for GSPMD.
GSPMD_ATTRIBUTE = "mhlo.sharding"
USE_SHARDY = 'lower from JAX with jax.config.update("jax_use_shardy_partitioner", True)'
# Of a program without arguments, such as an initializer.
OUT_SHARDINGS = "jax.jit drops arguments that the program does not use; state jax.jit(…, out_shardings=…)"


def warn_of_missing_shardings(module: ModuleOp) -> None:
    """Emits a warning for a program without a mesh and without shardings."""
    ops = [op for op in module.walk() if op is not module]
    # There is nothing to shard if no operation has results, as in a module of declarations.
    if not any(op.results for op in ops) or any(map(_has_sharding, ops)):
        return
    annotated = next((op for op in ops if _has_attribute(op, GSPMD_ATTRIBUTE)), None)
    if annotated is not None:
        message = f"the program has shardings of HLO only (`{GSPMD_ATTRIBUTE}`), which do not propagate"
        kind = hlo_shardings(module) or HloShardings.BY_DEVICES
        op, help, id = annotated, f"import them before, with {kind.flag}", GSPMD_SHARDING
    else:
        message = "the program has no mesh and no shardings, so that nothing propagates"
        op, help, id = module, f"annotate inputs with `sdy.sharding`, or {USE_SHARDY}", NO_SHARDING
        if not any(op.argument_attributes for op in ops if isinstance(op, FuncOp)):
            help = OUT_SHARDINGS
    emit(Diagnostic(Severity.WARNING, op.location, message, operation=op, help=help, id=id))


def _has_sharding(op: Op) -> bool:
    if isinstance(op, MeshOp) or _has_attribute(op, SHARDING):
        return True
    values = [value for _, value in op.signature.attributes.entries]
    return any(
        isinstance(value, TensorSharding) or (isinstance(value, ShardingPerValue) and bool(value.shardings))
        for value in values
    )


def _has_attribute(op: Op, name: str) -> bool:
    return any(name in attributes for attributes in discardable_attributes(op))


def discardable_attributes(op: Op) -> Sequence[DictAttr]:
    """The discardable attributes of an operation, and of the arguments and results if it is a function."""
    if not isinstance(op, FunctionOpInterface):
        return (op.attributes,)
    return (op.attributes, *op.argument_attributes, *op.result_attributes)


# The warning for a discardable attribute whose name resembles one that propagation reads.
#
# MLIR accepts any discardable attribute of a dialect that does not reject it, so `sdy.shardng` would be
# ignored silently.


_PREFIX = "sdy."
_KNOWN = frozenset(name for name in vars(mesh).values() if isinstance(name, str))


def warn_of_mistyped_attributes(module: ModuleOp) -> None:
    """Emits a warning for the first use of each name that resembles `sdy.sharding` or `sdy.sharding_rule`."""
    # Attributes are interned: few dictionaries are distinct, and fewer have such a name.
    dictionaries = {op.attributes for op in module.walk()}
    dictionaries.update(
        *[discardable_attributes(function) for function in module.nested(FunctionOpInterface)]
    )
    suggestions = {attributes: list(_suggestions(attributes)) for attributes in dictionaries}
    if not any(suggestions.values()):
        return
    for op in module.walk():
        for attributes in discardable_attributes(op):
            for name, meant in suggestions[attributes]:
                if is_first_occurrence(f"mistyped {name}"):
                    _warn(op, name, meant)


def _warn(op: Op, name: str, meant: str) -> None:
    message, help = f"attribute `{name}` is unknown and has no effect", f"did you mean `{meant}`?"
    emit(Diagnostic(Severity.WARNING, op.location, message, operation=op, help=help, id=UNKNOWN_ATTRIBUTE))


def _suggestions(attributes: DictAttr) -> Iterator[tuple[str, str]]:
    """The unknown names of sdy attributes, each with the known name that it resembles."""
    for name in attributes.names:
        if name.startswith(_PREFIX) and name not in _KNOWN:
            meant = closest(name, (SHARDING, SHARDING_RULE))
            if meant is not None:
                yield name, meant

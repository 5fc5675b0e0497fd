"""sdy-verify-unreduced-axes: verify that unreduced axes are reduced explicitly, and by the right reduction.

    %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"y"}>]>}
    %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}

is an error at the addition: its operand has partial results along "y", and its result has none. Write

    %1 = sdy.reshard %0 <@mesh, [{}, {}]>
    %2 = stablehlo.add %1, %1 …

where the reshard combines them. `sdy-insert-explicit-reshards` would combine them in both programs; run this
pass before it to require that the program itself has every such reshard.

Operations may introduce unreduced axes. The partial results of `stablehlo.reduce` are those of the reduction
of its body: `unreduced=max{"y"}` for a maximum. Those of matrix multiplications are those of a sum, and all
those of another operation are of one kind. Reshards, sharding constraints, all-reduces and reduce-scatters
may remove unreduced axes, and no operation may change the reduction of the others. Operands of calls must
have the unreduced axes of the callee's arguments, and returned values those of the results.

An operand that a reshard or a sharding constraint defines is not checked, and neither are operations with
shardings on different meshes. The pass changes nothing, and ends at the first error of each function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import (
    ManualComputationOp,
    ReshardOp,
    ReturnOp,
    ShardingConstraintOp,
    value_before_barriers,
)
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, are_there_unreduced_axes, without_manual_axes
from sdyopt.mlir.dialects.sdy.sharding_checks import check_unreduced_transition
from sdyopt.mlir.dialects.sdy.value_shardings import distinct_values, sharding_of
from sdyopt.mlir.dialects.stablehlo import collectives as stablehlo
from sdyopt.mlir.dialects.stablehlo.contraction import DotGeneralOp, DotOp
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp, MaxOp, MinOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import called_function

_WITHOUT_RESHARD = (
    "without a blessed operation (e.g., sdy.reshard). "
    "This is an invalid transition from unreduced to reduced."
)


@register("sdy-verify-unreduced-axes", since=Behavior.VERIFIED_UNREDUCED_AXES)
class VerifyUnreducedAxes(Pass):
    anchor = FUNCTION

    def run(self, function: FuncOp) -> bool:
        if not are_there_unreduced_axes():
            for collective in function.nested(AllReduceOp, ReduceScatterOp):
                _CHECKS[type(collective)](collective)
            return False
        shardings = map(sharding_of, distinct_values(function))
        has_unreduced_axes = any(sharding.unreduced_axes for sharding in shardings if sharding is not None)
        for op in function.walk_post_order():
            check = _CHECKS.get(type(op))
            if check is not None:
                check(op)
            elif has_unreduced_axes and not op.is_terminator:
                _check_other(op)
        return False


# --- Operations -----------------------------------------------------------------------------------


_CONFLICTING_REDUCTIONS = ErrorKind(
    "results introduce unreduced axes with conflicting reduction ops",
    at="attribute unreduced",
    help="give the unreduced axes of all results one kind of reduction",
)


def _check_other(op: Op) -> None:
    """Checks an operation that may introduce sums, or partial results of any one kind."""
    after = _shardings(op.results)
    kind = ReductionKind.SUM
    if not isinstance(op, DotOp | DotGeneralOp):
        kinds = {sharding.reduction for sharding in after if sharding and sharding.unreduced_axes} or {kind}
        if len(kinds) > 1:
            raise op.op_error(_CONFLICTING_REDUCTIONS())
        (kind,) = kinds
    check_unreduced_transition(op, _shardings_before(op.operands), after, kind)


def _check_reduce(op: ReduceOp) -> None:
    """Checks a reduction, which may introduce partial results of its own kind."""
    kind = _kind_of_body(op.body)
    check_unreduced_transition(op, _shardings_before(op.inputs), _shardings(op.results), kind)


def _check_sdy_collective(op: AllReduceOp | ReduceScatterOp) -> None:
    """Checks an all-reduce or reduce-scatter, which removes axes of its kind, and introduces none."""
    (operand,) = _shardings([op.tensor])
    if operand is None:
        error = op.op_error("operand must be sharded.")
        raise error.help("give the operand a sharding, with the axes that are reduced as unreduced axes")
    check_unreduced_transition(op, (operand,), (op.out_sharding,), removed=op.reduction_op)


def _check_stablehlo_collective(op: Op) -> None:
    """Checks a collective on shards, which removes axes of the kind of its body, and introduces none."""
    kind = _kind_of_body(op.regions[0])
    check_unreduced_transition(op, _shardings(op.operands[:1]), _shardings(op.results[:1]), removed=kind)


def _check_call(call: CallOp) -> None:
    """Checks that caller and callee have the same unreduced axes."""
    callee = called_function(call)
    for index, operand in enumerate(call.operands):
        if not _is_resharded(operand):
            (before,) = _shardings([operand])
            after = _attribute_sharding(callee.argument_attributes[index].get(SHARDING))
            _check_equal(call, before, after, f"at call argument {index}.")
    for index, after in enumerate(_shardings(call.results)):
        before = _attribute_sharding(callee.result_attributes[index].get(SHARDING))
        _check_equal(call, before, after, f"at call result {index}.")


def _check_function_return(op: FuncReturnOp) -> None:
    """Checks that returned values have the unreduced axes of the results, if these have shardings."""
    function = op.parent_op
    if isinstance(function, FuncOp):
        attributes = function.result_attributes[: len(op.operands)]
        _check_returned(op, [_attribute_sharding(result.get(SHARDING)) for result in attributes])


def _check_return(op: ReturnOp) -> None:
    """Checks that a body returns the unreduced axes of the results, without manual axes."""
    parent = op.parent_op
    assert parent is not None
    shardings = _shardings(parent.results)
    if isinstance(parent, ManualComputationOp):
        shardings = [s and without_manual_axes(s, parent.manual_axes) for s in shardings]
    _check_returned(op, shardings)


def _check_returned(op: Op, required: Sequence[TensorSharding | None]) -> None:
    for index, (value, sharding) in enumerate(zip(op.operands, required, strict=False)):
        if sharding is not None and not _is_resharded(value):
            where = f"at return value {index} {_WITHOUT_RESHARD}"
            _check_equal(op, _shardings([value])[0], sharding, where)


def _check_nothing(op: Op) -> None:
    """For operations whose own verifiers check this."""


_CHECKS: dict[type[Op], Callable[[Any], None]] = {
    AllReduceOp: _check_sdy_collective,
    ReduceScatterOp: _check_sdy_collective,
    ReduceOp: _check_reduce,
    stablehlo.AllReduceOp: _check_stablehlo_collective,
    stablehlo.ReduceScatterOp: _check_stablehlo_collective,
    CallOp: _check_call,
    FuncReturnOp: _check_function_return,
    ReturnOp: _check_return,
    ReshardOp: _check_nothing,
    ShardingConstraintOp: _check_nothing,
}


# --- Shardings ------------------------------------------------------------------------------------


def _shardings(values: Sequence[Value]) -> list[TensorSharding | None]:
    return [sharding_of(value_before_barriers(value)) for value in values]


def _shardings_before(values: Sequence[Value]) -> list[TensorSharding | None]:
    """The shardings of operands. One that is resharded explicitly counts as having none."""
    return [None if _is_resharded(v) else sharding_of(value_before_barriers(v)) for v in values]


def _is_resharded(value: Value) -> bool:
    return isinstance(value_before_barriers(value).defining_op, ReshardOp | ShardingConstraintOp)


def _attribute_sharding(attribute: Attribute | None) -> TensorSharding | None:
    return attribute if isinstance(attribute, TensorSharding) else None


def _check_equal(op: Op, before: TensorSharding | None, after: TensorSharding | None, where: str) -> None:
    old, new = _unreduced_axes(before), _unreduced_axes(after)
    if set(old) != set(new):
        names = ", ".join(sorted({axis.name for axis in _only_in_one(old, new)}))
        raise op.op_error(f"has unreduced axes mismatch for '{names}' {where}")


def _unreduced_axes(sharding: TensorSharding | None) -> tuple[AxisRef, ...]:
    return () if sharding is None else sharding.unreduced_axes


def _only_in_one(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> Iterator[AxisRef]:
    yield from (axis for axis in first if axis not in second)
    yield from (axis for axis in second if axis not in first)


# --- Kinds of reductions --------------------------------------------------------------------------

_KINDS: dict[type[Op], ReductionKind] = {
    AddOp: ReductionKind.SUM,
    MaxOp: ReductionKind.MAX,
    MinOp: ReductionKind.MIN,
}


def _kind_of_body(region: Region) -> ReductionKind | None:
    """The kind of reduction of a body; None if it is another one, or differs between results."""
    terminator = region.blocks[0].last
    assert terminator is not None
    definitions = [value.defining_op for value in terminator.operands]
    kinds = {None if op is None else _KINDS.get(type(op)) for op in definitions}
    return kinds.pop() if len(kinds) == 1 else None

"""xla-sdy-round-trip-shard-map-import: import manual computations from calls of functions.

    %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%a) {mhlo.frontend_attributes = {
        xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\\22x\\22}]>]>",
        xla.sdy.manual_axes = "#sdy<manual_axes{\\22x\\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = call @xla.sdy.manual_computation_body(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {
        xla.sdy.out_shardings = …, xla.sdy.manual_axes = …}} : (tensor<4xf32>) -> tensor<8xf32>
becomes
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[…] manual_axes={"x"}
        (%b: tensor<4xf32>) { … } : (tensor<8xf32>) -> tensor<8xf32>

`xla-sdy-round-trip-shard-map-export` is the inverse. HLO has no operation with a body of other types, so both
custom calls convert the types of operands and results. A function with several calls is copied. A call
without uses is erased: its results have no elements and were replaced by constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding import ShardingPerValue
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from ..common.support.call_graph import CallGraph, CopyBudget, FunctionCopies, called_function
from .support.hlo_shardings import (
    GLOBAL_TO_LOCAL_TARGET,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL_TARGET,
    MANUAL_AXES,
    MANUAL_COMPUTATION_BODY,
    OUT_SHARDINGS,
    frontend_attributes,
    parsed_frontend_attribute,
)


@register("xla-sdy-round-trip-shard-map-import")
class RoundTripShardMapImport(Pass):
    def run(self, module: ModuleOp) -> bool:
        rewriter = Rewriter()
        if any(map(_is_body_call, module.nested(CallOp))):
            _copy_shared_bodies(module, rewriter)
            bodies: dict[FuncOp, None] = {}
            graph = CallGraph(module)
            for function in graph.callees_first():
                for call in graph.calls[function]:
                    if _is_body_call(call):
                        bodies[called_function(call)] = None
                        _Importer(call, rewriter).run()
            for body in bodies:
                rewriter.erase(body)
        # Without elements, the results are constants, and nothing uses the conversions.
        for op in reversed(module.nested(CustomCallOp)):
            if op.call_target_name in (GLOBAL_TO_LOCAL_TARGET, LOCAL_TO_GLOBAL_TARGET):
                if any(result.has_uses for result in op.results):
                    raise op.op_error(
                        f"@{op.call_target_name} is not at a call of a manual computation's body"
                    )
                rewriter.erase(op)
        return rewriter.changed


def _is_body_call(call: CallOp) -> bool:
    return MANUAL_COMPUTATION_BODY in call.callee


def _copy_shared_bodies(module: ModuleOp, rewriter: Rewriter) -> None:
    """Gives each call of a body a function of its own."""
    graph = CallGraph(module)
    calls = [call for function in graph.callees_first() for call in graph.calls[function]]
    FunctionCopies(module, rewriter).copy_for_each(filter(_is_body_call, calls), CopyBudget(graph))


@dataclass(frozen=True)
class _Importer:
    """Replaces a call of a body, with the custom calls before and after it, by a manual computation."""

    call: CallOp
    rewriter: Rewriter

    def run(self) -> None:
        call, rewriter = self.call, self.rewriter
        if call.results and not any(result.has_uses for result in call.results):
            rewriter.erase(call)
            return
        before, after = self._conversion_before(), self._conversion_after()
        operands: Sequence[Value] = call.operands if before is None else before.operands
        types: Sequence[Type] = call.signature.result_types if after is None else after.signature.result_types
        inputs, manual = self._attributes(before, IN_SHARDINGS)
        outputs, manual_after = self._attributes(after, OUT_SHARDINGS)
        region = Region()
        computation = rewriter.create(
            ManualComputationOp,
            operands,
            types,
            {"in_shardings": inputs, "out_shardings": outputs, "manual_axes": manual or manual_after},
            before=call,
            location=call.lazy_location,
            regions=[region],
        )
        self._take_body(called_function(call), region)
        if after is not None:
            for old, new in zip(after.results, computation.results, strict=True):
                rewriter.replace_all_uses(old, new)
            rewriter.erase(after)
        rewriter.erase(call)

    def _conversion_before(self) -> CustomCallOp | None:
        if not self.call.operands:
            return None
        # An operand without elements is a constant.
        defining = next(
            (v.defining_op for v in self.call.operands if isinstance(v.defining_op, CustomCallOp)), None
        )
        if not _has_target(defining, GLOBAL_TO_LOCAL_TARGET):
            message = f"expected at least one operand of @{self.call.callee} to be produced by a "
            raise self.call.op_error(f"{message}{GLOBAL_TO_LOCAL_TARGET} CustomCallOp")
        return defining

    def _conversion_after(self) -> CustomCallOp | None:
        if not self.call.results:
            return None
        user = next(user for result in self.call.results for user in result.users)
        if not _has_target(user, LOCAL_TO_GLOBAL_TARGET):
            message = f"expected the first use of @{self.call.callee} to be a "
            raise self.call.op_error(f"{message}{LOCAL_TO_GLOBAL_TARGET} CustomCallOp")
        assert isinstance(user, CustomCallOp)
        return user

    def _attributes(self, conversion: CustomCallOp | None, name: str) -> tuple[ShardingPerValue, ManualAxes]:
        """The shardings and manual axes at a conversion; of old dumps, at the call."""
        for op in (conversion, self.call):
            if op is not None and MANUAL_AXES in frontend_attributes(op.attributes):
                shardings = parsed_frontend_attribute(op, op.attributes, name, ShardingPerValue)
                axes = parsed_frontend_attribute(op, op.attributes, MANUAL_AXES, ManualAxes)
                return shardings or ShardingPerValue(), axes or ManualAxes()
        return ShardingPerValue(), ManualAxes()

    def _take_body(self, function: FuncOp, region: Region) -> None:
        if function.is_declaration:
            raise self.call.op_error(f"the manual computation's body @{function.sym_name} is a declaration")
        self.rewriter.take_body(function.body, region)
        for block in region.blocks:
            terminator = block.last  # it may be unregistered
            assert terminator is not None
            self.rewriter.create(
                ReturnOp, terminator.operands, at_end_of=block, location=terminator.lazy_location
            )
            self.rewriter.erase(terminator)


def _has_target(op: object, target: str) -> bool:
    return isinstance(op, CustomCallOp) and op.call_target_name == target

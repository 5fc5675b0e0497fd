"""xla-sdy-stablehlo-round-trip-shard-map-export: export manual computations as XLA's partitioner reads them.

    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
        manual_axes={"x"} (%b: tensor<4xf32>) { … } : (tensor<8xf32>) -> tensor<8xf32>
becomes
    %0 = mhlo.copy %a {sdy.sharding = …} : tensor<8xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {…} : (tensor<8xf32>) -> tensor<4xf32>
    %2 = call @xla.sdy.inlinable_manual_computation_body(%1) {…} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = mhlo.copy %2 {…} : tensor<4xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {sdy.sharding = …} : (tensor<4xf32>) -> tensor<8xf32>
    …
    func.func private @xla.sdy.inlinable_manual_computation_body(%b: tensor<4xf32> {…}) … { … }

The copies reshard operands and results as the manual computation requires. The operations in the body, and in
the functions that it calls, get the attribute `xla.sdy.manual_axes`, from which
`xla-sdy-stablehlo-export-shardings` makes manual shardings, and a sharding, if they have none. With
`create-hlo-sharding-constraints`, custom calls of `@Sharding` take the place of copies.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.mhlo.ops import CopyOp
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.sharding import (
    MeshOrRef,
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
    without_manual_axes,
)
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef, TypeAttr, string
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.traits import TERMINATOR
from sdyopt.mlir.ir.types import FunctionType, ShapedType, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass, option
from sdyopt.mlir.registry import register

from ..common.support.call_graph import FreshNames, called_function
from .support.hlo_shardings import MANUAL_AXES, SHARDING_TARGET

_FUNCTION_NAME = "xla.sdy.inlinable_manual_computation_body"
_FULL_TO_SHARD = "SPMDFullToShardShape"
_SHARD_TO_FULL = "SPMDShardToFullShape"


@register("xla-sdy-stablehlo-round-trip-shard-map-export")
class StablehloRoundTripShardMapExport(Pass):
    create_hlo_sharding_constraints: bool = option(
        default=False, help="create custom calls of @Sharding instead of copies"
    )

    def run(self, module: ModuleOp) -> bool:
        computations = module.nested(ManualComputationOp)
        if not computations:
            return False
        rewriter = Rewriter()
        outer = {op: _outer_axes(op) for op in computations}
        in_pre_order = [op for op in module.walk() if isinstance(op, ManualComputationOp)]
        for op in in_pre_order:
            names = (*outer[op], *op.manual_axes)
            first = _first_sharding(op)
            if first is not None and names:
                marker = _Marker(ManualAxes(names), first.mesh_or_ref, rewriter)
                for inner in op.block.ops:
                    marker.mark(inner)
        exporter = _Exporter(module, self.create_hlo_sharding_constraints, rewriter)
        for op in computations:
            exporter.export(op, outer[op])
        return rewriter.changed


def _outer_axes(op: ManualComputationOp) -> tuple[str, ...]:
    """The axes that are manual around a computation, outermost first."""
    names: tuple[str, ...] = ()
    parent = op.parent_op
    while parent is not None:
        if isinstance(parent, ManualComputationOp):
            names = (*parent.manual_axes, *names)
        parent = parent.parent_op
    return names


def _first_sharding(op: ManualComputationOp) -> TensorSharding | None:
    return next(iter((*op.in_shardings, *op.out_shardings)), None)


# --- Manual axes of the operations in a body ------------------------------------------------------


class _Marker:
    """Gives operations their manual axes, and shardings if they have none."""

    def __init__(self, axes: ManualAxes, mesh: MeshOrRef, rewriter: Rewriter) -> None:
        self._axes = axes
        self._mesh = mesh
        self._rewriter = rewriter
        self._functions: set[FuncOp] = set()

    def mark(self, op: Op) -> None:
        """Marks an operation and those nested in it, except manual computations and what is in them."""
        if isinstance(op, ManualComputationOp):
            return
        if not isinstance(op, ReturnOp):
            self._mark_one(op)
        if isinstance(op, CallOp):
            self._mark_function(called_function(op))
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    self.mark(inner)

    def _mark_one(self, op: Op) -> None:
        shardings = op.attributes.get(SHARDING)
        if not isinstance(shardings, ShardingPerValue) or self._has_other_mesh(op, shardings):
            new = [self._closed(type) for type in op.signature.result_types]
            if not new and TERMINATOR not in op.traits:
                new = [fully_replicated(0, self._mesh, is_closed=True)]
            if new:
                self._rewriter.set_attribute(op, SHARDING, ShardingPerValue(tuple(new)))
            else:
                self._rewriter.remove_attribute(op, SHARDING)
        self._rewriter.set_attribute(op, MANUAL_AXES, self._axes)

    def _has_other_mesh(self, op: Op, shardings: ShardingPerValue) -> bool:
        for sharding in shardings:
            if sharding.mesh_or_ref is not self._mesh:
                other = find_mesh(sharding.mesh_or_ref, op)
                if other is not None and other.axes:
                    message = "has a sharding on another mesh than the manual computation that it is in"
                    raise op.op_error(message)
                return True
        return False

    def _closed(self, type: Type) -> TensorSharding:
        return fully_replicated(rank_of(type), self._mesh, is_closed=True)

    def _mark_function(self, function: FuncOp) -> None:
        if function in self._functions:
            return
        self._functions.add(function)
        types = function.function_type
        for attributes, values, set_attribute in (
            (function.argument_attributes, types.inputs, self._rewriter.set_argument_attribute),
            (function.result_attributes, types.results, self._rewriter.set_result_attribute),
        ):
            for index, type in enumerate(values):
                if SHARDING not in attributes[index]:
                    set_attribute(function, index, SHARDING, self._closed(type))
                set_attribute(function, index, MANUAL_AXES, self._axes)
        for block in function.body.blocks:
            for op in block.ops:
                self.mark(op)


# --- Export ---------------------------------------------------------------------------------------


class _Exporter:
    """Replaces manual computations by calls of functions with their bodies, at the end of the module."""

    def __init__(self, module: ModuleOp, is_as_custom_call: bool, rewriter: Rewriter) -> None:
        self._module = module
        self._is_as_custom_call = is_as_custom_call
        self._rewriter = rewriter
        self._fresh = FreshNames(module)

    def export(self, op: ManualComputationOp, outer: tuple[str, ...]) -> None:
        if _first_sharding(op) is None:
            self._inline(op)
            return
        inner = ManualAxes((*outer, *op.manual_axes))
        around = ManualAxes(outer)
        point: InsertionPoint = {"before": op}
        arguments = op.block.arguments
        local_operands = [
            self._converted(
                op,
                value,
                argument.type,
                (sharding, around),
                (without_manual_axes(sharding, inner), inner),
                _FULL_TO_SHARD,
            )
            for value, argument, sharding in zip(op.operands, arguments, op.in_shardings, strict=True)
        ]
        local_outputs = [without_manual_axes(sharding, inner) for sharding in op.out_shardings]
        function = self._create_function(op, inner)
        call = self._rewriter.create(
            CallOp,
            local_operands,
            function.function_type.results,
            {
                "callee": SymbolRef(function.sym_name),
                SHARDING: ShardingPerValue(tuple(local_outputs)),
                **_manual(inner),
            },
            location=op.lazy_location,
            **point,
        )
        for local, result, local_sharding, sharding in zip(
            call.results, op.results, local_outputs, op.out_shardings, strict=True
        ):
            value = self._converted(
                op, local, result.type, (local_sharding, inner), (sharding, around), _SHARD_TO_FULL
            )
            self._rewriter.replace_all_uses(result, value)
        self._rewriter.erase(op)

    def _converted(
        self,
        op: ManualComputationOp,
        value: Value,
        type: Type,
        before: tuple[TensorSharding, ManualAxes],
        after: tuple[TensorSharding, ManualAxes],
        target: str,
    ) -> Value:
        """A value resharded, then with the type that it has on the other side of the body's border."""
        if not isinstance(type, ShapedType):
            return value
        point: InsertionPoint = {"before": op}
        location = op.lazy_location
        attributes = _sharded(*before)
        copy = self._rewriter.create(
            CustomCallOp if self._is_as_custom_call else CopyOp,
            [value],
            [value.type],
            {**attributes, "call_target_name": string(SHARDING_TARGET)}
            if self._is_as_custom_call
            else attributes,
            location=location,
            **point,
        )
        call = self._rewriter.create(
            CustomCallOp,
            copy.results,
            [type],
            {**_sharded(*after), "call_target_name": string(target)},
            location=location,
            **point,
        )
        return call.results[0]

    def _create_function(self, op: ManualComputationOp, manual: ManualAxes) -> FuncOp:
        block = op.block
        terminator = block.terminator
        assert terminator is not None
        types = FunctionType(
            tuple([argument.type for argument in block.arguments]), terminator.signature.operand_types
        )
        region = Region()
        function = self._rewriter.create(
            FuncOp,
            (),
            (),
            {
                "sym_name": string(self._fresh.take(_FUNCTION_NAME)),
                "function_type": TypeAttr(types),
                "sym_visibility": string("private"),
            },
            at_end_of=self._module.block,
            location=op.lazy_location,
            regions=[region],
        )
        assert isinstance(function, FuncOp)
        self._rewriter.take_body(op.body, region)
        self._rewriter.create(
            ReturnOp, terminator.operands, at_end_of=region.blocks[0], location=terminator.lazy_location
        )
        self._rewriter.erase(terminator)
        for shardings, set_attribute in (
            (op.in_shardings, self._rewriter.set_argument_attribute),
            (op.out_shardings, self._rewriter.set_result_attribute),
        ):
            for index, sharding in enumerate(shardings):
                for name, value in _manual(manual).items():
                    set_attribute(function, index, name, value)
                set_attribute(function, index, SHARDING, without_manual_axes(sharding, manual))
        return function

    def _inline(self, op: ManualComputationOp) -> None:
        """Replaces a computation without operands and results by its body."""
        terminator = op.block.terminator
        for inner in list(op.block.ops):
            if inner is not terminator:
                self._rewriter.move(inner, before=op)
        self._rewriter.erase(op)


def _sharded(sharding: TensorSharding, manual: ManualAxes) -> dict[str, Attribute]:
    return {SHARDING: ShardingPerValue((sharding,)), **_manual(manual)}


def _manual(axes: ManualAxes) -> dict[str, Attribute]:
    return {MANUAL_AXES: axes} if axes else {}

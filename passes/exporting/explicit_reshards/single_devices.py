"""Reshards around operations that run on a single device: those with a result on a maximal mesh.

    %0 = stablehlo.custom_call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
becomes
    %0 = sdy.reshard %a <@mesh, [{}, {}]>
    %1 = sdy.reshard %0 <@device_0, []>
    %2 = stablehlo.custom_call @f(%1) {sdy.sharding = #sdy.sharding_per_value<[<@device_0, []>]>}
    %3 = sdy.reshard %2 <@mesh, [{}, {}]>

Operands and results are replicated on the global mesh, which is the first one with axes. Results that are
sharded are resharded once more. Tokens are not resharded: those that the operation produces keep their
sharding, and are on the global mesh with `--sdy-version=jaxlib-0.10.2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sdyopt.base.releases import Behavior
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.mesh_op import MeshLookup, MeshOp, enclosing_module
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, value_before_barriers
from sdyopt.mlir.dialects.sdy.sharding import MeshOrRef, TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.sharding_edits import set_sharding
from sdyopt.mlir.dialects.sdy.value_shardings import distinct_values, sharding_of
from sdyopt.mlir.dialects.stablehlo.types import TokenType
from sdyopt.mlir.ir.attribute import Attribute, SymbolRef
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpOperand, Value

from .insertion import insertion_point_after, reshard_use


def global_mesh(op: Op) -> MeshOp | None:
    """The first mesh of the enclosing module that has axes; None if there is none."""
    module = enclosing_module(op)
    meshes = () if module is None else module.block.ops
    return next((mesh for mesh in meshes if isinstance(mesh, MeshOp) and mesh.mesh.axes), None)


def check_arguments_and_results(function: FuncOp, mesh_of: MeshLookup) -> None:
    """Checks that no argument or result is on a single device."""
    attributes = (("argument", function.argument_attributes), ("result", function.result_attributes))
    for word, dictionaries in attributes:
        for index, dictionary in enumerate(dictionaries):
            sharding = dictionary.get(SHARDING)
            if isinstance(sharding, TensorSharding) and _is_maximal(sharding, mesh_of):
                kind = "single-device" if Behavior.REWORDED_ERRORS.active else "single-device (maximal)"
                raise function.op_error(f"function {word} {index} cannot have a {kind} sharding attribute")


def has_single_devices(function: FuncOp, mesh_of: MeshLookup) -> bool:
    """Whether a value of a function is on a single device."""
    shardings = map(sharding_of, distinct_values(function))
    return any(sharding is not None and _is_maximal(sharding, mesh_of) for sharding in shardings)


class SingleDeviceResharder:
    """Inserts the reshards around operations of one function."""

    def __init__(self, function: FuncOp, mesh_of: MeshLookup, rewriter: Rewriter) -> None:
        self._mesh_of = mesh_of
        self._rewriter = rewriter
        self._global = global_mesh(function)

    def device_sharding(self, op: Op) -> TensorSharding | None:
        """The sharding on the single device that an operation runs on; None if it runs on all.

        Raises DiagnosticError if results are on different devices.
        """
        device: TensorSharding | None = None
        for sharding in self._result_shardings(op):
            if sharding is None or not _is_maximal(sharding, self._mesh_of):
                continue
            mesh = sharding.mesh_or_ref
            if device is not None and self._mesh_of(mesh) is not self._mesh_of(device.mesh_or_ref):
                raise op.op_error("has conflicting single-device result shardings")
            device = fully_replicated(0, mesh, is_closed=True)
        return device

    def reshard(self, op: Op, device: TensorSharding) -> None:
        """Reshards the tensors of an operation to and from the sharding on its device."""
        if self._global is None:
            return
        mesh = SymbolRef(self._global.sym_name)
        shardings = list(self._result_shardings(op))
        for use in op.operand_uses:
            self._reshard_operand(use, device, mesh)
        after_op = insertion_point_after(op)
        for result, sharding in zip(op.results, shardings, strict=True):
            if isinstance(result.type, RankedTensor):
                self._reshard_result(op, result, result.type.rank, sharding, mesh, after_op)
        for result in op.results:
            if isinstance(result.type, RankedTensor):
                set_sharding(result, device, self._rewriter)
            elif isinstance(result.type, TokenType) and not Behavior.KEPT_TOKEN_SHARDINGS.active:
                set_sharding(result, fully_replicated(0, mesh, is_closed=True), self._rewriter)

    def _reshard_operand(self, use: OpOperand, device: TensorSharding, mesh: MeshOrRef) -> None:
        if not isinstance(use.value.type, RankedTensor):
            return
        replicated = fully_replicated(use.value.type.rank, mesh, is_closed=True)
        sharding = sharding_of(use.value) or replicated
        if sharding.is_equivalent(device) and sharding.mesh_or_ref is device.mesh_or_ref:
            return
        if not sharding.is_fully_replicated or sharding.mesh_or_ref is not mesh:
            reshard_use(use, replicated, {"before": use.owner}, self._rewriter)
        reshard_use(use, device, {"before": use.owner}, self._rewriter)

    def _reshard_result(
        self,
        op: Op,
        result: Value,
        rank: int,
        sharding: TensorSharding | None,
        mesh: MeshOrRef,
        after_op: InsertionPoint,
    ) -> None:
        replicated = fully_replicated(rank, mesh, is_closed=True)
        targets = [replicated]
        if sharding is not None and not _is_maximal(sharding, self._mesh_of) and sharding is not replicated:
            targets.append(sharding)
        value = result
        for target in targets:
            attributes: Mapping[str, Attribute] = {"sharding": target}
            reshard = self._rewriter.create(
                ReshardOp, [value], [value.type], attributes, location=op.lazy_location, **after_op
            )
            self._rewriter.replace_uses_except(value, reshard.result, reshard)
            value = reshard.result

    def _result_shardings(self, op: Op) -> Iterator[TensorSharding | None]:
        return (sharding_of(value_before_barriers(result)) for result in op.results)


def _is_maximal(sharding: TensorSharding, mesh_of: MeshLookup) -> bool:
    mesh = mesh_of(sharding.mesh_or_ref)
    return mesh is not None and mesh.is_maximal

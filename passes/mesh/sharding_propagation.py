"""sharding-propagation: propagate mesh shardings through a function.

    %s = mesh.shard %a to <@grid, [[0]]> : tensor<6x4xf32>
    %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0
becomes
    %s = mesh.shard %a to <@grid, [[0]]> : tensor<6x4xf32>
    %t = mesh.shard %s to <@grid, [[0]]> annotate_for_users : tensor<6x4xf32>
    %0 = tosa.abs %t : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = mesh.shard %0 to <@grid, [[0]]> : tensor<6x4xf32>
    return %1

The annotations on operands and results shard the iterators of an operation, and the iterators shard all
operands and results. Annotations without `annotate_for_users` on results and annotations with it on
operands take precedence; of the others, the pass uses the combination that needs the least resharding.
Operations are visited in reverse order and then in order, or as `traversal` selects.
"""

from __future__ import annotations

from enum import StrEnum

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.mesh.attributes import MeshSharding, mesh
from sdyopt.mlir.dialects.mesh.mesh_op import mesh_dialect_of
from sdyopt.mlir.dialects.mesh.shard_op import ShardingSource, ShardOp, make_shard
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.traits import CONSTANT_LIKE
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import OpOperand, Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from .spmd.sharding_interface import (
    ReshardingRequirement,
    annotation_of,
    find_iterator_axes,
    has_sharding_model,
    iteration_space_of,
    possible_operand_shardings,
    possible_result_shardings,
    resharding_requirement,
)


class Traversal(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    FORWARD_BACKWARD = "forward-backward"
    BACKWARD_FORWARD = "backward-forward"


@register("sharding-propagation")
class ShardingPropagation(Pass):
    anchor = FUNCTION

    traversal: Traversal = option(
        default=Traversal.BACKWARD_FORWARD,
        help="order in which the operations of a function are visited",
    )

    def run(self, function: FuncOp) -> bool:
        if len(function.body.blocks) != 1:
            raise function.op_error("only one block is supported!")
        for op in function.entry.ops:
            if isinstance(op, ShardOp) and op.mesh_sharding.offsets:
                raise op.error("shardings with sharded dims offsets are not propagated")
        rewriter = Rewriter()
        for direction in self.traversal.split("-"):
            ops = list(function.entry.ops)
            for op in ops if direction == "forward" else reversed(ops):
                _visit(op, rewriter)
        return rewriter.changed


def _visit(op: Op, rewriter: Rewriter) -> None:
    if op.is_terminator or isinstance(op, ShardOp | ShardingSource):
        return
    is_llvm21 = mesh_dialect_of(op) is not mesh
    if is_llvm21 and CONSTANT_LIKE in op.traits and not _is_annotated(op):
        return
    if not has_sharding_model(op):
        raise op.op_error("sharding interface is not implemented.")
    shardings = _best_shardings(op)
    if shardings is None:
        return
    operands, results = shardings
    for result, sharding in zip(op.results, results, strict=True):
        _annotate_result(op, result, sharding, rewriter)
    for use, sharding in zip(op.operand_uses, operands, strict=True):
        _annotate_operand(use, sharding, rewriter)


def _is_annotated(op: Op) -> bool:
    """Whether the result is a tensor with an annotation."""
    (result,) = op.results
    return isinstance(result.type, RankedTensor) and any(isinstance(user, ShardOp) for user in result.users)


OpShardings = tuple[list[MeshSharding], list[MeshSharding]]


def _best_shardings(op: Op) -> OpShardings | None:
    """The operand and result shardings that require the least resharding; None if annotations allow none."""
    space = iteration_space_of(op)
    # LLVM 22 has no partial shardings: partial results are reduced.
    is_reduced = mesh_dialect_of(op).name == "shard"
    best: OpShardings | None = None
    best_requirement: ReshardingRequirement | None = None
    for result_shardings in possible_result_shardings(op):
        for operand_shardings in possible_operand_shardings(op):
            axes = find_iterator_axes(op, space, result_shardings, operand_shardings)
            if axes is None:
                continue
            operands = [axes.operand_sharding(map) for map in axes.space.operand_maps]
            result_sharding = axes.operand_sharding if is_reduced else axes.result_sharding
            results = [result_sharding(map) for map in axes.space.result_maps]
            requirement = resharding_requirement(op, operands, results)
            if best_requirement is None or requirement < best_requirement:
                best, best_requirement = (operands, results), requirement
            if requirement is ReshardingRequirement.NONE:
                return best
    return best


def _annotate_result(op: Op, result: Value, sharding: MeshSharding, rewriter: Rewriter) -> None:
    """Annotates a result: once per user in LLVM 19, once for all users in LLVM 21."""
    dialect = mesh_dialect_of(op)
    shared: ShardOp | None = None
    for user in list(dict.fromkeys(result.users)):
        is_for_producer = isinstance(user, ShardOp) and not user.annotate_for_users
        if is_for_producer and isinstance(user, ShardOp) and user.mesh_sharding.is_equivalent_to(sharding):
            continue
        annotation = shared or make_shard(rewriter, dialect, result, sharding, False, op.location, after=op)
        shared = annotation if dialect is not mesh else None
        if is_for_producer:
            annotation = make_shard(
                rewriter,
                dialect,
                annotation.result,
                sharding,
                True,
                op.location,
                like=annotation,
                after=annotation,
            )
        for use in user.operand_uses:
            if use.value is result:
                rewriter.set_operand(use, annotation.result)


def _annotate_operand(use: OpOperand, sharding: MeshSharding, rewriter: Rewriter) -> None:
    """Annotates an operand for the operation that uses it."""
    value, op = use.value, use.owner
    if not isinstance(value.type, RankedTensor):
        return
    annotation = annotation_of(value)
    dialect = mesh_dialect_of(op)
    if annotation is not None and annotation.annotate_for_users:
        if annotation.mesh_sharding.is_equivalent_to(sharding):
            return
        first = make_shard(rewriter, dialect, value, sharding, False, op.location, before=op)
        annotation = make_shard(
            rewriter, dialect, first.result, sharding, True, op.location, like=first, before=op
        )
    else:
        annotation = make_shard(rewriter, dialect, value, sharding, True, op.location, before=op)
    for other in op.operand_uses:
        if other.value is value:
            rewriter.set_operand(other, annotation.result)

"""sharding-propagation: carry annotations from values to values, until every operation has them.

    %s = mesh.shard %a to <@grid, [[0]]> : tensor<6x4xf32>
    %0 = tosa.abs %s : (tensor<6x4xf32>) -> tensor<6x4xf32>
    return %0
becomes
    %s = mesh.shard %a to <@grid, [[0]]> : tensor<6x4xf32>
    %t = mesh.shard %s to <@grid, [[0]]> annotate_for_users : tensor<6x4xf32>
    %0 = tosa.abs %t : (tensor<6x4xf32>) -> tensor<6x4xf32>
    %1 = mesh.shard %0 to <@grid, [[0]]> : tensor<6x4xf32>
    return %1

Each operation stands for loops. What is annotated around it says along which mesh axes its loops are
split, and that says how all of its operands and results are laid out. Of what is annotated, producers'
annotations on results and users' annotations on operands are kept; of the others as many as possible.
Operations are visited from last to first and then from first to last, or as `traversal` says.
"""

from __future__ import annotations

from enum import StrEnum

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.mesh.dialect import mesh
from sdyopt.dialects.mesh.dialect_version import mesh_dialect_of
from sdyopt.dialects.mesh.shard_op import ShardingSource, ShardOp, make_shard
from sdyopt.dialects.mesh.sharding import MeshSharding
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.traits import CONSTANT_LIKE
from sdyopt.ir.value import OpOperand, Value
from sdyopt.pipeline import FUNCTION, Pass, option
from sdyopt.registry import register

from .spmd.annotations import (
    CONTRADICTS,
    FITS,
    annotation_of,
    match_quality,
    operand_choices,
    result_choices,
)
from .spmd.iterator_axes import axes_of_iterators
from .spmd.sharding_interface import has_iteration_space, iteration_space_of


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
        help="In which order the operations of a function are visited, once or twice",
    )

    def run(self, function: FuncOp) -> bool:
        if function.is_declaration:
            return False
        if len(function.body.blocks) > 1:
            raise function.op_error("only one block is supported!")
        rewriter = Rewriter()
        for direction in self.traversal.split("-"):
            ops = list(function.entry.ops)
            for op in ops if direction == "forward" else reversed(ops):
                _visit(op, rewriter)
        return rewriter.changed


def _visit(op: Op, rewriter: Rewriter) -> None:
    if op.is_terminator or isinstance(op, ShardOp | ShardingSource):
        return
    is_later = mesh_dialect_of(op) is not mesh
    if is_later and CONSTANT_LIKE in op.traits:
        return
    if not has_iteration_space(op):
        raise op.op_error("sharding interface is not implemented.")
    shardings = _best_layouts(op)
    if shardings is None:
        return
    operands, results = shardings
    for result, sharding in zip(op.results, results, strict=True):
        _annotate_result(op, result, sharding, rewriter)
    for use, sharding in zip(op.operand_uses, operands, strict=True):
        _annotate_operand(use, sharding, rewriter)


Chosen = tuple[list[MeshSharding], list[MeshSharding]]


def _best_layouts(op: Op) -> Chosen | None:
    """The shardings of operands and results that go best with what is annotated around."""
    space = iteration_space_of(op)
    best: Chosen | None = None
    best_grade = CONTRADICTS + 1
    for results in result_choices(op):
        for operands in operand_choices(op):
            axes = axes_of_iterators(op, space, results, operands)
            if axes is None:
                continue
            chosen = (
                [axes.operand_layout(map) for map in axes.space.operand_maps],
                [axes.result_layout(map) for map in axes.space.result_maps],
            )
            found = match_quality(op, *chosen)
            if found < best_grade:
                best, best_grade = chosen, found
            if best_grade == FITS:
                return best
    return best


def _annotate_result(op: Op, result: Value, sharding: MeshSharding, rewriter: Rewriter) -> None:
    """Every user gets the result through an annotation: its own, or in later forms one for all."""
    dialect = mesh_dialect_of(op)
    shared: ShardOp | None = None
    for user in list(dict.fromkeys(result.users)):
        is_producers = isinstance(user, ShardOp) and not user.annotate_for_users
        if is_producers and isinstance(user, ShardOp) and user.mesh_sharding.is_equivalent_to(sharding):
            continue
        made = shared or make_shard(rewriter, dialect, result, sharding, False, op.location, after=op)
        shared = made if dialect is not mesh else None
        if is_producers:
            made = make_shard(rewriter, dialect, made.result, sharding, True, op.location, after=made)
        for use in user.operand_uses:
            if use.value is result:
                rewriter.set_operand(use, made.result)


def _annotate_operand(use: OpOperand, sharding: MeshSharding, rewriter: Rewriter) -> None:
    """The operation gets the operand through an annotation for users."""
    value, op = use.value, use.owner
    annotation = annotation_of(value)
    dialect = mesh_dialect_of(op)
    source = value
    if annotation is not None and annotation.annotate_for_users:
        if annotation.mesh_sharding.is_equivalent_to(sharding):
            return
        source = make_shard(rewriter, dialect, value, sharding, False, op.location, before=op).result
    made = make_shard(rewriter, dialect, source, sharding, True, op.location, before=op)
    for other in op.operand_uses:
        if other.value is value:
            rewriter.set_operand(other, made.result)

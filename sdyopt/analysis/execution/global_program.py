"""The program on whole tensors: without shardings, and without operations of sdy.

Moving data between devices changes no tensor, so all reshards and collectives of sdy are identities.
"""

from __future__ import annotations

from sdyopt.analysis.execution.failure import NotValidated
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.collectives import AllReduceOp, CollectiveOp, ReduceScatterOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp, NamedComputationOp
from sdyopt.mlir.dialects.sdy.mesh_op import MeshOp
from sdyopt.mlir.dialects.sdy.ops import (
    ConstantOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
    ShardingGroupOp,
)
from sdyopt.mlir.dialects.sdy.value_shardings import DataFlowEdgeOp, FuncDataFlowEdgeOp, sharding_of
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp as StablehloConstantOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.value import Value

_IDENTITIES = (
    CollectiveOp,
    DataFlowEdgeOp,
    FuncDataFlowEdgeOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingConstraintOp,
)
COLLECTIVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "reduce_scatter"),
    )
)
# The starts of the names of attributes that describe how a program is sharded or called. Other attributes of
# mhlo describe custom calls.
_ANNOTATING = ("sdy.", "mhlo.sharding", "mhlo.num_", "mhlo.frontend", "jax.", "tf.")


def has_manual_computation(module: ModuleOp) -> bool:
    """Whether a program is local in part, so that it has no meaning on whole tensors.

    A manual computation without manual axes is not local.
    """
    return any(isinstance(op, ManualComputationOp) and op.manual_axes for op in module.walk())


def make_global(module: ModuleOp) -> None:
    """Turns a program without manual computations along axes into one on whole tensors, in place."""
    rewriter, ops = Rewriter(), list(module.walk_post_order())
    for op in ops:
        if isinstance(op, AllReduceOp | ReduceScatterOp) and not _has_partial_results(op.tensor):
            raise NotValidated(f"'{op.name}' adds copies of a value, which is no operation on whole tensors")
        if op.name in COLLECTIVES and _names_other_devices(op):
            raise NotValidated(f"'{op.name}' outside of a manual computation has no meaning on whole tensors")
    for op in ops:
        if isinstance(op, _IDENTITIES):
            rewriter.replace(op, [op.operands[0]])
        elif isinstance(op, ConstantOp):
            value = {"value": op.signature.attributes["value"]}
            created = rewriter.create(StablehloConstantOp, (), op.result_types, value, before=op)
            rewriter.replace(op, created)
        elif isinstance(op, NamedComputationOp | ManualComputationOp):
            _inline(op, rewriter)
        elif isinstance(op, ShardingGroupOp | MeshOp):
            rewriter.erase(op)
        else:
            drop_annotations(op, rewriter)


def _has_partial_results(value: Value) -> bool:
    """Whether the devices may have partial results of a value, whose sum is the value."""
    sharding = sharding_of(value)
    if sharding is not None and sharding.unreduced_axes:
        return True
    op = value.defining_op
    return op is not None and op.dialect_name != "sdy"


def _names_other_devices(collective: Op) -> bool:
    """Whether a collective names devices other than the first one."""
    devices = collective.attribute("replica_groups") or collective.attribute("source_target_pairs")
    return not isinstance(devices, DenseElements) or any(devices.data)


def drop_annotations(op: Op, rewriter: Rewriter) -> None:
    """Removes the attributes of an operation that say how it is sharded or called."""
    for name, _ in op.attributes:
        if name.startswith(_ANNOTATING):
            rewriter.remove_attribute(op, name)
    if isinstance(op, FuncOp):
        rewriter.remove_attribute(op, "arg_attrs")
        rewriter.remove_attribute(op, "res_attrs")


def _inline(computation: NamedComputationOp | ManualComputationOp, rewriter: Rewriter) -> None:
    block = computation.block
    for argument, operand in zip(block.arguments, computation.operands, strict=True):
        rewriter.replace_all_uses(argument, operand)
    returned = block.last
    assert returned is not None
    for op in list(block.ops):
        if op is not returned:
            rewriter.move(op, before=computation)
    rewriter.replace(computation, returned.operands)

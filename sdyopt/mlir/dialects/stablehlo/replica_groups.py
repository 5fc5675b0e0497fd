"""The base class of collective operations with replica groups, and the checks of the groups."""

from __future__ import annotations

from functools import lru_cache

from sdyopt.mlir.dialects.stablehlo.attribute_constraints import integers_of
from sdyopt.mlir.dialects.stablehlo.channel import CHANNEL_HANDLE
from sdyopt.mlir.dialects.stablehlo.mesh_axes import ReplicaGroupMeshAxes
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import AttrConstraint
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import I64


def _is_replica_groups(attribute: Attribute) -> bool:
    is_list = isinstance(attribute, DenseElements) and attribute.type.element is I64
    return is_list or isinstance(attribute, ReplicaGroupMeshAxes)


REPLICA_GROUPS: AttrConstraint[DenseElements | ReplicaGroupMeshAxes] = AttrConstraint(
    "64-bit signless integer elements attribute or mesh and axes based replica groups representation.",
    _is_replica_groups,
    lambda attribute: attribute,
    lambda attribute: True,
)


class CollectiveOp(Op):
    """Base of collective operations with replica groups, which may reference a mesh."""

    __slots__ = ()

    replica_groups = op_fields.attr(REPLICA_GROUPS)
    channel_handle = op_fields.optional_attr(CHANNEL_HANDLE)

    def verify_symbol_uses(self) -> None:
        groups = self.signature.attributes.get("replica_groups")
        if isinstance(groups, ReplicaGroupMeshAxes):
            groups.verify_symbols(self)


def channel_id(signature: OpSignature) -> int:
    """The channel id of a collective, 0 if it has no channel handle."""
    channel = signature[CollectiveOp.channel_handle]
    return 0 if channel is None else channel.handle


def check_replica_groups(
    signature: OpSignature,
    has_uniform_size: bool,
    uses_global_ids: bool = False,
    group_size: int | None = None,
) -> None:
    """Checks that each of the ids 0, 1, … is in the groups exactly once.

    `has_uniform_size` disallows the id -1, which pads groups of different sizes; `uses_global_ids` disallows
    empty groups; `group_size` is the required size, if any. Groups given by mesh axes are not checked.
    """
    groups = signature[CollectiveOp.replica_groups]
    if not isinstance(groups, DenseElements):
        return
    shape = groups.type.shape
    if len(shape) != 2:
        raise signature.error_without_op_note("replica groups should be a rank 2 tensor")
    if uses_global_ids and 0 in shape:
        raise signature.error_without_op_note(
            "if `use_global_device_ids` is set, the replica groups cannot be empty"
        )
    problem = _id_problem(groups, has_uniform_size)
    if problem is not None:
        raise signature.error_without_op_note(problem)
    # StableHLO's verifier divides by zero here if there are no groups.
    actual_size = shape[1] if shape[0] else 0
    if has_uniform_size and group_size is not None and group_size != actual_size:  # all_to_all_c8
        raise signature.error_without_op_note(f"group size of replica_groups must be {group_size}")


@lru_cache(maxsize=256)
def _id_problem(groups: DenseElements, has_uniform_size: bool) -> str | None:
    """The first problem of the ids. Most collectives of a program have the same few groups."""
    seen: set[int] = set()
    for replica in integers_of(groups):
        if replica == -1:
            if has_uniform_size:
                return "Invalid replica id -1"
        elif replica in seen:  # all_gather_c2, all_reduce_c1, all_to_all_c5
            return f"replica id #{replica} seen more than once"
        else:
            seen.add(replica)
    for replica in range(len(seen)):
        if replica not in seen:  # all_gather_c4, all_reduce_c3, all_to_all_c7
            return f"replica id #{replica} not seen in replica groups"
    return None

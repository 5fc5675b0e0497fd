"""Replica groups: which processes a collective operation runs over, and what is asked of them."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.attribute_kinds import integers_of
from sdyopt.dialects.stablehlo.channel import ChannelHandle
from sdyopt.dialects.stablehlo.mesh_axes import ReplicaGroupMeshAxes
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.constraints import AttrKind
from sdyopt.ir.elements_attributes import DenseElements
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.types import I64


def _is_replica_groups(attribute: Attribute) -> bool:
    is_list = isinstance(attribute, DenseElements) and attribute.type.element is I64
    return is_list or isinstance(attribute, ReplicaGroupMeshAxes)


REPLICA_GROUPS: AttrKind[Attribute] = AttrKind(
    "64-bit signless integer elements attribute or mesh and axes based replica groups representation.",
    _is_replica_groups,
    lambda attribute: attribute,
    lambda attribute: True,
)


class GroupedOp(Op):
    """An operation that runs over replica groups, which may name a mesh."""

    __slots__ = ()

    def verify_symbol_uses(self) -> None:
        groups = self.signature.attributes.get("replica_groups")
        if isinstance(groups, ReplicaGroupMeshAxes):
            groups.verify_symbols(self)


def channel_id(signature: OpSignature) -> int:
    """The number of the operation's channel, 0 if it has none."""
    channel = signature.channel_handle
    return channel.handle if isinstance(channel, ChannelHandle) else 0


def check_replica_groups(
    signature: OpSignature,
    are_of_one_size: bool,
    uses_global_ids: bool = False,
    group_size: int | None = None,
) -> None:
    """The groups hold each process just once, and -1 only to fill up smaller groups."""
    groups = signature.replica_groups
    if not isinstance(groups, DenseElements):
        return
    shape = groups.type.shape
    if len(shape) != 2:
        raise signature.located_error("replica groups should be a rank 2 tensor")
    if uses_global_ids and 0 in shape:
        raise signature.located_error("if `use_global_device_ids` is set, the replica groups cannot be empty")
    seen = _check_each_once(signature, integers_of(groups), are_of_one_size)
    for replica in range(len(seen)):
        if replica not in seen:  # all_gather_c4, all_reduce_c3, all_to_all_c7
            raise signature.located_error(f"replica id #{replica} not seen in replica groups")
    # No groups have no size; the reference divides by zero.
    if (
        are_of_one_size and group_size is not None and group_size != (shape[1] if shape[0] else 0)
    ):  # all_to_all_c8
        raise signature.located_error(f"group size of replica_groups must be {group_size}")


def _check_each_once(signature: OpSignature, replicas: list[int], are_of_one_size: bool) -> set[int]:
    seen: set[int] = set()
    for replica in replicas:
        if replica == -1:
            if not are_of_one_size:
                continue
            raise signature.located_error("Invalid replica id -1")
        if replica in seen:  # all_gather_c2, all_reduce_c1, all_to_all_c5
            raise signature.located_error(f"replica id #{replica} seen more than once")
        seen.add(replica)
    return seen

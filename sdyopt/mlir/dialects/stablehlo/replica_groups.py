"""Channels and replica groups of collectives.

#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
"""

from __future__ import annotations

from functools import lru_cache

from sdyopt.mlir.asm.format.attribute_format import (
    InFull,
    OptionalParameters,
    Struct,
    attribute_format,
    dialect_attribute,
    integer,
    nested,
    nested_list,
    string,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    parse_attribute_of_class,
)
from sdyopt.mlir.dialects.stablehlo.dialect import integers_of, stablehlo
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import AttrConstraint, of_class
from sdyopt.mlir.ir.types import I64, IndexType, IntegerType

DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE = 1, 2, 3


@dialect_attribute(stablehlo, "channel_handle", "StableHLO_ChannelHandle")
class ChannelHandle(Attribute):
    """A channel id and its type (DEVICE_TO_DEVICE, …). An id that is not positive means no channel."""

    handle: int
    type: int
    dialect = "stablehlo"
    assembly = attribute_format("<", Struct(integer("handle"), integer("type")), ">")


CHANNEL_HANDLE = of_class(ChannelHandle, "two 64-bit integers 'handle' and 'type'")


@dialect_attribute(stablehlo, "sub_axis_info", "StableHLO_SubAxisInfo")
class SubAxisInfo(Attribute):
    """`(1)2`: the pre-size and size of a sub-axis."""

    pre_size: int
    size: int
    dialect = "stablehlo"
    assembly = attribute_format("(", integer("pre_size"), ")", integer("size"))


@dialect_attribute(stablehlo, "axis_ref", "StableHLO_AxisRef")
class AxisRef(Attribute):
    """A reference to an axis or sub-axis by name."""

    name: str
    sub_axis_info: SubAxisInfo | None = None
    dialect = "stablehlo"
    assembly = attribute_format(
        "<", Struct(string("name"), optional=[nested("sub_axis_info", SubAxisInfo)]), ">"
    )


@dialect_attribute(stablehlo, "mesh_axis", "StableHLO_MeshAxis")
class MeshAxis(Attribute):
    """A named axis of a mesh and its size."""

    name: str
    size: int
    dialect = "stablehlo"
    assembly = attribute_format("<", Struct(string("name"), integer("size")), ">")


@dialect_attribute(stablehlo, "mesh", "StableHLO_Mesh")
class Mesh(Attribute):
    """The axes of a mesh, and its device ids, by default an iota."""

    axes: tuple[MeshAxis, ...]
    device_ids: DenseElements | None = None
    dialect = "stablehlo"

    @staticmethod
    def _parse_device_ids(parser: AsmParser) -> DenseElements:
        offset = parser.skip_trivia()
        ids = parser.attribute()
        if not isinstance(ids, DenseElements) or not isinstance(ids.type.element, IntegerType | IndexType):
            raise parser.error("invalid kind of attribute specified", offset)
        return ids

    assembly = attribute_format(
        "<",
        "axes",
        "=",
        "[",
        nested_list("axes", MeshAxis, namespace="stablehlo::"),
        "]",
        OptionalParameters(
            ", ",
            "device_ids",
            "=",
            InFull("device_ids", "DenseIntElementsAttr", _parse_device_ids),
            default=None,
        ),
        ">",
    )


@dialect_attribute(stablehlo, "replica_group_mesh_axes", "StableHLO_ReplicaGroupMeshAxes")
class ReplicaGroupMeshAxes(Attribute):
    """Axes of a mesh, which is inlined or referenced by symbol."""

    mesh: Mesh | SymbolRef
    axes: ArrayAttr
    dialect = "stablehlo"

    def _problem(self) -> str | None:
        """The error message for an invalid mesh or axes, or None. Axes of a mesh's symbol are not checked."""
        if not isinstance(self.mesh, Mesh):
            is_symbol = isinstance(self.mesh, SymbolRef) and not self.mesh.nested
            return None if is_symbol else "mesh must be a FlatSymbolRefAttr or MeshAttr"
        names = {axis.name for axis in self.mesh.axes}
        for axis in self.axes:
            if not isinstance(axis, AxisRef):
                return "expected AxisRefAttr in axes list"
            if axis.name not in names:
                return f"axis '{axis.name}' not found in mesh definition"
        return None

    assembly = attribute_format(
        "<",
        Struct(
            InFull("mesh", "Attribute"),
            InFull("axes", "ArrayAttr", lambda parser: parse_attribute_of_class(parser, ArrayAttr)),
        ),
        ">",
        check=_problem,
    )

    def verify_symbols(self, op: Op) -> None:
        """Checks that the symbol of a referenced mesh exists."""
        if isinstance(self.mesh, SymbolRef) and lookup_symbol(op, self.mesh) is None:
            raise op.op_error(f"replica_groups: mesh symbol '{self.mesh.root}' not found")


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

"""Point-to-point communication: send, recv, shift."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import AttrDict, FormatElement, assembly
from sdyopt.mlir.asm.format.directives import DynamicIndexList, TypeOfClass, UnitKeyword
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.assembly_directives import device_clause, integer_clause, offset_clause
from sdyopt.mlir.dialects.mesh.collective_base import (
    AXIS,
    DEVICE,
    EMPTY_MESH_AXES,
    NON_0_RANKED,
    RANKED,
    SAME_SHAPE_EXACTLY,
    Collective,
    check_device,
)
from sdyopt.mlir.dialects.mesh.collectives import INPUT_ON_MESH
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp
from sdyopt.mlir.dialects.mesh.mesh_queries import INDEX_VALUE
from sdyopt.mlir.dialects.mesh.rooted_collectives import (
    ATTRIBUTES_AND_TYPES,
    SAME_INPUT_AND_RESULT_ELEMENT_TYPE,
    check_coordinates,
)
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.constraints import I64_ATTR, UNIT_ATTR
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE, SAME_SHAPE
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import RankedTensor, ShapedType


class _OptionalSource(FormatElement):
    """`source = [%i, 2]`, or nothing without a source; an empty list is printed."""

    elides = ("source",)
    _list = DynamicIndexList("source_dynamic", "source")

    def parse(self, op_parser: OpAsmParser) -> None:
        op_parser.operand_names["source_dynamic"] = []
        if op_parser.accept("source"):
            op_parser.expect("=")
            self._list.parse(op_parser)

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        if signature[RecvOp.source] is not None:
            out.literal("source")
            out.literal("=")
            self._list.write(out, signature, attributes)


@mesh.op("send", SAME_SHAPE_EXACTLY, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class SendOp(Collective):
    """Sends the tensor of every device to one device of its group; the result is the operand.

    %1 = mesh.send %0 on @grid mesh_axes = [1, 0] destination = [%i, 1]
      : (tensor<4xf32>, index) -> tensor<4xf32>
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    destination = attr(DEVICE)
    destination_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "send"
    assembly = assembly(*INPUT_ON_MESH, *device_clause("destination"), *ATTRIBUTES_AND_TYPES)
    canonicalizations = (EMPTY_MESH_AXES,)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "destination")

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "destination", self.destination)


@mesh.op("recv", SAME_SHAPE_EXACTLY, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class RecvOp(Collective):
    """Receives a tensor from the device `source` of the group or, without `source`, from any device.

        %1 = mesh.recv %0 on @grid mesh_axes = [1] source = [2]
          : (tensor<4xf32>) -> tensor<4xf32>

    The operand determines the result type, and is the result on devices to which no device sends a tensor.
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    source = optional_attr(DEVICE)
    source_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "recv"
    assembly = assembly(*INPUT_ON_MESH, _OptionalSource(), *ATTRIBUTES_AND_TYPES)
    canonicalizations = (EMPTY_MESH_AXES,)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "source")

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        if self.source is not None:
            check_device(self, mesh_op, "source", self.source)


@mesh.op("shift", PURE, SAME_ELEMENT_TYPE, SAME_SHAPE)
class ShiftOp(Collective):
    """Moves tensors along one mesh axis, by `offset` devices towards higher indices.

        %1 = mesh.shift %0 on @grid mesh_axes = [1] shift_axis = 1 offset = 1 rotate
          : tensor<4xf32> -> tensor<4xf32>

    With `rotate`, tensors that leave the mesh enter at the other end. Without it, the result is undefined
    on devices that receive no tensor.
    """

    __slots__ = ()

    input = operand(NON_0_RANKED)
    shift_axis = attr(AXIS)
    offset = attr(I64_ATTR)
    rotate = optional_attr(UNIT_ATTR)
    result = result(RANKED)

    result_name = "shift"
    assembly = assembly(
        *INPUT_ON_MESH,
        *integer_clause("shift_axis"),
        *offset_clause(),
        UnitKeyword("rotate"),
        AttrDict(),
        ":",
        TypeOfClass("input", ShapedType),
        "->",
        TypeOfClass("result", RankedTensor),
    )

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        axis = self.shift_axis
        if axis not in self.mesh_axes:
            unsigned_axis = axis if axis >= 0 else axis + (1 << 64)
            raise self.error(f"Invalid shift axis {unsigned_axis}. It must be one of the grouping mesh axes.")

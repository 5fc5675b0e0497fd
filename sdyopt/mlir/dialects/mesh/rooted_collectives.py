"""Collectives with a root, and sends and receives along mesh axes."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.directives import (
    DynamicIndexList,
    has_operand_per_dynamic_index,
)
from sdyopt.mlir.asm.format.format_elements import FormatElement, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.attributes import (
    REDUCTION,
    SUM,
    mesh,
    mesh_word,
)
from sdyopt.mlir.dialects.mesh.collectives import (
    AXIS,
    DEVICE,
    EMPTY_MESH_AXES,
    INPUT_ON_MESH,
    NON_0_RANKED,
    RANKED,
    SAME_SHAPE_EXACTLY,
    MeshCollective,
    check_device,
    check_gathered_shape,
    check_sliced_shape,
)
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.shape_traits import SAME_ELEMENT_TYPE, SAME_SHAPE, same_element_types, same_ranks
from sdyopt.mlir.ir.traits import I64_ATTR, INDEX_VALUE, PURE, UNIT_ATTR

SAME_INPUT_AND_RESULT_ELEMENT_TYPE = same_element_types("input", "result")
_SAME_INPUT_AND_RESULT_RANK = same_ranks("input", "result")
ATTRIBUTES_AND_TYPES = "attr-dict `:` custom<OperandsAndResultsType>"


class RootedCollective(MeshCollective):
    """Base of the collectives with a root device: `root` has the root's index along each of `mesh_axes`."""

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "root")


def check_coordinates(signature: OpSignature, name: str) -> None:
    """Raises unless there is one operand per dynamic index of the device attribute `name`."""
    if not has_operand_per_dynamic_index(signature, f"{name}_dynamic", name):
        raise signature.op_error("number of dynamic coordinates does not match the operands")


@mesh.op("broadcast", PURE, SAME_SHAPE_EXACTLY, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class BroadcastOp(RootedCollective):
    """Copies the tensor of the root to every device of its group.

    %1 = mesh.broadcast %0 on @grid mesh_axes = [1, 0] root = [2, %i]
      : (tensor<4xf32>, index) -> tensor<4xf32>
    """

    input = operand(RANKED)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "broadcast"
    assembly = assembly(
        f"{INPUT_ON_MESH} `root` `=` custom<DynamicIndexList>($root_dynamic, $root) {ATTRIBUTES_AND_TYPES}"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)


@mesh.op("gather", PURE, _SAME_INPUT_AND_RESULT_RANK, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class GatherOp(RootedCollective):
    """Concatenates the tensors of each device group along `gather_axis`, on the root.

        %1 = mesh.gather %0 on @grid mesh_axes = [1] gather_axis = 1 root = [2]
          : (tensor<6x4xf32>) -> tensor<6x12xf32>

    The result is undefined on the other devices.
    """

    input = operand(NON_0_RANKED)
    gather_axis = attr(AXIS)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(NON_0_RANKED)

    result_name = "gather"
    assembly = assembly(
        f"{INPUT_ON_MESH} `gather_axis` `=` $gather_axis `root` `=` custom<DynamicIndexList>($root_dynamic, "
        f"$root) {ATTRIBUTES_AND_TYPES}"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)
        check_gathered_shape(self, mesh_op, self.gather_axis)


class ReduceOp(RootedCollective):
    """Reduces the tensors of each device group elementwise, on the root.

        %1 = mesh.reduce %0 on @grid mesh_axes = [1] reduction = <max> root = [2]
          : (tensor<4xf32>) -> tensor<4xf64>

    The result is undefined on the other devices.
    """

    input = operand(RANKED)
    reduction = attr(REDUCTION, default=SUM)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "reduce"
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)


@mesh.op("reduce", PURE, SAME_SHAPE_EXACTLY)
class Reduce19Op(ReduceOp):
    """`reduce` with the syntax of LLVM 19."""

    assembly = assembly(
        f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? `root` `=` custom<DynamicIndexList>($root_dynamic, "
        f"$root) {ATTRIBUTES_AND_TYPES}"
    )


@mesh.op("scatter", PURE, _SAME_INPUT_AND_RESULT_RANK, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class ScatterOp(RootedCollective):
    """Slices the tensor of the root along `scatter_axis`, one slice per device of the group.

    %1 = mesh.scatter %0 on @grid mesh_axes = [1] scatter_axis = 0 root = [1]
      : (tensor<6x4xf32>) -> tensor<2x4xf32>
    """

    input = operand(NON_0_RANKED)
    scatter_axis = attr(AXIS)
    root = attr(DEVICE)
    root_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "scatter"
    assembly = assembly(
        f"{INPUT_ON_MESH} `scatter_axis` `=` $scatter_axis `root` `=` "
        f"custom<DynamicIndexList>($root_dynamic, $root) {ATTRIBUTES_AND_TYPES}"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "root", self.root)
        check_sliced_shape(self, mesh_op, "Scatter", self.scatter_axis)


@directive("OptionalSource")
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
class SendOp(MeshCollective):
    """Sends the tensor of every device to one device of its group; the result is the operand.

    %1 = mesh.send %0 on @grid mesh_axes = [1, 0] destination = [%i, 1]
      : (tensor<4xf32>, index) -> tensor<4xf32>
    """

    input = operand(NON_0_RANKED)
    destination = attr(DEVICE)
    destination_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "send"
    assembly = assembly(
        f"{INPUT_ON_MESH} `destination` `=` custom<DynamicIndexList>($destination_dynamic, $destination) "
        f"{ATTRIBUTES_AND_TYPES}"
    )
    canonicalizations = (EMPTY_MESH_AXES,)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "destination")

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        check_device(self, mesh_op, "destination", self.destination)


@mesh.op("recv", SAME_SHAPE_EXACTLY, SAME_INPUT_AND_RESULT_ELEMENT_TYPE)
class RecvOp(MeshCollective):
    """Receives a tensor from the device `source` of the group or, without `source`, from any device.

        %1 = mesh.recv %0 on @grid mesh_axes = [1] source = [2]
          : (tensor<4xf32>) -> tensor<4xf32>

    The operand determines the result type, and is the result on devices to which no device sends a tensor.
    """

    input = operand(NON_0_RANKED)
    source = optional_attr(DEVICE)
    source_dynamic = operands(INDEX_VALUE)
    result = result(RANKED)

    result_name = "recv"
    assembly = assembly(f"{INPUT_ON_MESH} custom<OptionalSource> {ATTRIBUTES_AND_TYPES}")
    canonicalizations = (EMPTY_MESH_AXES,)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        check_coordinates(signature, "source")

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        if self.source is not None:
            check_device(self, mesh_op, "source", self.source)


@mesh.op("shift", PURE, SAME_ELEMENT_TYPE, SAME_SHAPE)
class ShiftOp(MeshCollective):
    """Moves tensors along one mesh axis, by `offset` devices towards higher indices.

        %1 = mesh.shift %0 on @grid mesh_axes = [1] shift_axis = 1 offset = 1 rotate
          : tensor<4xf32> -> tensor<4xf32>

    With `rotate`, tensors that leave the mesh enter at the other end. Without it, the result is undefined
    on devices that receive no tensor.
    """

    input = operand(NON_0_RANKED)
    shift_axis = attr(AXIS)
    offset = attr(I64_ATTR)
    rotate = optional_attr(UNIT_ATTR)
    result = result(RANKED)

    result_name = "shift"
    assembly = assembly(
        f"{INPUT_ON_MESH} `shift_axis` `=` $shift_axis `offset` `=` $offset custom<UnitKeyword>($rotate) "
        "attr-dict `:` custom<ShapedType>($input) `->` custom<RankedTensorType>($result)"
    )

    def verify_in_mesh(self, mesh_op: MeshOp) -> None:
        axis = self.shift_axis
        if axis not in self.mesh_axes:
            unsigned_axis = axis if axis >= 0 else axis + (1 << 64)
            word = mesh_word(self.dialect_name)
            raise self.error(
                f"Invalid shift axis {unsigned_axis}. It must be one of the grouping {word} axes."
            )

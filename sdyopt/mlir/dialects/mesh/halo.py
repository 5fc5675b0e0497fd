"""Halos and shard shapes: shard_shape, neighbors_linear_indices, update_halo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.mesh.attributes import (
    AXES,
    AXES_LISTS,
    SHARDING_VALUE,
    AxesLists,
    mesh21,
)
from sdyopt.mlir.dialects.mesh.mesh_op import find_mesh
from sdyopt.mlir.dialects.mesh.shard_op import INTEGER, NO_SIZES
from sdyopt.mlir.ir.attribute import DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_fields import attr, operand, operands, result, results
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.traits import (
    ATTR_SIZED_OPERANDS,
    FLAT_SYMBOL_ATTR,
    I64_ARRAY,
    INDEX_VALUE,
    INFERS_TYPES,
    PURE,
    TypeConstraint,
)
from sdyopt.mlir.ir.types import INDEX, MemRefType, RankedTensor, Type

_NON_0_RANKED_SHAPED = TypeConstraint[Type](
    "non-0-ranked.memref of any type values or non-0-ranked.tensor of any type values",
    lambda type: isinstance(type, RankedTensor | MemRefType) and type.rank > 0,
)


@mesh21.op("shard_shape", PURE, ATTR_SIZED_OPERANDS)
class ShardShapeOp(Op):
    """The shape of the shard that a device has.

    %shape:2 = mesh.shard_shape dims = [6, %n] sharding = %s device = [%i, 0] : index, index
    """

    dims = attr(I64_ARRAY)
    dims_dynamic = operands(INDEX_VALUE)
    sharding = operand(SHARDING_VALUE)
    device = attr(I64_ARRAY)
    device_dynamic = operands(INDEX_VALUE)
    shape = results(INDEX_VALUE)

    assembly = assembly(
        "`dims` `=` custom<DynamicIndexList>($dims_dynamic, $dims) `sharding` `=` $sharding `device` `=` "
        "custom<DynamicIndexList>($device_dynamic, $device) attr-dict `:` type($shape)"
    )

    name_results = result_named("shard_shape")


@mesh21.op("neighbors_linear_indices", PURE)
class NeighborsLinearIndicesOp(Op):
    """The linear indices of the neighbors of a device along `split_axes`; -1 for a neighbor that is missing.

    %down, %up = mesh.neighbors_linear_indices on @grid[%i, %j] split_axes = [1] : index, index
    """

    mesh = attr(FLAT_SYMBOL_ATTR)
    device = operands(INDEX_VALUE)
    split_axes = attr(AXES)
    neighbor_down = result(INDEX_VALUE)
    neighbor_up = result(INDEX_VALUE)

    @staticmethod
    def _parse_device(op_parser: OpAsmParser) -> None:
        names = op_parser.comma_list(op_parser.operand, "[", "]")
        op_parser.operand_names["device"] = names
        op_parser.types["device"] = [INDEX] * len(names)

    @staticmethod
    def _write_device(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.text("[")
        for index in range(len(signature.operand_types)):
            if index:
                out.text(", ")
            out.parts.append(index)
        out.text("]")

    assembly = assembly(
        "`on` $mesh custom<device> `split_axes` `=` $split_axes attr-dict `:` type($neighbor_down) `,` "
        "type($neighbor_up)",
        device=custom(_parse_device, _write_device),
    )

    def verify_symbol_uses(self) -> None:
        find_mesh(self, self.mesh)

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "down_linear_idx"), (1, "up_linear_idx")]


@mesh21.op("update_halo", PURE, INFERS_TYPES)
class UpdateHaloOp(Op):
    """Copies the halos of each shard from its neighbors.

        %1 = mesh.update_halo %0 on @line split_axes = [[0]] halo_sizes = [1, %n] : tensor<8x4xf32>

    Dimensions are processed from the last to the first, so that corners are copied too. Halos without a
    neighbor are unchanged.
    """

    destination = operand(_NON_0_RANKED_SHAPED)
    mesh = attr(FLAT_SYMBOL_ATTR)
    split_axes = attr(AXES_LISTS)
    static_halo_sizes = attr(I64_ARRAY, default=NO_SIZES)
    halo_sizes = operands(INTEGER)
    result = result(_NON_0_RANKED_SHAPED)

    lists_class: ClassVar[type[AxesLists]] = AxesLists

    @staticmethod
    def _parse_types(op_parser: OpAsmParser) -> None:
        type = op_parser.type()
        if not _NON_0_RANKED_SHAPED.accepts(type):
            message = f"'result' must be {_NON_0_RANKED_SHAPED.description}, but got '{plain_type(type)}'"
            raise op_parser.error(message, op_parser.offset)
        op_parser.types["destination"] = op_parser.types["result"] = [type]

    @staticmethod
    def _write_types(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.types(signature.result_types)

    assembly = assembly(
        "$destination `on` $mesh `split_axes` `=` $split_axes (`halo_sizes` `=` "
        "custom<DynamicIndexList>($halo_sizes, $static_halo_sizes)^)? attr-dict `:` custom<types>",
        types=custom(_parse_types, _write_types),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        return [signature.operand_types[0]]

    def verify_symbol_uses(self) -> None:
        find_mesh(self, self.mesh)

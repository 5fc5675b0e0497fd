"""mesh.sharding and mesh.get_sharding: shardings as values (LLVM 21)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from sdyopt.mlir.asm.format.assembly_format import (
    AttrDict,
    FormatElement,
    Operand,
    OptionalGroup,
    TypeOf,
    assembly,
)
from sdyopt.mlir.asm.format.directives import DynamicIndexList
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.assembly_directives import mesh_reference
from sdyopt.mlir.dialects.mesh.axes import AXES, Axes, axes_attribute, axes_error, axes_text, parse_axes
from sdyopt.mlir.dialects.mesh.axes_array import AXES_LISTS, AxesLists, axes_lists_clause
from sdyopt.mlir.dialects.mesh.collective_base import RANKED
from sdyopt.mlir.dialects.mesh.dialect import mesh
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp, find_mesh
from sdyopt.mlir.dialects.mesh.reduction import REDUCTION, Reduction, ReductionKind, parse_reduction_kind
from sdyopt.mlir.dialects.mesh.shard_op import ShardingSource, ShardOp
from sdyopt.mlir.dialects.mesh.sharding import MeshSharding
from sdyopt.mlir.dialects.mesh.sharding_value import SHARDING_VALUE
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.constraints import FLAT_SYMBOL_ATTR, I64_ARRAY, TypeConstraint
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE
from sdyopt.mlir.ir.types import DYNAMIC, I64, Type

INTEGER = TypeConstraint[Type]("64-bit signless integer", lambda type: type is I64)
NO_SIZES = DenseArray(I64, ())


class _Partial(FormatElement):
    """`partial = kind [axes]`, or nothing."""

    elides = ("partial_axes", "partial_type")

    def parse(self, op_parser: OpAsmParser) -> None:
        if not op_parser.accept("partial"):
            return
        op_parser.expect("=")
        op_class = op_parser.op_class
        assert issubclass(op_class, ShardingOp)
        op_parser.attributes["partial_type"] = parse_reduction_kind(op_parser, op_class.reduction_class)
        op_parser.attributes["partial_axes"] = axes_attribute(parse_axes(op_parser))

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        partial_type = signature[ShardingOp.partial_type]
        if partial_type is not None:
            out.literal("partial")
            out.literal("=")
            # MLIR prints two spaces here.
            partial_axes = signature[ShardingOp.partial_axes]
            out.word(f" {partial_type} {axes_text(partial_axes or ())}")


@mesh.op("sharding", PURE, ATTR_SIZED_OPERANDS)
class ShardingOp(ShardingSource):
    """A sharding as a value.

        %0 = mesh.sharding @grid split_axes = [[0], [1]] : !mesh.sharding
        %1 = mesh.sharding @grid split_axes = [[0]] partial =  max [1] : !mesh.sharding
        %2 = mesh.sharding @grid split_axes = [[0]] halo_sizes = [1, %n] : !mesh.sharding
        %3 = mesh.sharding @line split_axes = [[0]] sharded_dims_offsets = [0, 2, 4, 7, 8]
          : !mesh.sharding

    Halo sizes are a pair per split dimension: the numbers of elements that a shard copies from its lower
    and its upper neighbor. Offsets, for shards of different sizes, are a list per split dimension: where
    each shard starts, and where the last shard ends.
    """

    __slots__ = ()

    mesh = attr(FLAT_SYMBOL_ATTR)
    split_axes = attr(AXES_LISTS)
    partial_axes = optional_attr(AXES)
    partial_type = optional_attr(REDUCTION)
    static_sharded_dims_offsets = attr(I64_ARRAY, default=NO_SIZES)
    dynamic_sharded_dims_offsets = operands(INTEGER)
    static_halo_sizes = attr(I64_ARRAY, default=NO_SIZES)
    dynamic_halo_sizes = operands(INTEGER)
    result = result(SHARDING_VALUE)

    reduction_class = Reduction
    assembly = assembly(
        mesh_reference(),
        *axes_lists_clause("split_axes"),
        _Partial(),
        OptionalGroup(
            "halo_sizes",
            "=",
            DynamicIndexList("dynamic_halo_sizes", "static_halo_sizes", I64),
            anchor="static_halo_sizes",
        ),
        OptionalGroup(
            "sharded_dims_offsets",
            "=",
            DynamicIndexList("dynamic_sharded_dims_offsets", "static_sharded_dims_offsets", I64),
            anchor="static_sharded_dims_offsets",
        ),
        AttrDict(),
        ":",
        TypeOf("result"),
    )

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        split_axes = signature[ShardingOp.split_axes]
        partial_axes = signature[ShardingOp.partial_axes] or ()
        message = axes_error(tuple(axis for axes in split_axes for axis in axes) + partial_axes)
        if message is not None:
            raise signature.error(message)
        halos = signature[ShardingOp.static_halo_sizes]
        offsets = signature[ShardingOp.static_sharded_dims_offsets]
        if halos and offsets:
            raise signature.op_error("halo sizes and shard offsets are mutually exclusive")
        if halos and len(halos) != 2 * sum(1 for axes in split_axes if axes):
            raise signature.error("halo sizes must be specified for all split axes.")

    def verify_symbol_uses(self) -> None:
        mesh_op = find_mesh(self, self.mesh)
        offsets = self.static_sharded_dims_offsets
        if not offsets:
            return
        if DYNAMIC in mesh_op.shape:
            raise self.error("sharded dims offsets are not allowed for devices meshes with dynamic shape.")
        for axes in self.split_axes:
            if axes:
                offsets = self._check_offsets(mesh_op, axes, offsets)

    def _check_offsets(self, mesh_op: MeshOp, axes: Axes, offsets: tuple[int, ...]) -> tuple[int, ...]:
        """Checks the offsets of one dimension; returns the offsets of the dimensions after it."""
        # MLIR adds the axis sizes, although their product is the number of shards.
        count = 1 + sum(mesh_op.shape[axis] for axis in axes if axis < mesh_op.rank)
        if len(offsets) < count:
            raise self.error("sharded dims offsets has wrong size.")
        static = [offset for offset in offsets[:count] if offset != DYNAMIC]
        if any(end < start for start, end in pairwise(static)):
            raise self.error("sharded dims offsets must be non-decreasing.")
        return offsets[count:]

    @property
    def mesh_sharding(self) -> MeshSharding:
        halos = self.static_halo_sizes
        if self.static_sharded_dims_offsets or DYNAMIC in halos:
            raise self.error("dynamic halo sizes and sharded dims offsets are not supported here")
        return MeshSharding(
            SymbolRef(self.mesh),
            self.split_axes,
            self.partial_axes or (),
            self.partial_type or ReductionKind.SUM,
            halos if any(halos) else (),
        )

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sharding")]


def sharding_attributes(
    mesh_sharding: MeshSharding, reduction_class: type[Reduction]
) -> Iterable[tuple[str, Attribute]]:
    """The attributes of the mesh.sharding operation for a sharding."""
    yield "mesh", mesh_sharding.mesh
    yield "split_axes", AxesLists(mesh_sharding.split_axes or ((),))
    if mesh_sharding.partial_axes:
        yield "partial_axes", axes_attribute(mesh_sharding.partial_axes)
        yield "partial_type", reduction_class(mesh_sharding.partial_kind)
    if mesh_sharding.halo_sizes:
        yield "static_halo_sizes", DenseArray(I64, mesh_sharding.halo_sizes)


@mesh.op("get_sharding", PURE)
class GetShardingOp(ShardingSource):
    """The sharding of the `mesh.shard` that defines a tensor.

    %s = mesh.get_sharding %t : tensor<4x8xf32> -> !mesh.sharding
    """

    __slots__ = ()

    source = operand(RANKED)
    result = result(SHARDING_VALUE)

    assembly = assembly(Operand("source"), AttrDict(), ":", TypeOf("source"), "->", TypeOf("result"))

    @property
    def annotation(self) -> ShardOp:
        """The `mesh.shard`; raises if another operation defines the tensor."""
        source = self.source.defining_op
        if not isinstance(source, ShardOp):
            raise self.error("expected a shard op as source of get_sharding")
        return source

    @property
    def mesh_sharding(self) -> MeshSharding:
        return self.annotation.mesh_sharding

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "sharding")]

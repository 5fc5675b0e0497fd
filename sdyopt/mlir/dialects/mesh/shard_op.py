"""mesh.shard and mesh.sharding, and the local types of sharded tensors."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import FormatElement, custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.mesh.attributes import (
    AXES,
    AXES_LISTS,
    REDUCTION,
    SHARDING_ATTR,
    SHARDING_TYPE,
    SHARDING_VALUE,
    Axes,
    AxesLists,
    MeshSharding,
    Reduction,
    ReductionKind,
    ShardingType,
    axes_attribute,
    axes_error,
    axes_text,
    mesh,
    mesh21,
    mesh_word,
    parse_axes,
    parse_reduction_kind,
    parse_sharding,
    sharding_text,
)
from sdyopt.mlir.dialects.mesh.collectives import RANKED
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp, check_axes, find_mesh
from sdyopt.mlir.ir.attribute import UNIT, Attribute, DictAttr, SymbolRef
from sdyopt.mlir.ir.builtin_attributes import DenseArray
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import attr, operand, operands, optional_attr, result
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op, result_named
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import SAME_TYPE_REQUIRED
from sdyopt.mlir.ir.traits import FLAT_SYMBOL_ATTR, I64_ARRAY, PURE, UNIT_ATTR, Trait, exactly
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor, Type
from sdyopt.mlir.ir.value import LazyLocation, Value


def _check_same_type(signature: OpSignature) -> None:
    """Raises unless the tensor operand, which is the first, has the result type."""
    if signature.operand_types[0] is not signature.result_types[0]:
        raise signature.op_error(SAME_TYPE_REQUIRED())


SAME_TENSOR_TYPE = Trait("same-tensor-type", _check_same_type)


class ShardingSource(Op):
    """Base of the operations whose result is a sharding."""

    @property
    def mesh_sharding(self) -> MeshSharding:
        """The sharding; raises if it is not known statically."""
        raise NotImplementedError


class ShardOp(Op):
    """Annotates a tensor with a sharding; the result is the operand.

        %1 = mesh.shard %0 to <@grid, [[0], [1]]> : tensor<4x8xf32>
        %2 = mesh.shard %1 to <@grid, [[0]]> annotate_for_users : tensor<4x8xf32>

    Without `annotate_for_users`, the definition of the tensor has this sharding; with it, the users of the
    result require this sharding. Partitioning inserts a reshard between annotations that differ. In LLVM 21
    the sharding is an operand: `mesh.shard %0 to %sharding`.
    """

    src = operand(RANKED)
    annotate_for_users = optional_attr(UNIT_ATTR)
    result = result(RANKED)

    @classmethod
    def create(
        cls,
        rewriter: Rewriter,
        value: Value,
        mesh_sharding: MeshSharding,
        attributes: dict[str, Attribute],
        location: LazyLocation,
        before: Op | None,
        after: Op | None,
    ) -> Op:
        """Creates an annotation at an insertion point, in the syntax of this class's version."""
        raise NotImplementedError

    @property
    def mesh_sharding(self) -> MeshSharding:
        """The sharding; raises if it is not known statically."""
        raise NotImplementedError

    name_results = result_named("sharding_annotated")


@mesh.op("shard", PURE, SAME_TENSOR_TYPE)
class Shard19Op(ShardOp):
    """`shard` in LLVM 19, where the sharding is an attribute."""

    shard = attr(SHARDING_ATTR)

    @staticmethod
    def _parse_sharding(op_parser: OpAsmParser) -> None:
        op_parser.attributes["shard"] = parse_sharding(op_parser)

    @staticmethod
    def _write_sharding(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        out.word(sharding_text(signature[Shard19Op.shard]))

    assembly = assembly(
        "$src `to` custom<sharding>($shard) custom<UnitKeyword>($annotate_for_users) attr-dict `:` "
        "custom<RankedTensorType>($result, $src)",
        sharding=custom(_parse_sharding, _write_sharding),
    )

    @classmethod
    def create(
        cls,
        rewriter: Rewriter,
        value: Value,
        mesh_sharding: MeshSharding,
        attributes: dict[str, Attribute],
        location: LazyLocation,
        before: Op | None,
        after: Op | None,
    ) -> Op:
        return rewriter.create(
            cls,
            [value],
            [value.type],
            {**attributes, "shard": mesh_sharding},
            before=before,
            after=after,
            location=location,
        )

    @property
    def mesh_sharding(self) -> MeshSharding:
        return self.shard


def make_shard(
    rewriter: Rewriter,
    dialect: Dialect,
    value: Value,
    mesh_sharding: MeshSharding,
    is_for_users: bool,
    location: LazyLocation,
    *,
    like: ShardOp | None = None,
    before: Op | None = None,
    after: Op | None = None,
) -> ShardOp:
    """Creates an annotation, in this version of the dialect.

    `like` is another with the same sharding, whose operand it takes.
    """
    attributes: dict[str, Attribute] = {"annotate_for_users": UNIT} if is_for_users else {}
    op_class = dialect.ops["shard"]
    assert issubclass(op_class, ShardOp)
    if like is not None and len(like.operands) > 1:
        operands = [value, like.operand_at(1)]
        shard = rewriter.create(
            op_class, operands, [value.type], attributes, before=before, after=after, location=location
        )
        assert isinstance(shard, ShardOp)
        return shard
    op = op_class.create(rewriter, value, mesh_sharding, attributes, location, before, after)
    assert isinstance(op, ShardOp)
    return op


INTEGER = exactly(I64, "64-bit signless integer")
NO_SIZES = DenseArray(I64, ())


SIZES_AND_TYPE = (
    "(`halo_sizes` `=` custom<DynamicIndexList>($dynamic_halo_sizes, $static_halo_sizes)^)? "
    "(`sharded_dims_offsets` `=` "
    "custom<DynamicIndexList>($dynamic_sharded_dims_offsets, $static_sharded_dims_offsets)^)? "
    "attr-dict `:` type($result)"
)


@directive("Partial")
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
        partial_axes = signature[ShardingOp.partial_axes]
        if partial_axes is not None:
            out.literal("partial")
            out.literal("=")
            # MLIR prints two spaces here.
            partial_type = signature[ShardingOp.partial_type] or ReductionKind.SUM
            out.word(f" {partial_type} {axes_text(partial_axes)}")


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

    mesh = attr(FLAT_SYMBOL_ATTR)
    split_axes = attr(AXES_LISTS)
    partial_axes = optional_attr(AXES)
    partial_type = optional_attr(REDUCTION)
    static_sharded_dims_offsets = attr(I64_ARRAY, default=NO_SIZES)
    dynamic_sharded_dims_offsets = operands(INTEGER)
    static_halo_sizes = attr(I64_ARRAY, default=NO_SIZES)
    dynamic_halo_sizes = operands(INTEGER)
    result = result(SHARDING_VALUE)

    reduction_class: ClassVar[type[Reduction]] = Reduction
    lists_class: ClassVar[type[AxesLists]] = AxesLists
    sharding_type: ClassVar[ShardingType] = SHARDING_TYPE
    assembly = assembly(f"$mesh `split_axes` `=` $split_axes custom<Partial> {SIZES_AND_TYPE}")

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        split_axes = signature[ShardingOp.split_axes]
        partial_axes = signature[ShardingOp.partial_axes] or ()
        word = mesh_word(signature.op_class.dialect.name)
        message = axes_error(tuple(axis for axes in split_axes for axis in axes) + partial_axes, word)
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
            devices = "device grids" if self.dialect_name == "shard" else "devices meshes"
            raise self.error(f"sharded dims offsets are not allowed for {devices} with dynamic shape.")
        for axes in self.split_axes:
            if axes:
                offsets = self._check_offsets(mesh_op, axes, offsets)

    def _check_offsets(self, mesh_op: MeshOp, axes: Axes, offsets: tuple[int, ...]) -> tuple[int, ...]:
        """Checks the offsets of one dimension; returns the offsets of the dimensions after it."""
        # MLIR adds the axis sizes, although their product is the number of shards.
        count = 1 + sum(mesh_op.shape[axis] for axis in axes if axis < mesh_op.rank)
        static = [0, *(offset for offset in offsets[:count] if offset != DYNAMIC)]
        if any(end < start for start, end in pairwise(static)):
            raise self.error("sharded dims offsets must be non-decreasing.")
        if len(offsets) < count:
            raise self.error("sharded dims offsets has wrong size.")
        return offsets[count:]

    @property
    def mesh_sharding(self) -> MeshSharding:
        halos = self.static_halo_sizes
        if DYNAMIC in halos or DYNAMIC in self.static_sharded_dims_offsets:
            raise self.error("dynamic halo sizes and sharded dims offsets are not supported here")
        return MeshSharding(
            SymbolRef(self.mesh),
            self.split_axes,
            self.partial_axes or (),
            self.partial_type or ReductionKind.SUM,
            halos if any(halos) else (),
            self._offsets(),
        )

    def _offsets(self) -> tuple[tuple[int, ...], ...]:
        """The offsets of each dimension, () where all shards have the same size; () without any."""
        offsets, lists = self.static_sharded_dims_offsets, []
        mesh_op = find_mesh(self, self.mesh) if offsets else None
        for axes in self.split_axes if mesh_op else ():
            assert mesh_op is not None
            if len(axes) > 1:
                raise self.error(
                    "sharded dims offsets along several axes of a dimension are not supported here"
                )
            count = 1 + mesh_op.group_size(axes) if axes else 0
            own, offsets = offsets[:count], offsets[count:]
            lists.append(own if len({end - start for start, end in pairwise(own)}) > 1 else ())
        return tuple(lists) if any(lists) else ()

    name_results = result_named("sharding")


def sharding_attributes(
    mesh_sharding: MeshSharding, type: Type, op_class: type[ShardingOp]
) -> Iterable[tuple[str, Attribute]]:
    """The attributes of the operation of this class for a sharding of a tensor type."""
    is_scalar = isinstance(type, RankedTensor) and not type.rank
    yield op_class.mesh.name, mesh_sharding.mesh
    yield "split_axes", op_class.lists_class(mesh_sharding.split_axes or (() if is_scalar else ((),)))
    if op_class.dialect.name == "shard":
        assert not mesh_sharding.partial_axes  # LLVM 22 has no partial shardings
    elif mesh_sharding.partial_axes:
        yield "partial_axes", axes_attribute(mesh_sharding.partial_axes)
    if op_class.dialect.name == "mesh":
        # Also without axes, so that -cse does not merge it with one that is written.
        yield "partial_type", op_class.reduction_class(mesh_sharding.partial_kind)
    if mesh_sharding.halo_sizes:
        yield "static_halo_sizes", DenseArray(I64, mesh_sharding.halo_sizes)


@mesh21.op("get_sharding", PURE)
class GetShardingOp(ShardingSource):
    """The sharding of the `mesh.shard` that defines a tensor.

    %s = mesh.get_sharding %t : tensor<4x8xf32> -> !mesh.sharding
    """

    source = operand(RANKED)
    result = result(SHARDING_VALUE)

    assembly = assembly("$source attr-dict `:` type($source) `->` type($result)")

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


def mesh_of(op: Op, sharding: MeshSharding) -> MeshOp:
    """The mesh of a sharding; raises an error at `op` if the mesh is undefined or lacks an axis."""
    mesh_op = find_mesh(op, sharding.mesh.root)
    check_axes(op, mesh_op, sharding.all_axes)
    return mesh_op


def local_type(type: RankedTensor, sharding: MeshSharding, op: Op) -> RankedTensor:
    """The local type, halos included; raises an error at `op` if shards would leave elements out.

    A dimension whose shards differ in size is dynamic.
    """
    mesh_op = mesh_of(op, sharding)
    shape = list(type.shape)
    for dimension, size in enumerate(shape):
        offsets = sharding.offsets[dimension] if dimension < len(sharding.offsets) else ()
        if offsets:
            if size not in (offsets[-1], DYNAMIC):
                raise op.error(f"the offsets of dimension {dimension} of size {size} end at {offsets[-1]}")
            shape[dimension] = DYNAMIC
            continue
        count = mesh_op.group_size(sharding.axes_of(dimension))
        if count == 1 and not any(sharding.halo_of(dimension)):
            continue
        if DYNAMIC in (size, count):
            shape[dimension] = DYNAMIC
        elif count == 0 or size % count:
            raise op.error(
                f"dimension {dimension} of size {size} is not divisible by the shard count {count}"
            )
        else:
            shape[dimension] = size // count + sum(sharding.halo_of(dimension))
    return RankedTensor(tuple(shape), type.element, type.encoding)

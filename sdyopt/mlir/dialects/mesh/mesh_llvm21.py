"""The mesh dialect of LLVM 21 (`--mesh-version=21`), and that of LLVM 22, `shard`, which has other names.

Shardings are values, reductions are bare keywords, meshes are pure, and all operations can be inlined.
Operations that have not changed are registered with their LLVM 19 definitions. LLVM 22 names the dialect and
its operations otherwise:

    shard.grid @line(shape = 4)
    %s = shard.sharding @line split_axes = [[0]] : !shard.sharding
    %1 = shard.all_gather %0 on @line grid_axes = [0] gather_axis = 0 : tensor<2xf32> -> tensor<8xf32>

Each operation is a subclass of that of LLVM 21, with the names of `RENAMED`. Shardings cannot be partial,
and an all-reduce may reduce a memref.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import Assembly, assembly
from sdyopt.mlir.asm.format.format_elements import declare_syntax
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.attributes import (
    AXES_LISTS,
    REDUCTION,
    RENAMED,
    SHARDING_VALUE,
    AxesLists,
    MeshSharding,
    Reduction,
    ReductionKind,
    ShardingType,
    declare_axes_lists,
    mesh,
    mesh21,
    parse_reduction_kind,
)
from sdyopt.mlir.dialects.mesh.collectives import (
    ATTRIBUTES_AND_RANKED_TYPES,
    INPUT_ON_MESH,
    SAME_RANK,
    SAME_SHAPE_EXACTLY,
    AllReduceOp,
    ReduceScatterOp,
)
from sdyopt.mlir.dialects.mesh.mesh_op import MeshOp, op_class_in
from sdyopt.mlir.dialects.mesh.rooted_collectives import ATTRIBUTES_AND_TYPES, ReduceOp
from sdyopt.mlir.dialects.mesh.shard_op import (
    SAME_TENSOR_TYPE,
    SIZES_AND_TYPE,
    ShardingOp,
    ShardingSource,
    ShardOp,
    sharding_attributes,
)
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import DenseArray, IntegerAttr
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import AttrField, Field, OperandField, ResultField, attr, operand, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.shape_traits import SAME_SHAPE
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, SYMBOL, AttrConstraint, TypeConstraint, exactly
from sdyopt.mlir.ir.types import DYNAMIC, I32, I64, MemRefType, RankedTensor, Type
from sdyopt.mlir.ir.value import LazyLocation, Value

DIALECT = mesh21
mesh21.is_inlinable = True
mesh21.unknown_type = mesh.unknown_type


class BareReduction(Reduction):
    """A reduction kind without brackets: `#mesh<partial max>`."""


BARE_SUM = BareReduction(ReductionKind.SUM)


@mesh21.attribute("partial")
def parse_bare_reduction(parser: AsmParser) -> BareReduction:
    """Parses a reduction kind; raises as `parse_reduction_kind` does."""
    return parse_reduction_kind(parser, BareReduction)


@mesh21.printer(BareReduction)
def _print(attribute: BareReduction, _attribute_printer: AttributePrinter) -> str:
    return f"partial {attribute.kind}"


# MLIR prints two spaces before the kind.
BARE_REDUCTION: AttrConstraint[ReductionKind] = AttrConstraint(
    REDUCTION.description, REDUCTION.accepts, REDUCTION.value
)
declare_syntax(
    BARE_REDUCTION, parse_bare_reduction, lambda attribute, attribute_printer: f" {attribute.kind}"
)


@mesh21.op("mesh", SYMBOL, PURE)
class Mesh21Op(MeshOp):
    """`mesh`, which LLVM 21 declares pure."""


@mesh21.op("all_reduce", PURE, SAME_SHAPE)
class AllReduce21Op(AllReduceOp):
    """`all_reduce` with the syntax of LLVM 21."""

    reduction = attr(BARE_REDUCTION, default=BARE_SUM)
    reduction_class = BareReduction
    assembly = assembly(f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? {ATTRIBUTES_AND_RANKED_TYPES}")


@mesh21.op("reduce", PURE, SAME_SHAPE_EXACTLY)
class Reduce21Op(ReduceOp):
    """`reduce` with the syntax of LLVM 21."""

    reduction = attr(BARE_REDUCTION, default=BARE_SUM)
    assembly = assembly(
        f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? `root` `=` custom<DynamicIndexList>($root_dynamic, "
        f"$root) {ATTRIBUTES_AND_TYPES}"
    )


@mesh21.op("reduce_scatter", PURE, SAME_RANK)
class ReduceScatter21Op(ReduceScatterOp):
    """`reduce_scatter` with the syntax of LLVM 21."""

    reduction = attr(BARE_REDUCTION, default=BARE_SUM)
    assembly = assembly(
        f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? `scatter_axis` `=` $scatter_axis attr-dict `:` "
        "custom<ShapedType>($input) `->` custom<RankedTensorType>($result)"
    )


# --- Shardings as values ----------------------------------------------------------------------


def _merge_duplicate_annotation(op: ShardOp, rewriter: Rewriter) -> bool:
    """Removes the later of two annotations of a value, if their shardings are equal.

    Otherwise the later annotation becomes an annotation of the result of the earlier annotation.
    """
    if isinstance(op.src.defining_op, ShardOp) or op.src.has_one_use:
        return False
    other = next((user for user in op.src.users if user is not op), None)
    if not isinstance(other, ShardOp) or other.parent is not op.parent or not other.is_before(op):
        return False
    if _have_equal_shardings(op, other):
        rewriter.replace(op, other)
    else:
        rewriter.set_operand(op.operand_uses[0], other.result)
    return True


def _have_equal_shardings(op: ShardOp, other: ShardOp) -> bool:
    shardings = (op.operand_at(1), other.operand_at(1))
    if shardings[0] is shardings[1]:
        return True
    sources = [value.defining_op for value in shardings]
    if not all(isinstance(source, ShardingOp) for source in sources):
        return False
    first, second = sources
    assert first is not None and second is not None
    return first.signature is second.signature and first.operands == second.operands


@mesh21.op("shard", PURE, SAME_TENSOR_TYPE)
class Shard21Op(ShardOp):
    """`shard` with a sharding operand."""

    sharding = operand(SHARDING_VALUE)

    assembly = assembly(
        "$src `to` $sharding custom<UnitKeyword>($annotate_for_users) attr-dict `:` "
        "custom<RankedTensorType>($result, $src)"
    )
    canonicalizations = (Pattern(_merge_duplicate_annotation),)

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
        sharding_class = op_class_in(cls.dialect, ShardingOp)
        sharding = rewriter.create(
            sharding_class,
            (),
            [sharding_class.sharding_type],
            {**dict(sharding_attributes(mesh_sharding, value.type, sharding_class)), **_NO_OPERANDS},
            before=before,
            after=after,
            location=location,
        )
        operands = [value, sharding.results[0]]
        return rewriter.create(cls, operands, [value.type], attributes, after=sharding, location=location)

    @property
    def mesh_sharding(self) -> MeshSharding:
        source = self.sharding.defining_op
        if not isinstance(source, ShardingSource):
            dialect = self.dialect_name
            message = f"sharding must be defined by {dialect}.sharding or {dialect}.get_sharding"
            raise DiagnosticError.at(self.sharding.location, message)
        return source.mesh_sharding


_NO_OPERANDS: dict[str, Attribute] = {"operandSegmentSizes": DenseArray(I32, (0, 0))}


def _fold_constant_sizes(op: ShardingOp, rewriter: Rewriter) -> bool:
    """Replaces constant operands with static sizes and offsets."""
    halos = _fold_constants(op.static_halo_sizes, op.dynamic_halo_sizes)
    offsets = _fold_constants(op.static_sharded_dims_offsets, op.dynamic_sharded_dims_offsets)
    if len(halos[1]) + len(offsets[1]) == len(op.operands):
        return False
    return _set_sizes(op, rewriter, halos, offsets)


# Sizes or offsets, `DYNAMIC` where the number is an operand, and those operands.
Sizes = tuple[list[int], list[Value]]


def _fold_constants(static_sizes: Sequence[int], dynamic_sizes: Sequence[Value]) -> Sizes:
    sizes: list[int] = []
    dynamic: list[Value] = []
    operands = iter(dynamic_sizes)
    for size in static_sizes:
        if size == DYNAMIC:
            # The number -2^63, which stands for an operand, may also be written where there is none.
            operand = next(operands, None)
            constant = None if operand is None else constant_value(operand.defining_op)
            if isinstance(constant, IntegerAttr):
                size = constant.value
            elif operand is not None:
                dynamic.append(operand)
        sizes.append(size)
    return sizes, dynamic


def _drop_default_sizes(op: ShardingOp, rewriter: Rewriter) -> bool:
    """Removes halo sizes that are all zero, and offsets of shards of equal size."""
    halos: Sizes = (list(op.static_halo_sizes), list(op.dynamic_halo_sizes))
    offsets: Sizes = (list(op.static_sharded_dims_offsets), list(op.dynamic_sharded_dims_offsets))
    if halos[0] and not any(halos[0]):
        return _set_sizes(op, rewriter, ([], []), offsets)
    shard_sizes = {end - start for start, end in pairwise(offsets[0])}
    if len(offsets[0]) > 2 and DYNAMIC not in offsets[0] and len(shard_sizes) == 1:
        return _set_sizes(op, rewriter, halos, ([], []))
    return False


def _set_sizes(op: ShardingOp, rewriter: Rewriter, halos: Sizes, offsets: Sizes) -> bool:
    attributes = {
        **dict(op.signature.attributes.entries),
        **dict(op.attributes.entries),
        "static_halo_sizes": DenseArray(I64, tuple(halos[0])),
        "static_sharded_dims_offsets": DenseArray(I64, tuple(offsets[0])),
        "operandSegmentSizes": DenseArray(I32, (len(offsets[1]), len(halos[1]))),
    }
    new_op = rewriter.create(
        type(op), [*offsets[1], *halos[1]], op.result_types, attributes, before=op, location=op.location
    )
    rewriter.replace(op, new_op)
    return True


@mesh21.op("sharding", PURE, ATTR_SIZED_OPERANDS)
class Sharding21Op(ShardingOp):
    """`sharding` with bare reductions, and with canonicalizations."""

    reduction_class = BareReduction
    canonicalizations = (Pattern(_fold_constant_sizes), Pattern(_drop_default_sizes))


def _register_unchanged(mnemonic: str, op_class: type[Op]) -> None:
    """Registers an operation with its LLVM 19 definition, unless LLVM 21 has its own."""
    if mnemonic not in mesh21.ops:
        subclass = type(op_class.__name__, (op_class,), {"__slots__": (), "__doc__": op_class.__doc__})
        register: Callable[[type[Op]], type[Op]] = mesh21.op(mnemonic, *op_class.trait_order)
        register(subclass)


for _mnemonic, _op_class in mesh.ops.items():
    _register_unchanged(_mnemonic, _op_class)


shard = Dialect("shard")
shard.is_inlinable = True
# MLIR prints two spaces before "type".
shard.unknown_type = ErrorKind(
    "unknown  type `{mnemonic}` in dialect `{dialect}`", explain="attribute or type"
)


# --- Attributes and types ---------------------------------------------------------------------


class GridReduction(BareReduction):
    """A reduction kind: `#shard<partial max>`."""

    dialect = "shard"


class GridAxesLists(AxesLists):
    """The axes along which each dimension of a tensor is sharded: `#shard<axisarray[[0], []]>`."""

    dialect = "shard"


class GridShardingType(ShardingType):
    """`!shard.sharding`."""

    dialect = "shard"


_SHARDING_TYPE = GridShardingType()
_REDUCTION: AttrConstraint[ReductionKind] = AttrConstraint(
    "Reduction of an iterator/grid dimension.", BARE_REDUCTION.accepts, BARE_REDUCTION.value
)
_LISTS: AttrConstraint[tuple[tuple[int, ...], ...]] = AttrConstraint(
    AXES_LISTS.description, lambda a: isinstance(a, GridAxesLists), lambda a: a.lists
)
_SHARDING_VALUE = exactly(_SHARDING_TYPE, SHARDING_VALUE.description)


@shard.attribute("partial")
def parse_reduction(parser: AsmParser) -> GridReduction:
    return parse_reduction_kind(parser, GridReduction)


@shard.printer(GridReduction)
def print_reduction(attribute: GridReduction, _attribute_printer: AttributePrinter) -> str:
    return f"partial {attribute.kind}"


@shard.type("sharding")
def parse_sharding_type(_parser: AsmParser) -> GridShardingType:
    return _SHARDING_TYPE


@shard.printer(GridShardingType)
def print_sharding_type(_type: GridShardingType, _attribute_printer: AttributePrinter) -> str:
    return "sharding"


# MLIR prints two spaces before the kind.
declare_syntax(_REDUCTION, parse_reduction, lambda attribute, attribute_printer: f" {attribute.kind}")
declare_axes_lists(shard, _LISTS, GridAxesLists)


# --- Operations -------------------------------------------------------------------------------

_TENSOR_OR_MEMREF = TypeConstraint[Type](
    "memref of any type values or ranked tensor of any type values",
    lambda type: isinstance(type, RankedTensor | MemRefType),
)
# What LLVM 22 declares otherwise, by operation; None for a field that it does not have.
_CHANGES: dict[str, dict[str, object]] = {
    "all_reduce": {
        "input": operand(_TENSOR_OR_MEMREF),
        "result": result(_TENSOR_OR_MEMREF),
        "assembly": assembly(
            f"{INPUT_ON_MESH} (`reduction` `=` $reduction^)? attr-dict `:` type($input) `->` type($result)"
        ),
    },
    "mesh_shape": {"result_name": RENAMED["mesh_shape"]},
    "sharding": {
        "partial_axes": None,
        "partial_type": None,
        "assembly": assembly(f"$mesh `split_axes` `=` $split_axes {SIZES_AND_TYPE}"),
    },
}


def _renamed_field(field: Field) -> Field:
    """The field with the name and the attributes of LLVM 22."""
    if isinstance(field, OperandField | ResultField) and field.constraint is SHARDING_VALUE:
        return type(field)(_SHARDING_VALUE, field.arity)
    if not isinstance(field, AttrField):
        return field
    name, is_optional, default = RENAMED.get(field.name, field.name), field.is_optional, field.default
    if field.constraint is AXES_LISTS:
        return AttrField(_LISTS, name, is_optional, None)
    if isinstance(default, BareReduction):
        default = GridReduction(default.kind)
    is_reduction = field.constraint.description == BARE_REDUCTION.description
    return AttrField(_REDUCTION if is_reduction else field.constraint, name, is_optional, default)


def _register(mnemonic: str, op_class: type[Op]) -> None:
    """Registers an operation of LLVM 21 with the names of LLVM 22."""
    attributes: dict[str, object] = {
        "__slots__": (),
        "__doc__": op_class.__doc__,
        "reduction_class": GridReduction,
        "lists_class": GridAxesLists,
        "sharding_type": _SHARDING_TYPE,
    }
    changes = _CHANGES.get(mnemonic, {})
    for name, field in op_class.fields.items():
        renamed = _renamed_field(field)
        if renamed is not field:
            attributes[name] = renamed
    attributes |= changes
    format = changes.get("assembly", op_class.assembly)
    assert isinstance(format, Assembly)
    attributes["assembly"] = format.with_words(RENAMED)
    subclass = type(op_class.__name__, (op_class,), attributes)
    shard.op(RENAMED.get(mnemonic, mnemonic), *op_class.trait_order)(subclass)


for _mnemonic, _op_class in mesh21.ops.items():
    _register(_mnemonic, _op_class)


__all__ = ["DIALECT", "mesh21", "shard"]

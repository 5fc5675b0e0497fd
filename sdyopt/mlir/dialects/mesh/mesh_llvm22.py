"""The dialect `shard` of LLVM 22, selected by `--mesh-version=22`: that of LLVM 21 with other names.

    shard.grid @line(shape = 4)
    %s = shard.sharding @line split_axes = [[0]] : !shard.sharding
    %1 = shard.all_gather %0 on @line grid_axes = [0] gather_axis = 0 : tensor<2xf32> -> tensor<8xf32>

Each operation is a subclass of that of LLVM 21, with the names of `RENAMED`. Shardings cannot be partial,
and an all-reduce may reduce a memref.
"""

from __future__ import annotations

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.assembly_format import Assembly, assembly
from sdyopt.mlir.asm.format.format_elements import declare_syntax
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.mesh.attributes import (
    AXES_LISTS,
    RENAMED,
    SHARDING_VALUE,
    AxesLists,
    ReductionKind,
    ShardingType,
    declare_axes_lists,
    parse_reduction_kind,
)
from sdyopt.mlir.dialects.mesh.collectives import INPUT_ON_MESH
from sdyopt.mlir.dialects.mesh.mesh_llvm21 import BARE_REDUCTION, BareReduction, mesh21
from sdyopt.mlir.dialects.mesh.shard_op import SIZES_AND_TYPE
from sdyopt.mlir.ir.constraints import AttrConstraint, TypeConstraint, exactly
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_fields import AttrField, Field, OperandField, ResultField, operand, result
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import MemRefType, RankedTensor, Type

shard = DIALECT = Dialect("shard")
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

__all__ = ["DIALECT", "shard"]

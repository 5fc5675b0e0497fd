"""The mhlo dialect: the predecessor of StableHLO.

Programs from JAX have discardable attributes such as `mhlo.num_partitions`. XLA's dumps have mhlo.copy. The
attribute syntax of mhlo.ragged_dot differs from that of its successor chlo.ragged_dot.
"""

from __future__ import annotations

from functools import lru_cache

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.attribute_format import attribute_format, dialect_attribute
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    DimensionNumbers,
    parse_custom_struct,
    parse_dimensions,
)
from sdyopt.mlir.dialects.stablehlo.contraction import RaggedDimensions, check_ragged_dot
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr, enumeration
from sdyopt.mlir.dialects.stablehlo.precision import precision_config_of
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    COMPATIBLE_TYPES,
    INFERS_COMPATIBLE_TYPES,
    most_specific_operand_type,
)
from sdyopt.mlir.dialects.stablehlo.types import (
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR,
    TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE,
)
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute
from sdyopt.mlir.ir.constraints import I32_ATTR, of_class
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import ELEMENTWISE
from sdyopt.mlir.ir.symbols import SymbolTableOp
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import TupleType, Type

mhlo = DIALECT = Dialect("mhlo")
mhlo.unknown_attribute = "unknown mhlo attribute"


@enumeration(mhlo, "precision", "DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE")
class Precision(EnumAttr):
    """The precision of one operand; its meaning depends on the backend."""


@dialect_attribute(mhlo, "dot", "MHLO_DotDimensionNumbers")
class DotDimensions(Attribute):
    """`#mhlo.dot<…>`: dot dimension numbers."""

    lhs_batching: tuple[int, ...] = ()
    rhs_batching: tuple[int, ...] = ()
    lhs_contracting: tuple[int, ...] = ()
    rhs_contracting: tuple[int, ...] = ()
    dialect = "mhlo"
    assembly = attribute_format("<", DimensionNumbers("dot dimension numbers", "_dimensions"))


class RaggedDotDimensions(Attribute):
    """`#mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<…>, …>`."""

    dot: DotDimensions | None = None
    lhs_ragged: tuple[int, ...] = ()
    rhs_group: tuple[int, ...] = ()
    dialect = "mhlo"

    @property
    def dimensions(self) -> RaggedDimensions:
        """The dimension numbers, in the representation shared with chlo."""
        dot = self.dot or DotDimensions()
        dot_dimensions = dot.lhs_batching, dot.rhs_batching, dot.lhs_contracting, dot.rhs_contracting
        return RaggedDimensions(*dot_dimensions, self.lhs_ragged, self.rhs_group)


@mhlo.op("ragged_dot", PURE)
class RaggedDotOp(Op):
    """A dot product with a ragged dimension of lhs; see chlo.ragged_dot."""

    lhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    rhs = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    group_sizes = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)
    ragged_dot_dimension_numbers = op_fields.attr(
        of_class(RaggedDotDimensions, "Attribute that models the dimension information for ragged dot.")
    )
    precision_config = op_fields.optional_attr(precision_config_of(Precision))
    result = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        dims = signature[RaggedDotOp.ragged_dot_dimension_numbers]
        check_ragged_dot(signature, dims.dimensions, signature[RaggedDotOp.precision_config])


@mhlo.op("copy", COMPATIBLE_TYPES, INFERS_COMPATIBLE_TYPES, PURE, ELEMENTWISE)
class CopyOp(Op):
    """The operand, copied."""

    operand = op_fields.operand(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
    cross_program_prefetch_index = op_fields.optional_attr(I32_ATTR)
    out = op_fields.result(TENSOR_OR_PER_AXIS_QUANTIZED_TENSOR_OR_TOKEN_OR_TUPLE)
    assembly = assembly("operands attr-dict `:` custom<SameOperandsAndResultType>")

    infer_result_types = staticmethod(most_specific_operand_type)


# --- Discardable attributes -----------------------------------------------------------------------


_PREFETCHES = "mhlo.cross_program_prefetches"
_PARAMETER_SHARDINGS = "mhlo.spmd_parameters_shardings"
_PARAMETER_REPLICATION = "mhlo.parameter_replication"


def _check_op_attribute(op: Op, name: str, attribute: Attribute) -> None:
    if name == _PARAMETER_SHARDINGS:
        _check_parameter_shardings(op, attribute)
    elif name == _PREFETCHES:
        if not isinstance(attribute, ArrayAttr):
            raise op.op_error("cross_program_prefetches must be an array")
        if attribute.elements:
            # The parser knows no attribute that could be one.
            raise op.op_error("cross_program_prefetches must be an array of cross_program_prefetch attrs")


def _check_parameter_shardings(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, ArrayAttr):
        raise op.op_error("spmd_parameters_sharding: must be an array")
    if op.name != "builtin.module" or not isinstance(op, SymbolTableOp):
        raise op.op_error("has spmd_paramters_sharding but is not a module")
    main = op.symbol("main")
    if not isinstance(main, FuncOp):
        raise op.op_error("spmd_parameters_sharding: main not found")
    count, expected = len(main.function_type.inputs), len(attribute.elements)
    if count != expected:
        raise op.op_error(
            f"spmd_parameters_sharding: main has {count} arguments, but spmd_parameters_sharding expects "
            f"{expected}"
        )


def _check_argument_attribute(op: Op, index: int, name: str, attribute: Attribute) -> None:
    if name != _PARAMETER_REPLICATION:
        return
    if not isinstance(attribute, ArrayAttr):
        raise op.op_error("parameter_replication: must be an array")
    # No element stands for all false, one for as many of its kind as the type has leaves.
    count = len(attribute.elements)
    if count > 1 and isinstance(op, FuncOp):
        leaves = _count_leaves(op.function_type.inputs[index])
        if leaves != count:
            raise op.op_error(
                f"parameter_replication: arg {index} has {leaves} leaf_buffers, but parameter_replication "
                f"expects {count}"
            )


@lru_cache(maxsize=256)
def _count_leaves(type: Type) -> int:
    return sum(map(_count_leaves, type.types)) if isinstance(type, TupleType) else 1


mhlo.verify_op_attribute = _check_op_attribute
mhlo.nonlocal_attributes = frozenset({_PARAMETER_SHARDINGS})
mhlo.verify_argument_attribute = _check_argument_attribute


# --- Assembly -------------------------------------------------------------------------------------


def _parse_dot_attribute(parser: AsmParser) -> DotDimensions:
    attribute = parser.attribute()
    if not isinstance(attribute, DotDimensions):
        raise parser.error("expected #mhlo.dot attribute")
    return attribute


_LIST_NAMES = ("lhs_ragged_dimensions", "rhs_group_dimensions")
_RAGGED_ENTRIES = {
    "dot_dimension_numbers": _parse_dot_attribute,
    **dict.fromkeys(_LIST_NAMES, parse_dimensions),
}


@mhlo.attribute("ragged_dot")
def _parse_ragged_dot(parser: AsmParser) -> Attribute:
    parser.expect("<")
    entries = parse_custom_struct(parser, "ragged dot dimension numbers", _RAGGED_ENTRIES)
    lhs_ragged, rhs_group = (entries.get(name, ()) for name in _LIST_NAMES)
    return RaggedDotDimensions(entries.get("dot_dimension_numbers"), lhs_ragged, rhs_group)


@mhlo.printer(RaggedDotDimensions)
def _print_ragged_dot(dims: RaggedDotDimensions, attribute_printer: AttributePrinter) -> str:
    entries = [] if dims.dot is None else [f"dot_dimension_numbers = {attribute_printer.attribute(dims.dot)}"]
    lists = zip(_LIST_NAMES, (dims.lhs_ragged, dims.rhs_group), strict=True)
    entries += [f"{name} = {list(numbers)}" for name, numbers in lists if numbers]
    return f"ragged_dot<{', '.join(entries)}>"

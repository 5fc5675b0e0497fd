"""The mhlo dialect object, and its discardable attributes."""

from __future__ import annotations

from functools import lru_cache

from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.mlir.asm.format.attribute_format import (
    Struct,
    attribute_format,
    dialect_attribute,
    integer,
)
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.stablehlo.assembly_directives import (
    dimension_list,
    parse_custom_struct,
    parse_dimensions,
)
from sdyopt.mlir.dialects.stablehlo.dialect import listing, quoted
from sdyopt.mlir.dialects.stablehlo.types import tuple_element_type
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, TypeAttr
from sdyopt.mlir.ir.dialect import Dialect
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes
from sdyopt.mlir.ir.symbols import SymbolTableOp
from sdyopt.mlir.ir.types import FunctionType, TupleType, Type, element_of

mhlo = Dialect("mhlo", contents="sdyopt.mlir.dialects.mhlo.ops")
mhlo.unknown_attribute = ErrorKind("unknown mhlo attribute")
mhlo.unknown_type = ErrorKind("unknown mhlo type: {mnemonic}")
mhlo.is_inlinable = True


@dialect_attribute(mhlo, "cross_program_prefetch", "MHLO_CrossProgramPrefetch")
class CrossProgramPrefetch(Attribute):
    """A parameter of `main`, or a part of it, that another program has fetched."""

    parameter: int
    indices: tuple[int, ...]
    offset: int
    dialect = "mhlo"
    assembly = attribute_format(
        "<", Struct(integer("parameter"), dimension_list("indices"), integer("offset")), ">"
    )


class ResultAlias(Attribute):
    """`#mhlo.result_alias<tuple_indices = [0], result_index = [2, 1], must_alias>`.

    An argument of a function that aliases a result.
    """

    argument_indices: tuple[int, ...]
    result: int
    result_indices: tuple[int, ...]
    is_required: bool
    dialect = "mhlo"

    def check(self, op: Op, index: int, name: str) -> None:
        what = f'attribute "{name}"'
        if not isinstance(op, FuncOp):
            raise op.op_error(f"{what} can only be used on function-like operations")
        if any(number < 0 for number in (self.result, *self.argument_indices, *self.result_indices)):
            raise op.op_error(f"{what} expects all argument and result indices to be >= 0")
        inputs, results = op.function_type.inputs, op.function_type.results
        if self.result >= len(results):
            raise op.op_error(f"{what} result index is out of range, must be <{len(results)}")
        argument = tuple_element_type(inputs[index], self.argument_indices)
        if argument is None:
            raise op.op_error(f"{what} argument tuple indices are invalid")
        result = tuple_element_type(results[self.result], self.result_indices)
        if result is None:
            raise op.op_error(f"{what} result tuple indices are invalid")
        if not are_compatible_shapes([argument, result]) or element_of(argument) is not element_of(result):
            raise op.op_error(
                f"{what} aliases do not have compatible types, {quoted(argument)} vs. {quoted(result)}"
            )


@mhlo.attribute("result_alias")
def parse_result_alias(parser: AsmParser) -> Attribute:
    entries = {"tuple_indices": parse_dimensions, "result_index": _parse_result_index, "must_alias": _nothing}
    parser.expect("<")
    values = parse_custom_struct(parser, "argument-result alias", entries, flags={"must_alias"})
    result, *indices = values["result_index"]
    return ResultAlias(values.get("tuple_indices", ()), result, tuple(indices), "must_alias" in values)


def _parse_result_index(parser: AsmParser) -> tuple[int, ...]:
    indices = parse_dimensions(parser)
    if not indices:
        raise parser.error("expected at least 1 element(s), found 0")
    return indices


def _nothing(parser: AsmParser) -> None:
    """The value of a flag."""


@mhlo.printer(ResultAlias)
def print_result_alias(alias: ResultAlias, attribute_printer: AttributePrinter) -> str:
    parts = [f"result_index = {[alias.result, *alias.result_indices]}"]
    if alias.argument_indices:
        parts.insert(0, f"tuple_indices = {list(alias.argument_indices)}")
    if alias.is_required:
        parts.append("must_alias")
    return f"result_alias<{', '.join(parts)}>"


_PREFETCHES = "mhlo.cross_program_prefetches"
_PARAMETER_SHARDINGS = "mhlo.spmd_parameters_shardings"
_PARAMETER_REPLICATION = "mhlo.parameter_replication"


def _check_op_attribute(op: Op, name: str, attribute: Attribute) -> None:
    if name == _PARAMETER_SHARDINGS:
        _check_parameter_shardings(op, attribute)
    elif name == _PREFETCHES:
        if not isinstance(attribute, ArrayAttr):
            raise op.op_error("cross_program_prefetches must be an array")
        for element in attribute.elements:
            _check_prefetch(op, element)
    elif isinstance(attribute, ResultAlias) and not isinstance(op, FuncOp):
        raise op.op_error(f'attribute "{name}" can only be used on function-like operations')


def _check_prefetch(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, CrossProgramPrefetch):
        raise op.op_error("cross_program_prefetches must be an array of cross_program_prefetch attrs")
    if op.name != "builtin.module" or not isinstance(op, SymbolTableOp):
        raise op.op_error("has cross_program_prefetches but is not a module")
    main = op.symbol("main")
    if not isinstance(main, FuncOp):
        raise op.op_error("has cross_program_prefetches but no function main")
    if not _has_type(main):
        return
    inputs = main.function_type.inputs
    if not 0 <= attribute.parameter < len(inputs):
        raise op.op_error(
            f"cross_program_prefetch: parameter {attribute.parameter} out of range. main has only "
            f"{len(inputs)} arguments"
        )
    if tuple_element_type(inputs[attribute.parameter], attribute.indices) is None:
        raise op.op_error(f"cross_program_prefetch: no subshape at given index: {listing(attribute.indices)}")


def _has_type(function: FuncOp) -> bool:
    """Whether a function, which is verified later, has a type."""
    attribute = function.signature.attributes.get("function_type")
    return isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType)


def _check_parameter_shardings(op: Op, attribute: Attribute) -> None:
    if not isinstance(attribute, ArrayAttr):
        raise op.op_error("spmd_parameters_sharding: must be an array")
    if op.name != "builtin.module" or not isinstance(op, SymbolTableOp):
        raise op.op_error("has spmd_paramters_sharding but is not a module")
    main = op.symbol("main")
    if not isinstance(main, FuncOp):
        raise op.op_error("spmd_parameters_sharding: main not found")
    if not _has_type(main):
        return
    count, expected = len(main.function_type.inputs), len(attribute.elements)
    if count != expected:
        raise op.op_error(
            f"spmd_parameters_sharding: main has {count} arguments, but spmd_parameters_sharding expects "
            f"{expected}"
        )


def _check_argument_attribute(op: Op, index: int, name: str, attribute: Attribute) -> None:
    if isinstance(attribute, ResultAlias):
        attribute.check(op, index, name)
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
mhlo.nonlocal_attributes = frozenset({_PARAMETER_SHARDINGS, _PREFETCHES})
mhlo.verify_argument_attribute = _check_argument_attribute

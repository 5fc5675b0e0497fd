"""stablehlo-ext-canonicalize-from-hlo-import: remove the tuples and the loop-invariant arguments of HLO.

    %0:2 = stablehlo.while(%iterArg = %a, %iterArg_0 = %b) … {
      …
      stablehlo.return %1, %iterArg_0 : tensor<8xf32>, tensor<8xf32>
    }
becomes
    %0 = stablehlo.while(%iterArg = %a) … {
      …
      stablehlo.return %1 : tensor<8xf32>
    }

A loop of HLO has everything that it uses as an argument. Those that it passes on unchanged become free
variables. Custom calls with tuples, and the entry function, which `entry-function` names, get one operand,
argument and result for each element. Tuples that are taken apart, or put together again, and reshapes that
change nothing are removed. Nothing is folded.
"""

from __future__ import annotations

from collections.abc import Iterator

from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.func import ReturnOp as FuncReturnOp
from sdyopt.mlir.dialects.stablehlo.control_flow import GetTupleElementOp, TupleOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, TypeAttr
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.rewrite import InsertionPoint, Rewriter
from sdyopt.mlir.ir.types import I32, FunctionType, TupleType, Type
from sdyopt.mlir.ir.value import LazyLocation, Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from ..stablehlo.support.region_simplifications import capture_invariants
from ..stablehlo.support.shape_simplifications import remove_noop
from ..stablehlo.support.simplifications import take_element, take_packed


@register("stablehlo-ext-canonicalize-from-hlo-import")
class CanonicalizeFromHloImport(Pass):
    anchor = FUNCTION

    entry_function: str = option(
        default="main", help="the function whose arguments and results are no tuples"
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        if function.sym_name == self.entry_function and not function.is_declaration:
            _flatten_function(function, rewriter)
        changed, _ = apply_greedily(function, lambda op_class: _PATTERNS.get(op_class, ()), _OPTIONS)
        return changed or rewriter.changed


# --- Functions ------------------------------------------------------------------------------------


def _flatten_function(function: FuncOp, rewriter: Rewriter) -> None:
    type = function.function_type
    if not any(isinstance(part, TupleType) for part in (*type.inputs, *type.results)):
        return
    block = function.body.blocks[0]
    terminator = block.terminator
    if not isinstance(terminator, FuncReturnOp):  # it is unregistered
        raise function.op_error("expects 'func.return' at its end, to flatten tuples")
    inputs: list[Type] = []
    attributes = []
    old = list(block.arguments)
    first = block.first
    for argument, kept in zip(old, function.argument_attributes, strict=True):
        types = _leaf_types(argument.type)
        is_tuple = isinstance(argument.type, TupleType)
        new = [rewriter.add_argument(block, part, argument.lazy_location) for part in types]
        point: InsertionPoint = {"at_start_of": block} if first is None else {"before": first}
        packed = _packed(iter(new), argument.type, argument.lazy_location, point, rewriter)
        rewriter.replace_all_uses(argument, packed)
        inputs += types
        attributes += [EMPTY_DICT if is_tuple else kept] * len(types)
    for argument in old:
        rewriter.erase_argument(argument)
    values: list[Value] = []
    result_attributes = []
    for value, kept in zip(terminator.operands, function.result_attributes, strict=False):
        unpacked = _unpacked(value, {"before": terminator}, rewriter)
        values += unpacked
        result_attributes += [EMPTY_DICT if isinstance(value.type, TupleType) else kept] * len(unpacked)
    rewriter.set_operands(terminator, values)
    results = tuple([value.type for value in values])
    rewriter.set_attribute(function, "function_type", TypeAttr(FunctionType(tuple(inputs), results)))
    function.argument_attributes = attributes
    function.result_attributes = result_attributes


def _leaf_types(type: Type) -> list[Type]:
    return (
        [leaf for part in type.types for leaf in _leaf_types(part)] if isinstance(type, TupleType) else [type]
    )


def _packed(
    values: Iterator[Value], type: Type, location: LazyLocation, point: InsertionPoint, rewriter: Rewriter
) -> Value:
    """The next of these values, or a tuple of as many as its type has."""
    if not isinstance(type, TupleType):
        return next(values)
    elements = [_packed(values, part, location, point, rewriter) for part in type.types]
    return rewriter.create(TupleOp, elements, [type], location=location, **point).results[0]


def _unpacked(value: Value, point: InsertionPoint, rewriter: Rewriter) -> list[Value]:
    """The elements of a value that is a tuple, and of the tuples in it."""
    if not isinstance(value.type, TupleType):
        return [value]
    leaves: list[Value] = []
    for index, type in enumerate(value.type.types):
        element = rewriter.create(
            GetTupleElementOp,
            [value],
            [type],
            {"index": integer(index, I32)},
            location=value.lazy_location,
            **point,
        )
        leaves += _unpacked(element.results[0], point, rewriter)
    return leaves


# --- Patterns -------------------------------------------------------------------------------------


def _flatten_custom_call(op: CustomCallOp, rewriter: Rewriter) -> bool:
    has_tuple_result = len(op.results) == 1 and isinstance(op.results[0].type, TupleType)
    if not has_tuple_result and not any(isinstance(value.type, TupleType) for value in op.operands):
        return False
    point: InsertionPoint = {"before": op}
    operands = [leaf for value in op.operands for leaf in _unpacked(value, point, rewriter)]
    types = op.signature.result_types
    leaves = _leaf_types(types[0]) if has_tuple_result else types
    attributes = {**dict(op.signature.attributes), **dict(op.attributes)}
    new = rewriter.create(CustomCallOp, operands, leaves, attributes, location=op.lazy_location, **point)
    if has_tuple_result:
        packed = _packed(iter(new.results), types[0], op.lazy_location, point, rewriter)
        rewriter.replace(op, [packed])
    else:
        rewriter.replace(op, new)
    return True


_PATTERNS = {
    CustomCallOp: [Pattern(_flatten_custom_call, name="FlattenCustomCallOp")],
    WhileOp: [Pattern(capture_invariants, name="WhileOpImplicitCapture", benefit=2)],
    ReshapeOp: [Pattern(remove_noop, name="ReshapeOp_RemoveNoop")],
    GetTupleElementOp: [Pattern(take_element, name="GetTupleElementOp_UnpackTuple")],
    TupleOp: [Pattern(take_packed, name="TupleIsRepacking")],
}
_OPTIONS = GreedyOptions(
    top_down=True,
    region_simplification=RegionSimplification.DISABLED,
    folds=False,
    merges_constants=False,
)

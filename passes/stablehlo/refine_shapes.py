"""stablehlo-refine-shapes: propagate static sizes through programs with dynamic shapes.

    func.func @main(%x: tensor<4x8xf32>) -> tensor<?xf32> {
      %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4x8xf32>) -> tensor<i32>
      %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
      %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %2 : tensor<?xf32>
becomes
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
      %c = stablehlo.constant dense<4> : tensor<1xi32>
      %0 = stablehlo.dynamic_iota %c, dim = 0 : (tensor<1xi32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>

The pass starts at the entry function, the only one or the one called `main`, whose arguments should have
static shapes: `stablehlo-refine-arguments` sets them. It folds computations of shapes, infers result types
again, and refines called functions by the types and constant integers that they are called with; these
integers are no longer passed. Calls of one function must agree in both. `stablehlo-canonicalize-dynamism`
then replaces the dynamic operations, and a program of `jax.export` with symbolic shapes is ready for
propagation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from sdyopt.mlir.dialects.chlo.ragged_dot import RaggedDotOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.function_edits import returns_of, set_function_type
from sdyopt.mlir.dialects.stablehlo.broadcast import DynamicBroadcastInDimOp
from sdyopt.mlir.dialects.stablehlo.collectives import AllGatherOp, ReduceScatterOp
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import DynamicPadOp, PadOp
from sdyopt.mlir.dialects.stablehlo.contraction import (
    DotGeneralOp,
    DotOp,
    dot_result_shape,
    ragged_dot_result_shape,
)
from sdyopt.mlir.dialects.stablehlo.control_flow import ConditionalOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.control_flow import ReturnOp as RegionReturnOp
from sdyopt.mlir.dialects.stablehlo.conversion import BitcastConvertOp, ConvertOp, UniformQuantizeOp
from sdyopt.mlir.dialects.stablehlo.convolution import (
    ConvolutionOp,
    DynamicConvOp,
    convolution_shape,
)
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.gather import DynamicGatherOp, dynamic_gather_types
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp, DynamicIotaOp
from sdyopt.mlir.dialects.stablehlo.random import RngOp
from sdyopt.mlir.dialects.stablehlo.replica_groups import CollectiveOp
from sdyopt.mlir.dialects.stablehlo.shapes import DynamicReshapeOp, SetDimensionSizeOp, type_with_size
from sdyopt.mlir.dialects.stablehlo.slicing import RealDynamicSliceOp, SliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width, constant_integers, most_specific_type
from sdyopt.mlir.dialects.stablehlo.types import TOKEN_TYPE
from sdyopt.mlir.dialects.stablehlo.window import padding_pairs, pairs_of
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense_array
from sdyopt.mlir.ir.folding import constant_value
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import RECURSIVE_EFFECTS
from sdyopt.mlir.ir.types import DYNAMIC, I64, IntegerType, RankedTensor, Type
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .support.folds import FoldOptions, create_constant, shape_folds
from .support.refinement import (
    WRAPPER,
    check_one_block,
    entry_function,
    refine_arguments,
    refine_results,
    refine_shapes,
    refine_values,
    shapes_in_operands,
    static_slice_sizes,
)

_NO_LIMIT = 1 << 63


@register("stablehlo-refine-shapes")
class StablehloRefineShapes(Pass):
    def run(self, module: ModuleOp) -> bool:
        entry = entry_function(module)
        if entry is None:
            raise module.op_error("has no function")
        try:
            _Refinement(module).refine(_Key(entry, 0, (), tuple(entry.function_type.inputs)))
        except DiagnosticError as error:
            raise error.then(entry.error("Failed to refine entry function")) from None
        return True


class _Key(NamedTuple):
    """The key of a refined function: leading tokens, constants after them, and further argument types."""

    function: FuncOp
    tokens: int
    constants: tuple[int, ...]
    types: tuple[Type, ...]

    @property
    def kept_types(self) -> tuple[Type, ...]:
        """The types of the arguments other than constants."""
        return (TOKEN_TYPE,) * self.tokens + self.types

    def __str__(self) -> str:
        constants, types = ", ".join(map(str, self.constants)), ", ".join(map(plain_type, self.types))
        return (
            f"RefinementKey({self.function.sym_name}, toks={self.tokens}, dim_args=[{constants}], "
            f"fn_args=[{types}])"
        )


class _Refinement:
    """The refinement of a module, function by function in the order of calls."""

    def __init__(self, module: ModuleOp) -> None:
        self._keys: dict[FuncOp, _Key] = {}
        self._active: list[FuncOp] = []
        self._effect_free: dict[FuncOp, bool] = {}
        for function in module.functions:
            if isinstance(function, FuncOp):
                self._is_effect_free(function)
        self._patterns = shape_folds(FoldOptions(max_elements=_NO_LIMIT, floats=False))
        for op_class, rewrite in _REFINEMENTS.items():
            self._patterns.setdefault(op_class, []).insert(0, Pattern(rewrite))
        self._patterns[CallOp] = [Pattern(self._refine_call)]

    def refine(self, key: _Key) -> None:
        """Refines the body of a function, unless that was done before."""
        function = key.function
        if function in self._keys:
            self._check_same(key)
            return
        self._keys[function] = key
        self._active.append(function)
        check_one_block(function)
        _replace_constant_arguments(key)
        refine_arguments(function, key.kept_types)
        options = GreedyOptions(
            top_down=True, max_iterations=2, region_simplification=RegionSimplification.AGGRESSIVE
        )
        _, converged = apply_greedily(function, self._patterns_of, options)
        if not converged:
            message = f"Failed to converge StablehloRefineShapes in {options.max_iterations} iterations"
            function.warning(message, help="run the pass again")
        self._active.pop()

    def _check_same(self, key: _Key) -> None:
        """Raises an error if a function was refined for another key, or is being refined."""
        function, previous = key.function, self._keys[key.function]
        # A call that was refined passes no constants any more.
        differs = bool(key.constants) and key.constants != previous.constants
        if differs or key.kept_types != previous.kept_types:
            raise function.op_error(
                f"refined with incompatible refinement keys:\n  curr={key}\n  prev={previous}"
            ).help("clone the function, so that each shape has its own")
        if function in self._active:
            raise function.op_error(f"Function {function.sym_name} is being refined recursively\n")

    def _patterns_of(self, op_class: type[Op]) -> Sequence[Pattern]:
        patterns = self._patterns.get(op_class)
        if patterns is None:
            patterns = self._patterns[op_class] = []
        # C++ leaves sharding constraints as they are, with a type that is invalid then.
        is_inferred = op_class.name.partition(".")[0] in ("stablehlo", "chlo", "sdy")
        if is_inferred and op_class.infer_result_types is not None and _INFER not in patterns:
            patterns.append(_INFER)
        return patterns

    # --- Calls ----------------------------------------------------------------------------

    def _refine_call(self, call: CallOp, rewriter: Rewriter) -> bool:
        key = _key_of(call)
        self.refine(key)
        function = key.function
        constants = _constant_results(function)
        if all(each is not None for each in constants) and self._effect_free[function]:
            new = [create_constant(each, call, rewriter).results[0] for each in constants if each is not None]
            rewriter.replace(call, new)
            return True
        changed = refine_results(call, function.function_type.results)
        if key.constants:
            _erase_constant_operands(call, key, rewriter)
            changed = True
        for result, constant in zip(call.results, constants, strict=True):
            if constant is not None and result.has_uses:
                assert call.next is not None
                rewriter.replace_all_uses(result, create_constant(constant, call.next, rewriter).results[0])
                changed = True
        return changed

    def _is_effect_free(self, function: FuncOp) -> bool:
        """Whether a function, and all that it calls, is free of memory effects; recursion is not."""
        if function not in self._effect_free:
            self._effect_free[function] = False
            self._effect_free[function] = not function.is_declaration and all(
                self._is_op_effect_free(op) for block in function.body.blocks for op in block.ops
            )
        return self._effect_free[function]

    def _is_op_effect_free(self, op: Op) -> bool:
        if isinstance(op, CallOp):
            callee = lookup_symbol(op, op.callee)
            return isinstance(callee, FuncOp) and self._is_effect_free(callee)
        if RECURSIVE_EFFECTS not in op.traits:
            return is_memory_effect_free(op)
        nested = (child for region in op.regions for block in region.blocks for child in block.ops)
        return all(map(self._is_op_effect_free, nested))


def _key_of(call: CallOp) -> _Key:
    function = lookup_symbol(call, call.callee)
    if not isinstance(function, FuncOp):
        raise call.op_error("cannot resolve function call")
    types = call.signature.operand_types
    tokens = next((index for index, type in enumerate(types) if type is not TOKEN_TYPE), len(types))
    constants: list[int] = []
    for operand in call.operands[tokens:]:
        type = operand.type
        if not isinstance(type, RankedTensor) or type.rank or not isinstance(type.element, IntegerType):
            break
        integers = constant_integers(operand)
        if integers is None:
            break
        constants.append(integers[0])
    return _Key(function, tokens, tuple(constants), tuple(types[tokens + len(constants) :]))


def _constant_results(function: FuncOp) -> list[DenseElements | None]:
    """The constant integers that a function returns; None for other results."""
    returned = [constant_value(value.defining_op) for value in returns_of(function)[0].operands]
    return [
        each if isinstance(each, DenseElements) and isinstance(each.type.element, IntegerType) else None
        for each in returned
    ]


def _replace_constant_arguments(key: _Key) -> None:
    """Replaces the arguments of a function that are constant in its calls, and erases them."""
    rewriter, function = Rewriter(), key.function
    first = function.entry.first
    assert first is not None
    erased = range(key.tokens, key.tokens + len(key.constants))
    for argument, number in zip(function.entry.arguments[key.tokens :], key.constants, strict=False):
        type = argument.type
        if not isinstance(type, RankedTensor):
            raise function.op_error("expected global constant argument to be shaped")
        value = _splat(number, type)
        constant = rewriter.create(
            ConstantOp, (), [type], {"value": value}, before=first, location=argument.lazy_location
        )
        rewriter.replace_all_uses(argument, constant.results[0])
    if not erased:
        return
    types = [type for index, type in enumerate(function.function_type.inputs) if index not in erased]
    attributes = [each for index, each in enumerate(function.argument_attributes) if index not in erased]
    for index in reversed(erased):
        rewriter.erase_argument(function.entry.arguments[index])
    set_function_type(function, types, function.function_type.results, rewriter)
    function.argument_attributes = attributes


def _splat(number: int, type: RankedTensor) -> DenseElements:
    element = type.element
    assert isinstance(element, IntegerType)
    size = max(1, (element.width + 7) // 8)
    return DenseElements(type, (number & ((1 << element.width) - 1)).to_bytes(size, "little"))


def _erase_constant_operands(call: CallOp, key: _Key, rewriter: Rewriter) -> None:
    erased = range(key.tokens, key.tokens + len(key.constants))
    rewriter.erase_operands(call, erased)
    attributes = call.attribute("arg_attrs")
    if isinstance(attributes, ArrayAttr):
        kept = [each for index, each in enumerate(attributes.elements) if index not in erased]
        rewriter.set_attribute(call, "arg_attrs", ArrayAttr(tuple(kept)))


# --- Operations ---------------------------------------------------------------------------

# Refines the results of an operation; returns whether any changed.
Refine = Callable[[Any, Rewriter], bool]


def _by_shape(infer: Callable[[Any], Sequence[int] | None]) -> Refine:
    """Refines the only result to an inferred shape, if any can be inferred."""

    def refine(op: Op, rewriter: Rewriter) -> bool:
        try:
            shape = infer(op)
        except SignatureError:
            return False
        return shape is not None and refine_shapes(op, [shape])

    return refine


def _infer(op: Op, rewriter: Rewriter) -> bool:
    """Infers the result types from operands that may have been refined."""
    infer = op.infer_result_types
    assert infer is not None
    try:
        return refine_results(op, infer(op.signature, op.regions))
    except SignatureError:
        return False


_INFER = Pattern(_infer, benefit=0)


def _refine_custom_call(call: CustomCallOp, rewriter: Rewriter) -> bool:
    shapes = shapes_in_operands(call)
    if shapes is None or not refine_shapes(call, shapes):
        return False
    if call.call_target_name == WRAPPER:
        argument, result = call.operand_at(0), call.results[0]
        if argument.type is result.type:
            rewriter.replace_all_uses(result, argument)
            rewriter.erase(call)
    return True


def _refine_while(op: WhileOp, rewriter: Rewriter) -> bool:
    """Refines the block arguments of both regions. The results are inferred from the operands."""
    types = op.signature.operand_types
    changed = [refine_values(op, region.blocks[0].arguments, types) for region in op.regions]
    return any(changed)


def _update_function(op: ReturnOp, rewriter: Rewriter) -> bool:
    """Sets the result types of a function to those that were refined, and erases the casts."""
    function = op.parent_op
    assert isinstance(function, FuncOp)
    types = list(op.signature.operand_types)
    casts: dict[Op, None] = {}
    for index, operand in enumerate(op.operands):
        cast = operand.defining_op
        if not isinstance(cast, UnrealizedConversionCastOp) or len(cast.operands) != 1:
            continue
        source = cast.operand_at(0).type
        try:
            specific = most_specific_type(cast.signature, [source, operand.type])
        except SignatureError:
            continue
        if specific is not operand.type:
            types[index] = source
            casts[cast] = None
    for cast in casts:
        rewriter.replace(cast, cast.operands)
    if casts:
        set_function_type(function, function.function_type.inputs, types, Rewriter())
    return bool(casts)


def _update_branches(op: RegionReturnOp, rewriter: Rewriter) -> bool:
    """Visits a conditional again if a branch returns more specific types than its results have."""
    parent = op.parent_op
    if not isinstance(parent, ConditionalOp):
        return False
    for old, new in zip(parent.signature.result_types, op.signature.operand_types, strict=False):
        try:
            if most_specific_type(op.signature, [old, new]) is not old:
                rewriter.visit_again(parent)
                return True
        except SignatureError:
            continue
    return False


def _bitcast_shape(op: BitcastConvertOp) -> Sequence[int] | None:
    source, target = op.signature[BitcastConvertOp.operand], op.signature[BitcastConvertOp.out]
    return source.shape if bit_width(source.element) == bit_width(target.element) else None


def _gathered_shape(
    op: CollectiveOp, dimension: int, factor: Callable[[int, int], int]
) -> Sequence[int] | None:
    """The operand's shape with one size multiplied or divided by the size of the replica groups."""
    type, groups = op.operands[0].type, op.replica_groups
    uses_global_ids = bool(op.attribute("use_global_device_ids"))
    if not isinstance(type, RankedTensor) or (op.channel_handle is not None and not uses_global_ids):
        return None
    if not isinstance(groups, DenseElements) or not groups.type.shape[1]:
        return None
    shape = list(type.shape)
    if shape[dimension] != DYNAMIC:
        shape[dimension] = factor(shape[dimension], groups.type.shape[1])
    return shape


def _refine_all_gather(op: AllGatherOp, rewriter: Rewriter) -> bool:
    shape = _gathered_shape(op, op.all_gather_dim, lambda size, count: size * count)
    return shape is not None and refine_shapes(op, [shape])


def _reduce_scatter_shape(op: ReduceScatterOp) -> Sequence[int] | None:
    return _gathered_shape(op, op.scatter_dimension, lambda size, count: size // count)


def _convolution(op: ConvolutionOp) -> Sequence[int]:
    return convolution_shape(op.signature, padding_pairs(op.signature, op.padding))


def _dynamic_convolution(op: DynamicConvOp) -> Sequence[int] | None:
    padding = constant_value(op.padding.defining_op)
    return convolution_shape(op.signature, pairs_of(padding)) if isinstance(padding, DenseElements) else None


def _dot(op: DotOp) -> Sequence[int]:
    lhs, rhs = op.signature[DotOp.lhs], op.signature[DotOp.rhs]
    return [*lhs.shape[:-1], *rhs.shape[1:]]


def _dot_general(op: DotGeneralOp) -> Sequence[int]:
    lhs, rhs = op.signature[DotGeneralOp.lhs], op.signature[DotGeneralOp.rhs]
    return dot_result_shape(op.signature, lhs, rhs, op.dot_dimension_numbers)


def _ragged_dot(op: RaggedDotOp) -> Sequence[int] | None:
    lhs, rhs, groups = (operand.type for operand in op.operands)
    if not isinstance(lhs, RankedTensor) or not isinstance(rhs, RankedTensor):
        return None
    assert isinstance(groups, RankedTensor)
    return ragged_dot_result_shape(lhs, rhs, groups, op.ragged_dot_dimension_numbers.dimensions)


def _static(
    op_class: type[Op], operands: Sequence[Value], attributes: dict[str, Sequence[int]], result: Type
) -> Type:
    """The type that a static operation with these operands and lists of integers would have."""
    values: list[tuple[str, Attribute]] = [(name, dense_array(I64, v)) for name, v in attributes.items()]
    types = tuple([operand.type for operand in operands])
    signature = OpSignature(op_class, op_class.name, DictAttr(tuple(sorted(values))), types, (result,))
    infer = op_class.infer_result_types
    assert infer is not None
    return infer(signature, ())[0]


def _constants(**operands: Value) -> dict[str, Sequence[int]] | None:
    """The constant integers by name; None if an operand is not constant."""
    found = {name: constant_integers(value) for name, value in operands.items()}
    return None if None in found.values() else found  # type: ignore[return-value]


def _refine_pad(op: DynamicPadOp, rewriter: Rewriter) -> bool:
    padding = _constants(
        edge_padding_low=op.edge_padding_low,
        edge_padding_high=op.edge_padding_high,
        interior_padding=op.interior_padding,
    )
    if padding is None:
        return False
    return _refine_as(op, PadOp, [op.operand, op.padding_value], padding)


def _refine_slice(op: RealDynamicSliceOp, rewriter: Rewriter) -> bool:
    ranges = _constants(start_indices=op.start_indices, limit_indices=op.limit_indices, strides=op.strides)
    if ranges is not None:
        return _refine_as(op, SliceOp, [op.operand], ranges)
    sizes = static_slice_sizes(op)
    if sizes is None:
        return False
    extents = op.signature[RealDynamicSliceOp.operand].shape
    if any(size < 0 or (size > extent != DYNAMIC) for size, extent in zip(sizes, extents, strict=True)):
        return False
    return refine_shapes(op, [sizes])


def _refine_as(
    op: Op, op_class: type[Op], operands: Sequence[Value], attributes: dict[str, Sequence[int]]
) -> bool:
    try:
        type = _static(op_class, operands, attributes, op.results[0].type)
    except SignatureError:
        return False
    return refine_results(op, [type])


def _refine_dynamic_gather(op: DynamicGatherOp, rewriter: Rewriter) -> bool:
    try:
        return refine_results(op, dynamic_gather_types(op.signature, constant_integers(op.slice_sizes)))
    except SignatureError:
        return False


def _refine_set_dimension_size(op: SetDimensionSizeOp, rewriter: Rewriter) -> bool:
    try:
        return refine_results(op, [type_with_size(op.signature, constant_integers(op.size))])
    except SignatureError:
        return False


_REFINEMENTS: dict[type[Op], Refine] = {
    AllGatherOp: _refine_all_gather,
    BitcastConvertOp: _by_shape(_bitcast_shape),
    ConvertOp: _by_shape(lambda op: op.signature[ConvertOp.operand].shape),
    ConvolutionOp: _by_shape(_convolution),
    CustomCallOp: _refine_custom_call,
    DotGeneralOp: _by_shape(_dot_general),
    DotOp: _by_shape(_dot),
    DynamicBroadcastInDimOp: _by_shape(lambda op: constant_integers(op.output_dimensions)),
    DynamicConvOp: _by_shape(_dynamic_convolution),
    DynamicGatherOp: _refine_dynamic_gather,
    DynamicIotaOp: _by_shape(lambda op: constant_integers(op.output_shape)),
    DynamicPadOp: _refine_pad,
    DynamicReshapeOp: _by_shape(lambda op: constant_integers(op.output_shape)),
    RaggedDotOp: _by_shape(_ragged_dot),
    RealDynamicSliceOp: _refine_slice,
    RegionReturnOp: _update_branches,
    ReduceScatterOp: _by_shape(_reduce_scatter_shape),
    ReturnOp: _update_function,
    RngOp: _by_shape(lambda op: constant_integers(op.shape)),
    SetDimensionSizeOp: _refine_set_dimension_size,
    UniformQuantizeOp: _by_shape(lambda op: op.signature[UniformQuantizeOp.operand].shape),
    WhileOp: _refine_while,
}

"""Refinement of types, from dynamic sizes to static ones: of arguments, values and custom calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.base.diagnostics.diagnostic import Diagnostic, Severity, emit
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.sharding_edits import set_function_type
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.dialect import listing, quoted
from sdyopt.mlir.dialects.stablehlo.elementwise import AddOp
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.slicing import RealDynamicSliceOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import (
    are_compatible,
    constant_integers,
    most_specific_type,
)
from sdyopt.mlir.ir.attribute import StringAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense
from sdyopt.mlir.ir.op_signature import SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I64, RankedTensor, ShapedType, TupleType, Type, UnrankedTensor
from sdyopt.mlir.ir.value import Value

# The target of a custom call that has the type of an argument before it was refined.
WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
# The operands of a custom call that are the shapes of its results.
SHAPE_OPERANDS = "indices_of_shape_operands"

_REFINABLE_USERS = ("stablehlo", "chlo", "sdy")

# The sizes of a result; None for a result that is not refined.
Shape = Sequence[int] | None


def entry_function(module: ModuleOp) -> FuncOp | None:
    """The only function of a module, or the one called `main`; None in a module without functions."""
    functions = [op for op in module.functions if isinstance(op, FuncOp)]
    if not functions:
        return None
    entry = functions[0] if len(functions) == 1 else module.symbol("main")
    if not isinstance(entry, FuncOp):
        raise module.op_error(
            "must have no more than one function or a `main` function to clearly identify which function "
            "will be refined"
        )
    check_one_block(entry)
    return entry


def check_one_block(function: FuncOp) -> None:
    """Raises an error unless the body of a function is one block."""
    if len(function.body.blocks) != 1:
        raise function.op_error("must have exactly one block")


# --- Values -------------------------------------------------------------------------------


def refine_values(op: Op, values: Sequence[Value], types: Sequence[Type]) -> bool:
    """Refines the types of values to be at least as specific as `types`; returns whether any changed.

    Nothing changes if a type is incompatible, or if an operation uses a value that must keep its type. The
    types of a function's results stay: casts after `op` restore them.
    """
    if len(values) != len(types):
        return False
    try:
        refined = [
            most_specific_type(op.signature, [value.type, type])
            for value, type in zip(values, types, strict=True)
        ]
    except SignatureError:
        return False
    changes = [(value, type) for value, type in zip(values, refined, strict=True) if value.type is not type]
    if not all(_can_refine(user) for value, _ in changes for user in value.users):
        return False
    # Users are not visited again: they follow in the worklist.
    rewriter = Rewriter()
    for value, type in changes:
        old = value.type
        returned = [use for use in value.uses if isinstance(use.owner, ReturnOp)]
        rewriter.set_type(value, type)
        if returned:
            cast = rewriter.create(
                UnrealizedConversionCastOp, [value], [old], after=op, location=op.lazy_location
            )
            for use in returned:
                rewriter.set_operand(use, cast.results[0])
    return bool(changes)


def _can_refine(user: Op) -> bool:
    return user.dialect_name in _REFINABLE_USERS or isinstance(user, ReturnOp | CallOp)


def refine_results(op: Op, types: Sequence[Type]) -> bool:
    """Refines the results of an operation; returns whether any changed."""
    return refine_values(op, op.results, types)


def refine_shapes(op: Op, shapes: Sequence[Shape]) -> bool:
    """Refines the results of an operation, tuples flattened, to these shapes; returns whether any changed."""
    flat = list(_flattened(op.signature.result_types))
    if len(flat) != len(shapes):
        return False
    refined: list[Type] = []
    for type, shape in zip(flat, shapes, strict=True):
        if not isinstance(type, ShapedType):
            if shape is not None:
                return False
            refined.append(type)
            continue
        if isinstance(type, RankedTensor) and type.encoding is not None:
            return False
        new = RankedTensor(tuple(shape), type.element) if shape is not None else type
        if not are_compatible(type, new):
            return False
        refined.append(new)
    rest = iter(refined)
    return refine_results(op, [_unflattened(type, rest) for type in op.signature.result_types])


def _flattened(types: Sequence[Type]) -> list[Type]:
    flat: list[Type] = []
    for type in types:
        flat += _flattened(type.types) if isinstance(type, TupleType) else [type]
    return flat


def _unflattened(type: Type, flat: Iterator[Type]) -> Type:
    if isinstance(type, TupleType):
        return TupleType(tuple([_unflattened(part, flat) for part in type.types]))
    return next(flat)


# --- Custom calls -------------------------------------------------------------------------


def shapes_in_operands(call: CustomCallOp) -> list[list[int]] | None:
    """The constant shapes of the results of a custom call, tuples flattened; None if it has none.

    Emits an error if its attribute is invalid, after which the run continues.
    """
    indices = call.attributes.get(SHAPE_OPERANDS)
    if not isinstance(indices, DenseElements):
        return None
    try:
        return _shapes_in_operands(call, indices)
    except SignatureError as problem:
        message = f"{SHAPE_OPERANDS}: " + problem.message
        emit(Diagnostic(Severity.ERROR, call.location, message, is_fatal=False))
        return None


def _shapes_in_operands(call: CustomCallOp, indices: DenseElements) -> list[list[int]] | None:
    error = call.signature.error
    types = _flattened(call.signature.result_types)
    suffix = "" if len(types) == len(call.results) else ", with tuples flattened"
    count = indices.type.num_elements
    if count != len(types):
        results = f"the number of operation results ({len(types)})"
        raise error(f"number of elements ({count}) must be equal to {results}{suffix}")
    if len(indices.type.shape) != 1:
        raise error("must have rank = 1")
    if indices.type.element is not I64:
        raise error("must have i64 element type")
    shapes = []
    for number, (index, type) in enumerate(zip(shape_operand_indices(indices), types, strict=True)):
        if not 0 <= index < len(call.operands):
            bounds = f"(from 0 to {len(call.operands)})"
            raise error(f"index #{number} ({index}) must be within bounds for operation operands {bounds}")
        sizes = constant_integers(call.operand_at(index))
        if sizes is None:
            return None
        is_compatible = isinstance(type, ShapedType) and are_compatible(
            RankedTensor(tuple(sizes), type.element), type
        )
        if not is_compatible:
            raise error(
                f"refinement #{number} ([{listing(sizes)}]) must be compatible with operation result "
                f"#{number} ({quoted(type)}){suffix}"
            )
        shapes.append(sizes)
    return shapes


def shape_operand_indices(indices: DenseElements) -> list[int]:
    """The numbers of the operands that are shapes."""
    data = indices.expanded
    return [int.from_bytes(data[i : i + 8], "little", signed=True) for i in range(0, len(data), 8)]


# --- Arguments ----------------------------------------------------------------------------


def refine_arguments(function: FuncOp, types: Sequence[Type]) -> None:
    """Sets the types of the arguments. A custom call gives each refined argument its old type.

    Raises an error if a type is no refinement of the argument's.
    """
    _check_refinements(function, types)
    rewriter = Rewriter()
    first = function.entry.first
    assert first is not None
    for argument, type in zip(function.entry.arguments, types, strict=True):
        if argument.type is type:
            continue
        assert isinstance(type, RankedTensor)
        value = shape_constant(type.shape)
        shape = rewriter.create(
            ConstantOp, (), [value.type], {"value": value}, before=first, location=argument.lazy_location
        )
        wrapper = rewriter.create(
            CustomCallOp,
            [argument, *shape.results],
            [argument.type],
            {"call_target_name": StringAttr(WRAPPER), SHAPE_OPERANDS: shape_constant([1])},
            before=first,
            location=argument.lazy_location,
        )
        rewriter.replace_uses_except(argument, wrapper.results[0], wrapper)
        rewriter.set_type(argument, type)
    set_function_type(function, types, function.function_type.results, rewriter)


def shape_constant(sizes: Sequence[int]) -> DenseElements:
    """`dense<[…]> : tensor<n x i64>`."""
    data = b"".join([(size & ((1 << 64) - 1)).to_bytes(8, "little") for size in sizes])
    return dense(RankedTensor((len(sizes),), I64), data)


def _check_refinements(function: FuncOp, refined: Sequence[Type]) -> None:
    types = function.function_type.inputs
    if len(types) != len(refined):
        raise function.op_error(
            f"number of refinements must match number of op operands {len(refined)} vs {len(types)}"
        )
    for index, (old, new) in enumerate(zip(types, refined, strict=True)):
        problem = None if old is new else _refinement_problem(old, new)
        if problem:
            raise function.op_error(
                f"invalid refinement for argument {index}, refinement {problem} in {plain_type(old)} -> "
                f"{plain_type(new)}"
            )


def _refinement_problem(old: Type, new: Type) -> str:
    tensors = RankedTensor, UnrankedTensor
    if not isinstance(old, tensors) or not isinstance(new, tensors):
        return "must be a tensor"
    if old.element is not new.element:
        return "element types must match"
    if not isinstance(new, RankedTensor):
        return "must be ranked"
    if not isinstance(old, RankedTensor):
        return ""
    if old.rank != new.rank:
        return "rank must match operand rank"
    if any(size not in (DYNAMIC, refined) for size, refined in zip(old.shape, new.shape, strict=True)):
        return "dimension sizes must match for static dimensions"
    return ""


# --- Slices -------------------------------------------------------------------------------


def static_slice_sizes(op: RealDynamicSliceOp) -> Sequence[int] | None:
    """The sizes of a slice without strides whose limits are its starts plus constants; else None."""
    limits, strides = op.limit_indices.defining_op, constant_integers(op.strides)
    if not isinstance(limits, AddOp) or strides is None or any(stride != 1 for stride in strides):
        return None
    left, right = limits.operands
    if left is op.start_indices:
        return constant_integers(right)
    return constant_integers(left) if right is op.start_indices else None

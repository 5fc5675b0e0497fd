"""stablehlo-aggressive-folder: fold operations on constants.

    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %0 = stablehlo.add %c, %c : tensor<2xi32>
    %1 = stablehlo.reverse %0, dims = [0] : tensor<2xi32>
becomes
    %1 = stablehlo.constant dense<[4, 2]> : tensor<2xi32>

Folded are arithmetic, comparisons, conversions, operations that move elements, loops that do not run, cases
with a constant index, and reductions over no dimension. Floats are computed with 64 bits and rounded;
`optimize-float=false` leaves most of them. Where a fold takes more memory, as that of a concatenation,
`fold-op-element-limit` is the largest number of elements of the result. A `case` or `while` is erased only if
it has no effects; with `assume-no-undeclared-side-effects`, calls in a `while` have none.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from sdyopt.mlir.dialects.chlo.elementwise import ErfOp
from sdyopt.mlir.dialects.func import CallOp
from sdyopt.mlir.dialects.stablehlo import elementwise as hlo
from sdyopt.mlir.dialects.stablehlo.compare_select import AbsOp
from sdyopt.mlir.dialects.stablehlo.control_flow import CaseOp, ReturnOp, WhileOp
from sdyopt.mlir.dialects.stablehlo.nullary import IotaOp
from sdyopt.mlir.dialects.stablehlo.reduction import ReduceOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReverseOp, TransposeOp
from sdyopt.mlir.ir.builtin_attributes import DenseElements, dense, element_size
from sdyopt.mlir.ir.interfaces import is_memory_effect_free, would_be_dead
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import IntegerType
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

from .support.folds import (
    Fold,
    FoldOptions,
    Folds,
    Patterns,
    constant_of,
    create_constant,
    elementwise,
    fold_pattern,
    is_foldable,
    result_type,
    shape_folds,
    sliced,
    splat_of,
)
from .support.region_simplifications import remove_reduce, use_outer_values


@register("stablehlo-aggressive-folder")
class StablehloAggressiveFolder(Pass):
    anchor = FUNCTION

    assume_no_undeclared_side_effects: bool = option(
        default=False, help="erase unused loops that do not run, even if calls in them may have effects"
    )
    fold_op_element_limit: int = option(
        default=65536, help="fold to at most this number of elements, unless they are equal"
    )
    optimize_float: bool = option(default=True, help="fold operations on floats")

    def run(self, function: Op) -> bool:
        options = FoldOptions(self.fold_op_element_limit, self.optimize_float)
        patterns = folds(options, self.assume_no_undeclared_side_effects)
        changed, _ = apply_greedily(
            function, lambda op_class: patterns.get(op_class, ()), GreedyOptions(top_down=True)
        )
        return changed


def folds(options: FoldOptions, calls_are_pure: bool) -> Patterns:
    """The patterns of the pass, by class of operation."""
    patterns = shape_folds(options)
    for op_class, fold in _FOLDS.items():
        patterns[op_class] = [fold_pattern(fold, options)]
    patterns[CaseOp] = [Pattern(_inline_case)]
    patterns[ReduceOp] = [
        Pattern(remove_reduce),
        Pattern(use_outer_values),
        Pattern(_fold_logical_reduce),
    ]
    patterns[WhileOp] = [Pattern(_replace_while)]
    if calls_are_pure:
        patterns[WhileOp].append(Pattern(_erase_while))
    return patterns


# --- Elementwise --------------------------------------------------------------------------


def _unary(compute: Callable[[float], float], is_defined: Callable[[float], bool] | None = None) -> Fold:
    """The fold of a function of floats; numbers for which it is not defined do not fold."""

    def computed(x: float) -> float | None:
        if is_defined is not None and not is_defined(x):
            return None
        try:
            return compute(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return elementwise(lambda x: None, computed)


def _logistic(x: float) -> float:
    try:
        return 1.0 / (1.0 + math.exp(-x))
    except OverflowError:
        return 0.0


def _round_away(x: float) -> float:
    """The nearest integer, halves away from zero."""
    if not math.isfinite(x):
        return x
    return math.copysign(math.floor(abs(x)) + (abs(x) - math.floor(abs(x)) >= 0.5), x)


def _round_even(x: float) -> float:
    return math.copysign(round(x), x) if math.isfinite(x) else x


_FOLDS = Folds()


@_FOLDS.fold(hlo.NotOp)
def fold_not(op: Op, options: FoldOptions) -> DenseElements | None:
    element = result_type(op).element
    is_boolean = isinstance(element, IntegerType) and element.width == 1
    return elementwise((lambda x: 1 - x) if is_boolean else operator.invert, None)(op, options)


# --- Moving elements ----------------------------------------------------------------------


@_FOLDS.fold(IotaOp)
def fold_iota(op: Op, options: FoldOptions) -> DenseElements | None:
    """As in C++, only iotas with at most one element fold."""
    type = result_type(op)
    if not isinstance(type.element, IntegerType) or not type.has_static_shape or type.num_elements > 1:
        return None
    return DenseElements(type, bytes(element_size(type.element)) * type.num_elements)


@_FOLDS.fold(ReverseOp)
def fold_reverse(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, ReverseOp)
    value, type = constant_of(op.operand), result_type(op)
    if value is None or not _can_permute(op, options) or value.is_splat:
        return None
    indices = [
        range(size - 1, -1, -1) if dimension in op.dimensions else range(size)
        for dimension, size in enumerate(type.shape)
    ]
    reversed_data = b"".join(sliced(value, indices))
    return None if reversed_data == value.data else dense(type, reversed_data)


@_FOLDS.fold(TransposeOp)
def fold_transpose(op: Op, options: FoldOptions) -> DenseElements | None:
    assert isinstance(op, TransposeOp)
    value, type = constant_of(op.operand), result_type(op)
    if value is None or not _can_permute(op, options):
        return None
    if value.is_splat:
        return DenseElements(type, value.data)
    size, stride, strides = element_size(type.element), 1, []
    for extent in reversed(value.type.shape):
        strides.append(stride * size)
        stride *= extent
    strides.reverse()
    offsets = [0]
    for dimension, extent in zip(op.permutation, type.shape, strict=True):
        step = strides[dimension]
        offsets = [offset + step * index for offset in offsets for index in range(extent)]
    return dense(type, b"".join([value.data[offset : offset + size] for offset in offsets]))


def _can_permute(op: Op, options: FoldOptions) -> bool:
    type = result_type(op)
    return is_foldable(type, FoldOptions(0, True)) and type.num_elements <= options.max_elements


# --- Regions ------------------------------------------------------------------------------


def _fold_logical_reduce(op: ReduceOp, rewriter: Rewriter) -> bool:
    """Folds a conjunction or disjunction of equal constants, which has the value of two of them."""
    logical = op.regions[0].blocks[0].first
    constants = [splat_of(operand) for operand in op.operands]
    if not isinstance(logical, hlo.AndOp | hlo.OrOp) or not isinstance(logical.next, ReturnOp):
        return False
    if len(constants) != 2 or constants[0] is None or constants[1] is None:
        return False
    combine = operator.and_ if isinstance(logical, hlo.AndOp) else operator.or_
    data = bytes(map(combine, constants[0].data, constants[1].data))
    type = result_type(op)
    if not type.has_static_shape:
        return False
    rewriter.replace(op, create_constant(DenseElements(type, data), op, rewriter))
    return True


def _never_runs(op: WhileOp) -> bool:
    last = op.regions[0].blocks[0].last
    returned = last if isinstance(last, ReturnOp) else None
    condition = constant_of(returned.operand_at(0)) if returned is not None else None
    return condition is not None and not condition.data[0]


def _replace_while(op: WhileOp, rewriter: Rewriter) -> bool:
    """Replaces the results of a loop that does not run by its operands."""
    if not any(result.has_uses for result in op.results) or not _never_runs(op):
        return False
    for result, operand in zip(op.results, op.operands, strict=True):
        rewriter.replace_all_uses(result, operand)
    return True


def _erase_while(op: WhileOp, rewriter: Rewriter) -> bool:
    """Erases an unused loop that does not run, if nothing in it but calls may have effects."""
    if any(result.has_uses for result in op.results) or not _never_runs(op):
        return False
    inner = [
        nested for nested in op.walk() if not nested.regions and not isinstance(nested, CallOp | ReturnOp)
    ]
    if not all(map(is_memory_effect_free, inner)):
        return False
    rewriter.erase(op)
    return True


def _inline_case(op: CaseOp, rewriter: Rewriter) -> bool:
    """Inlines the branch that a constant index selects; an index out of bounds selects the last one."""
    index = splat_of(op.operand_at(0))
    if index is None or not any(result.has_uses for result in op.results) or not would_be_dead(op):
        return False
    number = int.from_bytes(index.data, "little", signed=True)
    block = op.regions[number if 0 <= number < len(op.regions) else -1].blocks[0]
    end = block.last
    assert isinstance(end, ReturnOp)
    for inner in [inner for inner in block.ops if inner is not end]:
        rewriter.move(inner, before=op)
    rewriter.replace(op, end.operands)
    return True


def _integers(compute: Callable[..., int]) -> Fold:
    return elementwise(compute, None)


_FOLDS |= {
    AbsOp: elementwise(abs, abs),
    ErfOp: _unary(math.erf),
    hlo.CosineOp: _unary(math.cos),
    hlo.ExpOp: _unary(math.exp),
    hlo.LogOp: _unary(math.log, lambda x: x > 0),
    hlo.LogisticOp: _unary(_logistic),
    hlo.NegOp: elementwise(operator.neg, operator.neg),
    hlo.RoundNearestEvenOp: _unary(_round_even),
    hlo.RoundOp: _unary(_round_away),
    hlo.RsqrtOp: _unary(lambda x: 1.0 / math.sqrt(x), lambda x: x > 0),
    hlo.SineOp: _unary(math.sin),
    hlo.SqrtOp: _unary(math.sqrt, lambda x: not x < 0),
    hlo.TanOp: _unary(math.tan),
    hlo.TanhOp: _unary(math.tanh),
    hlo.XorOp: _integers(operator.xor),
}

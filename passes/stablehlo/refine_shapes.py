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

from collections.abc import Sequence

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.func import CallOp, FuncOp
from sdyopt.mlir.dialects.sdy.sharding_edits import returns_of, set_function_type
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers
from sdyopt.mlir.dialects.stablehlo.types import TOKEN_TYPE
from sdyopt.mlir.ir.attribute import ArrayAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.cse import constant_value
from sdyopt.mlir.ir.interfaces import is_memory_effect_free
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import GreedyOptions, Pattern, RegionSimplification, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.traits import RECURSIVE_EFFECTS
from sdyopt.mlir.ir.types import IntegerType, RankedTensor, Type
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .support.folds import FoldOptions, create_constant, shape_folds
from .support.op_refinements import INFER, REFINEMENTS
from .support.refinement import (
    check_one_block,
    entry_function,
    refine_arguments,
    refine_results,
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

    @classmethod
    def of(cls, call: CallOp) -> _Key:
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
        return cls(function, tokens, tuple(constants), tuple(types[tokens + len(constants) :]))

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

    def replace_constant_arguments(self) -> None:
        """Replaces the arguments of a function that are constant in its calls, and erases them."""
        rewriter, function = Rewriter(), self.function
        first = function.entry.first
        assert first is not None
        erased = range(self.tokens, self.tokens + len(self.constants))
        for argument, number in zip(function.entry.arguments[self.tokens :], self.constants, strict=False):
            type = argument.type
            if not isinstance(type, RankedTensor):
                raise function.op_error("expected global constant argument to be shaped")
            element = type.element
            assert isinstance(element, IntegerType)
            size = max(1, (element.width + 7) // 8)
            value = DenseElements(type, (number & ((1 << element.width) - 1)).to_bytes(size, "little"))
            constant = rewriter.create(
                ConstantOp, (), [type], {"value": value}, before=first, location=argument.lazy_location
            )
            rewriter.replace_all_uses(argument, constant.results[0])
        if not erased:
            return
        types = [type for index, type in enumerate(function.function_type.inputs) if index not in erased]
        attributes = [
            attribute for index, attribute in enumerate(function.argument_attributes) if index not in erased
        ]
        for index in reversed(erased):
            rewriter.erase_argument(function.entry.arguments[index])
        set_function_type(function, types, function.function_type.results, rewriter)
        function.argument_attributes = attributes


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
        for op_class, patterns in REFINEMENTS.items():
            self._patterns[op_class] = [*patterns, *self._patterns.get(op_class, ())]
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
        key.replace_constant_arguments()
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
        if is_inferred and op_class.infer_result_types is not None and INFER not in patterns:
            patterns.append(INFER)
        return patterns

    # --- Calls ----------------------------------------------------------------------------

    def _refine_call(self, call: CallOp, rewriter: Rewriter) -> bool:
        key = _Key.of(call)
        self.refine(key)
        function = key.function
        constants = _constant_results(function)
        if all(constant is not None for constant in constants) and self._effect_free[function]:
            new = [
                create_constant(constant, call, rewriter).results[0]
                for constant in constants
                if constant is not None
            ]
            rewriter.replace(call, new)
            return True
        changed = refine_results(call, function.function_type.results)
        if key.constants:
            erased = range(key.tokens, key.tokens + len(key.constants))
            rewriter.erase_operands(call, erased)
            attributes = call.attribute("arg_attrs")
            if isinstance(attributes, ArrayAttr):
                kept = [element for index, element in enumerate(attributes.elements) if index not in erased]
                rewriter.set_attribute(call, "arg_attrs", ArrayAttr(tuple(kept)))
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


def _constant_results(function: FuncOp) -> list[DenseElements | None]:
    """The constant integers that a function returns; None for other results."""
    returns = returns_of(function)
    if not returns:  # the terminator is unregistered
        return [None] * len(function.result_attributes)
    returned = [constant_value(value.defining_op) for value in returns[0].operands]
    return [
        value if isinstance(value, DenseElements) and isinstance(value.type.element, IntegerType) else None
        for value in returned
    ]

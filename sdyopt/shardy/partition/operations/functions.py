"""Functions, calls, regions and custom calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.asm.printer.attribute_printer import plain_type
from sdyopt.mlir.dialects.func import CallOp, FuncOp, ReturnOp
from sdyopt.mlir.dialects.sdy.mesh import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ManualComputationOp, PropagationBarrierOp
from sdyopt.mlir.dialects.sdy.rule import OpShardingRule
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.control_flow import IfOp
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, TypeAttr
from sdyopt.mlir.ir.symbols import lookup_symbol
from sdyopt.mlir.ir.types import FunctionType, RankedTensor, Type
from sdyopt.shardy.partition.local_context import LocalContext, LocalTypes, Lowered, lowering
from sdyopt.shardy.partition.padding import Padded, Padder, pads, unsupported
from sdyopt.shardy.partition.replication import Dim, all_dims, by_rule, crosses_shards, dims_with_factors
from sdyopt.shardy.sharding.op_sharding_rule_registry import sharding_rule_of


@lowering(FuncOp)
def lower_function(function: FuncOp, local: LocalContext) -> Lowered:
    """Gives a function its local type. The types of its arguments are local already."""
    type: FunctionType = function.function_type
    inputs, results = (
        [
            local.types.local_type(type, _sharding(attributes.get(SHARDING)), function)
            for type, attributes in zip(types, dictionaries, strict=True)
        ]
        for types, dictionaries in (
            (type.inputs, function.argument_attributes),
            (type.results, function.result_attributes),
        )
    )
    local.rewriter.set_attribute(
        function, "function_type", TypeAttr(FunctionType(tuple(inputs), tuple(results)))
    )
    return None


@lowering(CallOp)
def lower_call(call: CallOp, local: LocalContext) -> Lowered:
    """Checks that the local operand and result types of a call are those of its callee."""
    callee = lookup_symbol(call, call.callee)
    assert isinstance(callee, FuncOp), "verified"
    sides = (
        ("operand", [value.type for value in call.operands], callee.argument_attributes, call.operand_types),
        (
            "result",
            [local.local_type(result, call) for result in call.results],
            callee.result_attributes,
            call.result_types,
        ),
    )
    for kind, got, dictionaries, global_types in sides:
        expected = [
            local.types.local_type(type, _sharding(attributes.get(SHARDING)), call)
            for type, attributes in zip(global_types, dictionaries, strict=True)
        ]
        _check_types(call, kind, got, expected)
    return None


def _check_types(call: CallOp, kind: str, got: Sequence[Type], expected: Sequence[Type]) -> None:
    for number, (type, expected_type) in enumerate(zip(got, expected, strict=True)):
        if type is not expected_type:
            raise call.op_error(
                f"{kind} {number} has local type '{plain_type(type)}', but '{plain_type(expected_type)}' in "
                f"the callee: the shardings differ"
            ).help("run -sdy-insert-func-call-reshards and -sdy-reshard-to-collectives before")


@lowering(ReturnOp)
def lower_return(op: ReturnOp, local: LocalContext) -> Lowered:
    """A return is local."""
    return None


def _sharding(attribute: Attribute | None) -> TensorSharding | None:
    return attribute if isinstance(attribute, TensorSharding) else None


@lowering(IfOp)
def lower_if(op: IfOp, local: LocalContext) -> Lowered:
    """An if is local: its condition is a scalar."""
    return None


@lowering(PropagationBarrierOp)
def lower_barrier(op: PropagationBarrierOp, local: LocalContext) -> Lowered:
    """A barrier for propagation computes nothing."""
    return [op.input]


def pad_function(function: FuncOp, padder: Padder) -> None:
    """Pads the type of a private function; inputs and outputs of others must divide into equal shards."""
    type: FunctionType = function.function_type
    inputs: list[Type] = []
    results: list[Type] = []
    for kind, types, dictionaries, padded in (
        ("argument", type.inputs, function.argument_attributes, inputs),
        ("result", type.results, function.result_attributes, results),
    ):
        for number, (whole, attributes) in enumerate(zip(types, dictionaries, strict=True)):
            padded.append(_padded_io(function, whole, attributes, f"{kind} #{number}", padder))
    new = FunctionType(tuple(inputs), tuple(results))
    if new is not type:
        padder.rewriter.set_attribute(function, "function_type", TypeAttr(new))


def _padded_io(function: FuncOp, type: Type, attributes: DictAttr, what: str, padder: Padder) -> Type:
    sharding = attributes.get(SHARDING)
    padded = padder.types.padded_type(type, sharding if isinstance(sharding, TensorSharding) else None)
    if padded is not type and function.sym_visibility != "private":
        raise (
            function.op_error(
                f"{what} has a non-divisible sharding. Shardy expects function IO to be divisible."
            )
            .help(
                "-sdy-update-non-divisible-input-output-shardings makes input and output shardings divisible"
            )
            .then(legalization_error(function))
        )
    return padded


@pads(ManualComputationOp)
def pad_manual_computation(op: ManualComputationOp, padder: Padder) -> Padded:
    """Rejects padding: it would be after each shard along manual axes, and not only at the end."""
    for type, sharding in (
        *zip(op.signature.operand_types, op.in_shardings, strict=True),
        *zip(op.signature.result_types, op.out_shardings, strict=True),
    ):
        padded = padder.types.padded_type(type, sharding)
        if padded is not type:
            assert isinstance(type, RankedTensor) and isinstance(padded, RankedTensor)
            sizes = zip(type.shape, padded.shape, strict=True)
            raise unsupported(op, next(dim for dim, (size, new) in enumerate(sizes) if size != new))
    return None


# Targets that need whole matrices, that is the last two dimensions, whatever their sharding rule is.
_MATRIX_TARGETS = (
    "Eigh",
    "Qr",
    "QrDecompositionBlock",
    "LuDecompositionBlock",
    "Cholesky",
    "TriangularSolve",
)


@crosses_shards(CustomCallOp)
def custom_call(op: CustomCallOp, types: LocalTypes) -> Iterator[Dim]:
    """The dimensions by the rule, those of matrices, and those with factors of only operands or only results.

    All dimensions if there is no rule, or if tensors are sharded differently along one factor, which is
    possible because `sdy-insert-explicit-reshards` skips operations with a custom rule.
    """
    rule = sharding_rule_of(op)
    if rule is None or not _are_compatible(rule, op, types):
        yield from all_dims(op)
        return
    yield from by_rule(op, types)
    operand_factors, result_factors = (
        {factor for mapping in mappings for dim in mapping.dims for factor in dim.factors}
        for mappings in (rule.operands, rule.results)
    )
    yield from dims_with_factors(rule, operand_factors ^ result_factors)
    if op.call_target_name in _MATRIX_TARGETS:
        for place in all_dims(op):
            type = (*op.operands, *op.results)[place.tensor].type
            if isinstance(type, RankedTensor) and place.dim >= type.rank - 2:
                yield place


def _are_compatible(rule: OpShardingRule, op: CustomCallOp, types: LocalTypes) -> bool:
    """Whether all dimensions with the same factors are sharded along the same axes."""
    axes_of: dict[tuple[int, ...], object] = {}
    for value, mapping in zip((*op.operands, *op.results), rule.tensors, strict=True):
        for axes, dim in zip(types.axes_per_dim(value), mapping.dims, strict=False):
            if axes_of.setdefault(dim.factors, axes) != axes:
                return False
    return True

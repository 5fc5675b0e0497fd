"""Function types, constants, random numbers, reshapes and manual computations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.computation_ops import ManualComputationOp
from sdyopt.mlir.dialects.sdy.dialect import SHARDING
from sdyopt.mlir.dialects.sdy.ops import ConstantOp as SdyConstantOp
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.stablehlo.nullary import ConstantOp
from sdyopt.mlir.dialects.stablehlo.random import RngBitGeneratorOp
from sdyopt.mlir.dialects.stablehlo.shapes import ReshapeOp
from sdyopt.mlir.ir.attribute import DictAttr, TypeAttr
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import FunctionType, RankedTensor, Type
from sdyopt.shardy.partition.local_builder import shape_of
from sdyopt.shardy.partition.padding import (
    Padded,
    Padder,
    pads,
    unpadded_result_shape,
    unpadded_shape,
    unsupported,
)
from sdyopt.shardy.partition.paddings.collectives import slice_replicated
from sdyopt.shardy.partition.reshape_groups import Groups, reshape_groups


def pad_function(function: FuncOp, padder: Padder) -> None:
    """Pads the type of a private function; inputs and outputs of others must divide into equal shards."""
    type: FunctionType = function.function_type
    inputs: list[Type] = []
    results: list[Type] = []
    for kind, types, dictionaries, padded in (
        ("argument", type.inputs, function.argument_attributes, inputs),
        ("result", type.results, function.result_attributes, results),
    ):
        for number, (each, attributes) in enumerate(zip(types, dictionaries, strict=True)):
            padded.append(_padded_io(function, each, attributes, f"{kind} #{number}", padder))
    new = FunctionType(tuple(inputs), tuple(results))
    if new is not type:
        padder.rewriter.set_attribute(function, "function_type", TypeAttr(new))


def _padded_io(function: FuncOp, type: Type, attributes: DictAttr, what: str, padder: Padder) -> Type:
    sharding = attributes.get(SHARDING)
    padded = padder.types.padded_type(type, sharding if isinstance(sharding, TensorSharding) else None)
    if padded is not type and function.sym_visibility != "private":
        raise _legalization_error(
            function,
            function.op_error(
                f"{what} has a non-divisible sharding. Shardy expects function IO to be divisible."
            ).help(
                "-sdy-update-non-divisible-input-output-shardings makes input and output shardings divisible"
            ),
        )
    return padded


def _legalization_error(op: Op, error: DiagnosticError) -> DiagnosticError:
    return error.then(
        op.error(f"failed to legalize operation '{op.name}' that was explicitly marked illegal")
    )


@pads(SdyConstantOp, ConstantOp)
def pad_constant(op: SdyConstantOp | ConstantOp, padder: Padder) -> Padded:
    """A splat becomes a larger splat; any other constant is padded with zeros on every device, and sliced."""
    type = padder.padded_type(op.output)
    assert isinstance(type, RankedTensor)
    value = op.value
    if isinstance(value, DenseElements) and value.is_splat:
        padder.rewriter.set_attribute(op, "value", DenseElements(type, value.data))
        return None
    whole = padder.builder(op).create(ConstantOp, (), op.signature.result_types, {"value": value}).result
    return [slice_replicated(op, whole, padder.types.sharding(op.output), padder)]


@pads(RngBitGeneratorOp)
def pad_rng_bit_generator(op: RngBitGeneratorOp, padder: Padder) -> Padded:
    """The numbers depend on the shape, so every device generates all of them, and slices.

    They also depend on the whole state, which can therefore not be padded.
    """
    sizes = zip(shape_of(op.initial_state), unpadded_shape(op, 0), strict=True)
    for dim, (padded, unpadded) in enumerate(sizes):
        if padded != unpadded:
            raise unsupported(op, dim)
    attributes = dict(op.signature.attributes)
    whole = padder.builder(op).create(RngBitGeneratorOp, op.operands, op.signature.result_types, attributes)
    state, bits = whole.results
    sharding = padder.types.sharding(op.output)
    return [state, slice_replicated(op, bits, sharding, padder) if sharding is not None else bits]


@pads(ReshapeOp)
def pad_reshape(op: ReshapeOp, padder: Padder) -> Padded:
    """Keeps a reshape if only the first of the dimensions that it splits or merges are padded, and alike.

    The padding is then after the elements on both sides. `sdy-resolve-permutation-factors` has replicated
    other dimensions, or exchanged their halos.
    """
    padded = padder.padded_type(op.results[0])
    assert isinstance(padded, RankedTensor)
    before, after = unpadded_shape(op, 0), unpadded_result_shape(op)
    if 0 in before:
        return None
    old = list(zip(before, shape_of(op.operand), strict=True))
    new = list(zip(after, padded.shape, strict=True))
    dim = _misplaced_padding(old, new, reshape_groups(before, after))
    # A padded dimension of one element corresponds to another by its padded size only.
    if dim is not None and not _keeps_padding(old, new):
        raise unsupported(op, dim)
    return None


def _keeps_padding(old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]]) -> bool:
    """Whether the dimensions that correspond by their padded sizes are padded alike."""
    shape, result_shape = [size for _, size in old], [size for _, size in new]
    if prod(shape) != prod(result_shape):
        return False
    return _misplaced_padding(old, new, reshape_groups(shape, result_shape)) is None


def _misplaced_padding(
    old: Sequence[tuple[int, int]], new: Sequence[tuple[int, int]], groups: Iterable[Groups]
) -> int | None:
    """The first dimension of a group with padding before other elements, or not alike on both sides."""
    for dims, result_dims in groups:
        # Without dimensions of one element, which may be anywhere in a group.
        before = [old[dim] for dim in dims if old[dim][1] != 1]
        after = [new[dim] for dim in result_dims if new[dim][1] != 1]
        is_padded = any(size != padded_size for size, padded_size in (*before, *after))
        is_at_end = all(size == padded_size for size, padded_size in (*before[1:], *after[1:]))
        if is_padded and not (is_at_end and _products(before) == _products(after)):
            return dims[0] if dims else 0
    return None


def _products(sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The number of elements without padding and with it."""
    return prod(size for size, _ in sizes), prod(size for _, size in sizes)


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

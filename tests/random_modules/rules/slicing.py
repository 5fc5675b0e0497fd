"""Random slices, padding, dynamic slices and updates, and concatenations."""

from __future__ import annotations

from tests.random_modules.rules.tensors import numbers, size, tensor, write_op_with_result
from tests.random_modules.scopes import INDEX, OpGenerator, Scope, Tensor, Value

Bounds = tuple[int, int, int]


def slice_(scope: Scope) -> None:
    _slice(scope, tensor(scope))


def _slice(scope: Scope, source: Value) -> Value:
    bounds = [_bounds(scope, dim) for dim in source.type.shape]
    shape = tuple((limit - start + stride - 1) // stride for start, limit, stride in bounds)
    starts, limits, strides = ([bound[part] for bound in bounds] for part in range(3))
    properties = f"start_indices = {numbers(starts)}, limit_indices = {numbers(limits)}"
    return write_op_with_result(
        scope, "stablehlo.slice", [source], Tensor(shape), f"{properties}, strides = {numbers(strides)}"
    )


def _bounds(scope: Scope, dim: int) -> Bounds:
    """Start, limit and stride of a slice of a dimension, often of all of it."""
    if not dim or scope.random.random() < 0.5:
        return 0, dim, 1
    start = scope.random.randrange(dim)
    return start, scope.random.randint(start + 1, dim), scope.random.choice((1, 1, 2))


def pad(scope: Scope) -> None:
    source = tensor(scope)
    low, high, inside, shape = [], [], [], []
    for dim in source.type.shape:
        padding = (0, 0, 0)
        if dim and scope.random.random() < 0.5:
            padding = (scope.random.randint(0, 3), scope.random.randint(0, 3), scope.random.choice((0, 0, 1)))
        low.append(padding[0])
        high.append(padding[1])
        inside.append(padding[2])
        shape.append(padding[0] + padding[1] + dim + max(dim - 1, 0) * padding[2])
    properties = f"edge_padding_low = {numbers(low)}, edge_padding_high = {numbers(high)}"
    properties += f", interior_padding = {numbers(inside)}"
    write_op_with_result(
        scope, "stablehlo.pad", [source, scope.one_of(Tensor(()))], Tensor(tuple(shape)), properties
    )


def _index(scope: Scope) -> Value:
    """A start index; a constant or not."""
    if scope.random.random() < 0.5:
        word = scope.random.choice(("stablehlo.constant", "sdy.constant"))
        return scope.result(INDEX, f"{word} dense<0> : {INDEX}")
    return scope.one_of(INDEX)


def _smaller_shape(scope: Scope, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        dim if not dim or scope.random.random() < 0.5 else scope.random.randint(1, dim) for dim in shape
    )


def dynamic_slice(scope: Scope) -> None:
    source = tensor(scope)
    shape = _smaller_shape(scope, source.type.shape)
    operands = [source, *(_index(scope) for _ in shape)]
    write_op_with_result(
        scope, "stablehlo.dynamic_slice", operands, Tensor(shape), f"slice_sizes = {numbers(shape)}"
    )


def dynamic_update_slice(scope: Scope) -> None:
    source = tensor(scope)
    update = scope.one_of(Tensor(_smaller_shape(scope, source.type.shape)))
    operands = [source, update, *(_index(scope) for _ in source.type.shape)]
    write_op_with_result(scope, "stablehlo.dynamic_update_slice", operands, source.type)


def concatenate(scope: Scope) -> None:
    """Concatenates tensors; often slices of one or two tensors, and these tensors themselves."""
    first = tensor(scope, min_rank=1)
    shape = first.type.shape
    dim = scope.random.randrange(len(shape))
    sources = [first, scope.one_of(first.type)] if scope.random.random() < 0.3 else [first]
    operand_makers = scope.random.choice(
        ((_other,), (_first_part,), (_source,), (_first_part, _source), (_other, _first_part))
    )
    operands = [
        scope.random.choice(operand_makers)(scope, scope.random.choice(sources), dim)
        for _ in range(scope.random.randint(1, 4))
    ]
    total = sum(value.type.shape[dim] for value in operands)
    type = Tensor((*shape[:dim], total, *shape[dim + 1 :]))
    write_op_with_result(scope, "stablehlo.concatenate", operands, type, f"dimension = {dim} : i64")


def _other(scope: Scope, source: Value, dim: int) -> Value:
    shape = source.type.shape
    return scope.one_of(Tensor((*shape[:dim], size(scope), *shape[dim + 1 :])))


def _source(scope: Scope, source: Value, dim: int) -> Value:
    return source


def _first_part(scope: Scope, source: Value, dim: int) -> Value:
    limits = list(source.type.shape)
    limits[dim] = scope.random.randint(0 if scope.random.random() < 0.05 else 1, max(limits[dim], 1))
    limits[dim] = min(limits[dim], source.type.shape[dim])
    properties = f"start_indices = {numbers([0] * len(limits))}, limit_indices = {numbers(limits)}"
    properties += f", strides = {numbers([1] * len(limits))}"
    return write_op_with_result(scope, "stablehlo.slice", [source], Tensor(tuple(limits)), properties)


OPERATIONS: dict[OpGenerator, int] = {
    slice_: 3,
    pad: 3,
    dynamic_slice: 3,
    dynamic_update_slice: 3,
    concatenate: 4,
}

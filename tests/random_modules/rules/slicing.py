"""Random operations that take parts of tensors, or make them parts of larger ones."""

from __future__ import annotations

from tests.random_modules.rules.tensors import numbers, same, size, tensor
from tests.random_modules.scopes import INDEX, Maker, Scope, Tensor, Value

Bounds = tuple[int, int, int]


def slice_(scope: Scope) -> None:
    _slice(scope, tensor(scope))


def _slice(scope: Scope, source: Value) -> Value:
    bounds = [_bounds(scope, dim) for dim in source.type.shape]
    shape = tuple((limit - start + stride - 1) // stride for start, limit, stride in bounds)
    starts, limits, strides = ([bound[part] for bound in bounds] for part in range(3))
    properties = f"start_indices = {numbers(starts)}, limit_indices = {numbers(limits)}"
    return same(
        scope, "stablehlo.slice", [source], Tensor(shape), f"{properties}, strides = {numbers(strides)}"
    )


def _bounds(scope: Scope, dim: int) -> Bounds:
    """All of a dimension, or a part with start, limit and stride."""
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
    same(scope, "stablehlo.pad", [source, scope.one_of(Tensor(()))], Tensor(tuple(shape)), properties)


def _index(scope: Scope) -> Value:
    """A position; known beforehand, or not."""
    if scope.random.random() < 0.5:
        word = scope.random.choice(("stablehlo.constant", "sdy.constant"))
        return scope.result(INDEX, f"{word} dense<0> : {INDEX}")
    return scope.one_of(INDEX)


def _part(scope: Scope, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        dim if not dim or scope.random.random() < 0.5 else scope.random.randint(1, dim) for dim in shape
    )


def dynamic_slice(scope: Scope) -> None:
    source = tensor(scope)
    shape = _part(scope, source.type.shape)
    operands = [source, *(_index(scope) for _ in shape)]
    same(scope, "stablehlo.dynamic_slice", operands, Tensor(shape), f"slice_sizes = {numbers(shape)}")


def dynamic_update_slice(scope: Scope) -> None:
    source = tensor(scope)
    update = scope.one_of(Tensor(_part(scope, source.type.shape)))
    operands = [source, update, *(_index(scope) for _ in source.type.shape)]
    same(scope, "stablehlo.dynamic_update_slice", operands, source.type)


def concatenate(scope: Scope) -> None:
    """Tensors that differ in one dimension; often slices of one or two tensors, and these themselves."""
    first = tensor(scope, least=1)
    shape = first.type.shape
    dim = scope.random.randrange(len(shape))
    sources = [first, scope.one_of(first.type)] if scope.random.random() < 0.3 else [first]
    sharded_size = scope.random.choice(
        ((_other,), (_first_part,), (_itself,), (_first_part, _itself), (_other, _first_part))
    )
    pieces = [
        scope.random.choice(sharded_size)(scope, scope.random.choice(sources), dim)
        for _ in range(scope.random.randint(1, 4))
    ]
    total = sum(piece.type.shape[dim] for piece in pieces)
    type = Tensor((*shape[:dim], total, *shape[dim + 1 :]))
    same(scope, "stablehlo.concatenate", pieces, type, f"dimension = {dim} : i64")


def _other(scope: Scope, source: Value, dim: int) -> Value:
    shape = source.type.shape
    return scope.one_of(Tensor((*shape[:dim], size(scope), *shape[dim + 1 :])))


def _itself(scope: Scope, source: Value, dim: int) -> Value:
    return source


def _first_part(scope: Scope, source: Value, dim: int) -> Value:
    limits = list(source.type.shape)
    limits[dim] = scope.random.randint(0 if scope.random.random() < 0.05 else 1, max(limits[dim], 1))
    limits[dim] = min(limits[dim], source.type.shape[dim])
    properties = f"start_indices = {numbers([0] * len(limits))}, limit_indices = {numbers(limits)}"
    properties += f", strides = {numbers([1] * len(limits))}"
    return same(scope, "stablehlo.slice", [source], Tensor(tuple(limits)), properties)


OPERATIONS: dict[Maker, int] = {
    slice_: 3,
    pad: 3,
    dynamic_slice: 3,
    dynamic_update_slice: 3,
    concatenate: 4,
}

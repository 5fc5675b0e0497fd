"""Random reshapes, transposes, reversals, broadcasts, iotas and bitcasts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tests.random_modules.rules.tensors import numbers, size, some_dims, tensor, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor

MAX_RESHAPED = 1_000_000


def reshape(scope: Scope) -> None:
    """A random shape with the same number of elements; dimensions of size 1 are added and removed."""
    source = tensor(scope)
    if scope.random.random() < 0.02:
        source = scope.one_of(Tensor((2, 0, 3)))
    count = prod(source.type.shape)
    if count > MAX_RESHAPED:
        return
    shape = _regrouped(scope, source.type.shape) if count else scope.random.choice(((0,), (6, 0), (0, 5)))
    write_op_with_result(scope, "stablehlo.reshape", [source], Tensor(tuple(shape)))


def _regrouped(scope: Scope, shape: Sequence[int]) -> list[int]:
    """The prime factors of a shape, regrouped into other dimensions, sometimes in their order."""
    factors = [prime for dim in shape for prime in _primes(dim)]
    if scope.random.random() < 0.6:
        scope.random.shuffle(factors)
    result: list[int] = []
    while factors:
        count = min(scope.random.randint(1, 4), len(factors))
        result.append(prod(factors[:count]))
        del factors[:count]
    for _ in range(scope.random.choice((0, 0, 0, 1, 2))):
        result.insert(scope.random.randint(0, len(result)), 1)
    # Limit the rank.
    while len(result) > 6:
        result[-2:] = [result[-2] * result[-1]]
    return result


def _primes(number: int) -> list[int]:
    result, prime = [], 2
    while number > 1:
        while number % prime == 0:
            result.append(prime)
            number //= prime
        prime += 1
    return result


def transpose(scope: Scope) -> None:
    source = tensor(scope)
    shape = source.type.shape
    order = scope.random.sample(range(len(shape)), len(shape))
    type = Tensor(tuple(shape[dim] for dim in order))
    write_op_with_result(scope, "stablehlo.transpose", [source], type, f"permutation = {numbers(order)}")


def reverse(scope: Scope) -> None:
    source = tensor(scope)
    dims = some_dims(scope, len(source.type.shape))
    write_op_with_result(scope, "stablehlo.reverse", [source], source.type, f"dimensions = {numbers(dims)}")


def broadcast(scope: Scope) -> None:
    """Inserts new dimensions and may expand dimensions of size 1."""
    source = tensor(scope, max_rank=4)
    shape = [size(scope) if dim == 1 and scope.random.random() < 0.5 else dim for dim in source.type.shape]
    order = list(range(len(shape)))
    if scope.random.random() < 0.2:
        scope.random.shuffle(order)
    slots: list[int | None] = [*order]
    for _ in range(scope.random.randint(0, 5 - len(shape))):
        slots.insert(scope.random.randint(0, len(slots)), None)
    type = Tensor(tuple(size(scope) if dim is None else shape[dim] for dim in slots))
    dims = [slots.index(dim) for dim in range(len(shape))]
    write_op_with_result(
        scope, "stablehlo.broadcast_in_dim", [source], type, f"broadcast_dimensions = {numbers(dims)}"
    )


def iota(scope: Scope) -> None:
    type = tensor(scope, min_rank=1).type
    dim = scope.random.randrange(len(type.shape))
    write_op_with_result(scope, "stablehlo.iota", [], type, f"iota_dimension = {dim} : i64")


# Larger element type, smaller element type, and their ratio.
CASTS = (("i32", "i8", 4), ("i64", "i32", 2), ("f64", "i16", 4), ("i32", "f32", 1), ("i8", "i4", 2))


def bitcast(scope: Scope) -> None:
    """Casts to larger or to smaller elements."""
    large, small, ratio = scope.random.choice(CASTS)
    shape = tensor(scope, max_rank=4).type.shape
    pair = [Tensor(shape, large), Tensor((*shape, ratio) if ratio > 1 else shape, small)]
    scope.random.shuffle(pair)
    write_op_with_result(scope, "stablehlo.bitcast_convert", [scope.one_of(pair[0])], pair[1])


OPERATIONS: dict[OpGenerator, int] = {
    reshape: 8,
    transpose: 3,
    reverse: 2,
    broadcast: 4,
    iota: 1,
    bitcast: 2,
}

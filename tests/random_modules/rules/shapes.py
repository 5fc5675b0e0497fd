"""Random operations that put elements elsewhere: reshape, transpose, reverse, broadcasts, casts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tests.random_modules.rules.tensors import numbers, same, size, some_dims, tensor
from tests.random_modules.scopes import Maker, Scope, Tensor

MOST_RESHAPED = 1_000_000


def reshape(scope: Scope) -> None:
    """Some other shape of as many elements; dimensions of size 1 come and go."""
    source = tensor(scope)
    if scope.random.random() < 0.02:
        source = scope.one_of(Tensor((2, 0, 3)))
    count = prod(source.type.shape)
    if count > MOST_RESHAPED:
        return
    shape = _regrouped(scope, source.type.shape) if count else scope.random.choice(((0,), (6, 0), (0, 5)))
    same(scope, "stablehlo.reshape", [source], Tensor(tuple(shape)))


def _regrouped(scope: Scope, shape: Sequence[int]) -> list[int]:
    """The prime factors put together again, at times in the order that they had."""
    factors = [prime for dim in shape for prime in _primes(dim)]
    if scope.random.random() < 0.6:
        scope.random.shuffle(factors)
    found: list[int] = []
    while factors:
        count = min(scope.random.randint(1, 4), len(factors))
        found.append(prod(factors[:count]))
        del factors[:count]
    for _ in range(scope.random.choice((0, 0, 0, 1, 2))):
        found.insert(scope.random.randint(0, len(found)), 1)
    # Not too many dimensions.
    while len(found) > 6:
        found[-2:] = [found[-2] * found[-1]]
    return found


def _primes(number: int) -> list[int]:
    found, prime = [], 2
    while number > 1:
        while number % prime == 0:
            found.append(prime)
            number //= prime
        prime += 1
    return found


def transpose(scope: Scope) -> None:
    source = tensor(scope)
    shape = source.type.shape
    order = scope.random.sample(range(len(shape)), len(shape))
    type = Tensor(tuple(shape[dim] for dim in order))
    same(scope, "stablehlo.transpose", [source], type, f"permutation = {numbers(order)}")


def reverse(scope: Scope) -> None:
    source = tensor(scope)
    dims = some_dims(scope, len(source.type.shape))
    same(scope, "stablehlo.reverse", [source], source.type, f"dimensions = {numbers(dims)}")


def broadcast(scope: Scope) -> None:
    """New dimensions between the old ones, of which those of size 1 may grow."""
    source = tensor(scope, most=4)
    shape = [size(scope) if dim == 1 and scope.random.random() < 0.5 else dim for dim in source.type.shape]
    order = list(range(len(shape)))
    if scope.random.random() < 0.2:
        scope.random.shuffle(order)
    slots: list[int | None] = [*order]
    for _ in range(scope.random.randint(0, 5 - len(shape))):
        slots.insert(scope.random.randint(0, len(slots)), None)
    type = Tensor(tuple(size(scope) if dim is None else shape[dim] for dim in slots))
    dims = [slots.index(dim) for dim in range(len(shape))]
    same(scope, "stablehlo.broadcast_in_dim", [source], type, f"broadcast_dimensions = {numbers(dims)}")


def iota(scope: Scope) -> None:
    type = tensor(scope, least=1).type
    dim = scope.random.randrange(len(type.shape))
    same(scope, "stablehlo.iota", [], type, f"iota_dimension = {dim} : i64")


# Larger elements, smaller ones, and how many of them make a larger one.
CASTS = (("i32", "i8", 4), ("i64", "i32", 2), ("f64", "i16", 4), ("i32", "f32", 1), ("i8", "i4", 2))


def bitcast(scope: Scope) -> None:
    """Small elements become one large one, or a large one many small ones."""
    large, small, ratio = scope.random.choice(CASTS)
    shape = tensor(scope, most=4).type.shape
    pair = [Tensor(shape, large), Tensor((*shape, ratio) if ratio > 1 else shape, small)]
    scope.random.shuffle(pair)
    same(scope, "stablehlo.bitcast_convert", [scope.one_of(pair[0])], pair[1])


OPERATIONS: dict[Maker, int] = {
    reshape: 8,
    transpose: 3,
    reverse: 2,
    broadcast: 4,
    iota: 1,
    bitcast: 2,
}

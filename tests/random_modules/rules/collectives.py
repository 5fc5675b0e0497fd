"""Random collectives of stablehlo, and asynchronous operations."""

from __future__ import annotations

from tests.random_modules.rules.tensors import numbers, reducer, tensor, write_op, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor

GROUPS = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
PAIRS = "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"


def _scaled(shape: tuple[int, ...], dim: int, factor: int) -> tuple[int, ...]:
    return (*shape[:dim], shape[dim] * factor, *shape[dim + 1 :])


def same_shape(scope: Scope) -> None:
    name, properties = scope.random.choice(
        (("collective_permute", PAIRS), ("collective_broadcast", GROUPS), ("cross-replica-sum", GROUPS))
    )
    value = tensor(scope)
    write_op_with_result(scope, f"stablehlo.{name}", [value], value.type, properties)


def all_reduce(scope: Scope) -> None:
    inputs = [tensor(scope)]
    if scope.random.random() < 0.3:
        inputs.append(scope.one_of(inputs[0].type))
    write_op(
        scope, "stablehlo.all_reduce", inputs, [v.type for v in inputs], GROUPS, reducer(["f32"], ["add"])
    )


def all_gather(scope: Scope) -> None:
    value = tensor(scope, min_rank=1)
    dim = scope.random.randrange(len(value.type.shape))
    inputs = [value, scope.one_of(value.type)][: scope.random.randint(1, 2)]
    type = Tensor(_scaled(value.type.shape, dim, 2))
    write_op(
        scope, "stablehlo.all_gather", inputs, [type] * len(inputs), f"all_gather_dim = {dim} : i64, {GROUPS}"
    )


def reduce_scatter(scope: Scope) -> None:
    type = tensor(scope, min_rank=1).type
    dim = scope.random.randrange(len(type.shape))
    value = scope.one_of(Tensor(_scaled(type.shape, dim, 2)))
    properties = f"scatter_dimension = {dim} : i64, {GROUPS}"
    write_op(scope, "stablehlo.reduce_scatter", [value], [type], properties, reducer(["f32"], ["add"]))


def all_to_all(scope: Scope) -> None:
    """The split and the concatenated dimension may be the same."""
    small = tensor(scope, min_rank=1).type.shape
    split, joined = (scope.random.randrange(len(small)) for _ in range(2))
    inputs = [scope.one_of(Tensor(_scaled(small, split, 2))) for _ in range(scope.random.randint(1, 2))]
    properties = (
        f"split_dimension = {split} : i64, concat_dimension = {joined} : i64, split_count = 2 : i64, {GROUPS}"
    )
    results = [Tensor(_scaled(small, joined, 2))] * len(inputs)
    write_op(scope, "stablehlo.all_to_all", inputs, results, properties)


def asynchronous(scope: Scope) -> None:
    """An asynchronous all-gather or slice."""
    value = tensor(scope, min_rank=1)
    shape = value.type.shape
    dim = scope.random.randrange(len(shape))
    type, body = Tensor(_scaled(shape, dim, 2)), f"all_gather_dim = {dim} : i64, {GROUPS}"
    name = "all_gather"
    if scope.random.random() < 0.5:
        type, name = Tensor(shape), "slice"
        body = (
            f"start_indices = {numbers([0] * len(shape))}, limit_indices = {numbers(shape)}, "
            f"strides = {numbers([1] * len(shape))}"
        )
    future = scope.writer.fresh()
    scope.write(
        f'{future} = "stablehlo.async_start"({value.name}) ({{ ^bb0(%x0: {value.type}): '
        f'%r = "stablehlo.{name}"(%x0) <{{{body}}}> : ({value.type}) -> {type} '
        f'"stablehlo.return"(%r) : ({type}) -> () }}) : ({value.type}) -> !stablehlo.future<{type}>'
    )
    scope.result(type, f'"stablehlo.async_done"({future}) : (!stablehlo.future<{type}>) -> {type}')


OPERATIONS: dict[OpGenerator, int] = {
    same_shape: 2,
    all_reduce: 1,
    all_gather: 1,
    reduce_scatter: 1,
    all_to_all: 1,
    asynchronous: 1,
}

"""Random contractions: dot, dot_general, convolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.random_modules.rules.tensors import numbers, pairs, size, sizes, tensor, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor


def dot(scope: Scope) -> None:
    """A product of vectors or matrices."""
    left = tensor(scope, min_rank=1, max_rank=2)
    free = sizes(scope, 0, 1)
    right = scope.one_of(Tensor((left.type.shape[-1], *free)))
    write_op_with_result(scope, "stablehlo.dot", [left, right], Tensor((*left.type.shape[:-1], *free)))


def dot_general(scope: Scope) -> None:
    """Each dimension of lhs is a batching, contracting or free one; rhs shares the first two."""
    left = tensor(scope, max_rank=4)
    shape = left.type.shape
    roles = [scope.random.choice(("batch", "sum", "free")) for _ in shape]
    batch, contracting = (
        scope.random.sample(dims, len(dims))
        for dims in ([dim for dim, role in enumerate(roles) if role == word] for word in ("batch", "sum"))
    )
    free = sizes(scope, 0, 2)
    # The sizes of rhs, each with the corresponding dimension of lhs.
    right: list[tuple[int, int | None]] = [(shape[dim], dim) for dim in (*batch, *contracting)]
    right += [(extent, None) for extent in free]
    scope.random.shuffle(right)
    lhs_dims = [dim for _, dim in right]
    other = scope.one_of(Tensor(tuple(extent for extent, _ in right)))
    kept = [shape[dim] for dim in batch]
    kept += [extent for extent, role in zip(shape, roles, strict=True) if role == "free"]
    kept += [extent for extent, dim in right if dim is None]
    lists = {
        "lhs_batching_dimensions": batch,
        "rhs_batching_dimensions": [lhs_dims.index(dim) for dim in batch],
        "lhs_contracting_dimensions": contracting,
        "rhs_contracting_dimensions": [lhs_dims.index(dim) for dim in contracting],
    }
    dims = ", ".join(f"{name} = {dims}" for name, dims in lists.items())
    type = Tensor(tuple(kept))
    write_op_with_result(
        scope, "stablehlo.dot_general", [left, other], type, f"dot_dimension_numbers = #stablehlo.dot<{dims}>"
    )


class _Window(NamedTuple):
    """A spatial dimension of a convolution."""

    size: int
    kernel: int
    result: int
    padding: tuple[int, int]
    stride: int


def convolution(scope: Scope) -> None:
    """Sometimes has feature groups or batch groups; dimensions are in random order."""
    random = scope.random
    feature_groups = random.choice((1, 1, 1, 2, 4))
    batch_groups = 1 if feature_groups > 1 else random.choice((1, 1, 2, 3))
    batch, feature = size(scope), size(scope)
    features = size(scope) * feature_groups * batch_groups
    windows = [_window(scope) for _ in range(random.randint(0, 3))]
    spatial = [f"s{index}" for index in range(len(windows))]
    input_ = _shuffled(
        scope,
        [
            ("b", batch * batch_groups),
            ("f", feature * feature_groups),
            *zip(spatial, [window.size for window in windows], strict=True),
        ],
    )
    kernel = _shuffled(
        scope,
        [
            ("i", feature),
            ("o", features),
            *zip(spatial, [window.kernel for window in windows], strict=True),
        ],
    )
    result = _shuffled(
        scope,
        [("b", batch), ("f", features), *zip(spatial, [window.result for window in windows], strict=True)],
    )
    fields = {
        "input_batch_dimension": _position(input_, "b"),
        "input_feature_dimension": _position(input_, "f"),
        "input_spatial_dimensions": [_position(input_, name) for name in spatial],
        "kernel_input_feature_dimension": _position(kernel, "i"),
        "kernel_output_feature_dimension": _position(kernel, "o"),
        "kernel_spatial_dimensions": [_position(kernel, name) for name in spatial],
        "output_batch_dimension": _position(result, "b"),
        "output_feature_dimension": _position(result, "f"),
        "output_spatial_dimensions": [_position(result, name) for name in spatial],
    }
    dims = ", ".join(f"{name} = {value}" for name, value in fields.items())
    properties = (
        f"padding = {pairs([window.padding for window in windows])}, "
        f"window_strides = {numbers([window.stride for window in windows])}, "
        f"dimension_numbers = #stablehlo.conv<raw {dims}>, "
        f"feature_group_count = {feature_groups} : i64, batch_group_count = {batch_groups} : i64"
    )
    operands = [scope.one_of(_type(input_)), scope.one_of(_type(kernel))]
    write_op_with_result(scope, "stablehlo.convolution", operands, _type(result), properties)


def _window(scope: Scope) -> _Window:
    random = scope.random
    extent, kernel = size(scope), random.choice((1, 1, 2, 3, 5, 8))
    padding = (random.randint(0, 3), random.randint(0, 3))
    stride = random.choice((1, 1, 2, 3))
    if extent + sum(padding) < kernel:
        padding = (kernel, 0)
    return _Window(extent, kernel, (extent + sum(padding) - kernel) // stride + 1, padding, stride)


_Named = list[tuple[str, int]]


def _shuffled(scope: Scope, dims: Sequence[tuple[str, int]]) -> _Named:
    return scope.random.sample(dims, len(dims))


def _position(dims: _Named, name: str) -> int:
    return [dim for dim, _ in dims].index(name)


def _type(dims: _Named) -> Tensor:
    return Tensor(tuple(extent for _, extent in dims))


OPERATIONS: dict[OpGenerator, int] = {dot: 2, dot_general: 6, convolution: 4}

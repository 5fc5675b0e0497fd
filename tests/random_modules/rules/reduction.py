"""Random reductions, sorts and batch normalization."""

from __future__ import annotations

from collections.abc import Sequence

from tests.random_modules.rules.tensors import (
    comparison,
    numbers,
    pairs,
    reducer,
    some_dims,
    tensor,
    write_op,
    write_op_with_result,
)
from tests.random_modules.scopes import OpGenerator, Scope, Tensor, Value


def _alike(scope: Scope, first: Value, max_count: int) -> list[Value]:
    """The tensor, and up to `max_count` - 1 others of its shape, of floats or integers."""
    elements = [
        scope.random.choice(("f32", "f32", "i32")) for _ in range(scope.random.randint(0, max_count - 1))
    ]
    return [first, *(scope.one_of(Tensor(first.type.shape, element)) for element in elements)]


def _elements(values: Sequence[Value]) -> list[str]:
    return [value.type.element for value in values if isinstance(value.type, Tensor)]


_ZERO = {"f32": "0.0", "i32": "0"}
_SMALLEST = {"f32": "0xFF800000", "i32": "-2147483648"}


def _initial_values(scope: Scope, elements: Sequence[str], identities: dict[str, str]) -> list[Value]:
    """Any scalars; in an executable module identities, because others may count any number of times."""
    types = [Tensor((), element) for element in elements]
    if not scope.writer.is_executable:
        return [scope.one_of(type) for type in types]
    return [
        scope.result(type, f"stablehlo.constant dense<{identities[type.element]}> : {type}") for type in types
    ]


def reduce(scope: Scope) -> None:
    inputs = _alike(scope, tensor(scope), 3)
    elements = _elements(inputs)
    shape = inputs[0].type.shape
    dims = some_dims(scope, len(shape))
    kept = tuple(extent for dim, extent in enumerate(shape) if dim not in dims)
    starts = _initial_values(scope, elements, _ZERO)
    results = [Tensor(kept, element) for element in elements]
    body = reducer(elements, ["add"] * len(elements))
    write_op(scope, "stablehlo.reduce", [*inputs, *starts], results, f"dimensions = {numbers(dims)}", body)


class _Windows:
    """The sizes, strides, padding and number of windows over a tensor."""

    def __init__(self, scope: Scope, shape: Sequence[int]) -> None:
        random = scope.random
        self.sizes, self.strides, self.padding, self.counts = [], [], [], []
        for extent in shape:
            size, stride, padding = 1, 1, (0, 0)
            if extent and random.random() < 0.6:
                size, stride = random.randint(1, min(extent, 3)), random.choice((1, 1, 2))
                padding = random.choice(((0, 0), (0, 0), (1, 0), (0, 1), (1, 1)))
            self.sizes.append(size)
            self.strides.append(stride)
            self.padding.append(padding)
            self.counts.append((extent + sum(padding) - size) // stride + 1)

    def properties(self, scope: Scope) -> str:
        """The attributes of the windows; default values are sometimes omitted."""
        texts = [f"window_dimensions = {numbers(self.sizes)}"]
        if any(stride != 1 for stride in self.strides) or scope.random.random() < 0.6:
            texts.append(f"window_strides = {numbers(self.strides)}")
        if any(map(sum, self.padding)) or (self.padding and scope.random.random() < 0.5):
            texts.append(f"padding = {pairs(self.padding)}")
        return ", ".join(texts)


def reduce_window(scope: Scope) -> None:
    """Sometimes has base dilations."""
    inputs = _alike(scope, tensor(scope, max_rank=4), 2)
    shape, elements = inputs[0].type.shape, _elements(inputs)
    windows = _Windows(scope, shape)
    properties = windows.properties(scope)
    if shape and shape[0] and scope.random.random() < 0.15:
        extent = 2 * shape[0] - 1
        windows.counts[0] = (extent + sum(windows.padding[0]) - windows.sizes[0]) // windows.strides[0] + 1
        properties += f", base_dilations = {numbers([2] + [1] * (len(shape) - 1))}"
    starts = _initial_values(scope, elements, _SMALLEST)
    results = [Tensor(tuple(windows.counts), element) for element in elements]
    body = reducer(elements, ["maximum"] * len(elements))
    write_op(scope, "stablehlo.reduce_window", [*inputs, *starts], results, properties, body)


def select_and_scatter(scope: Scope) -> None:
    value = tensor(scope, max_rank=4)
    windows = _Windows(scope, value.type.shape)
    properties = windows.properties(scope) if value.type.shape else ""
    operands = [value, scope.one_of(Tensor(tuple(windows.counts))), *_initial_values(scope, ["f32"], _ZERO)]
    bodies = comparison(["f32"], "GE"), reducer(["f32"], ["add"])
    write_op(scope, "stablehlo.select_and_scatter", operands, [value.type], properties, *bodies)


def sort(scope: Scope) -> None:
    """Sorts along a dimension, which may be negative, or along the last one by default."""
    inputs = _alike(scope, tensor(scope, min_rank=1), 3)
    rank = len(inputs[0].type.shape)
    dim = f"dimension = {scope.random.randint(-rank, rank - 1)} : i64"
    properties = scope.random.choice((dim, dim, "is_stable = true"))
    body = comparison(_elements(inputs), "LT")
    write_op(scope, "stablehlo.sort", inputs, [value.type for value in inputs], properties, body)


def batch_norm(scope: Scope) -> None:
    value = tensor(scope, min_rank=1)
    dim = scope.random.randrange(len(value.type.shape))
    figures = [scope.one_of(Tensor((value.type.shape[dim],))) for _ in range(4)]
    properties = f"epsilon = 0.1 : f32, feature_index = {dim} : i64"
    write_op_with_result(scope, "stablehlo.batch_norm_inference", [value, *figures], value.type, properties)


OPERATIONS: dict[OpGenerator, int] = {
    reduce: 5,
    reduce_window: 3,
    select_and_scatter: 2,
    sort: 3,
    batch_norm: 2,
}

"""Random gather and scatter operations."""

from __future__ import annotations

from dataclasses import dataclass

from tests.random_modules.rules.tensors import numbers, reducer, sizes, tensor, write_op, write_op_with_result
from tests.random_modules.scopes import OpGenerator, Scope, Tensor


@dataclass
class _DimensionNumbers:
    """The shapes of operand, indices and slices, and their dimension numbers.

    Each dimension of the operand is a batching dimension, which the indices have as well, a collapsed one,
    which the slices lack, or a window dimension.
    """

    operand: tuple[int, ...]
    indices: tuple[int, ...]
    slices: tuple[int, ...]
    slice_sizes: list[int]
    offset_dims: list[int]
    collapsed: list[int]
    batches: list[int]
    indices_batches: list[int]
    index_map: list[int]
    vector_dim: int

    def lists(self, *names: str) -> str:
        lists = (self.offset_dims, self.collapsed, self.batches, self.indices_batches, self.index_map)
        parts = [f"{name} = {dims}" for name, dims in zip(names, lists, strict=True)]
        return ", ".join([*parts, f"index_vector_dim = {self.vector_dim}"])


_ROLES = ("batch", "collapsed", "window")


def _dimension_numbers(scope: Scope, shape: tuple[int, ...]) -> _DimensionNumbers:
    random = scope.random
    roles = [random.choice(_ROLES) for _ in shape]
    if scope.writer.is_executable and "window" not in roles and "collapsed" not in roles and shape:
        roles[0] = "collapsed"
    dims: dict[str, list[int]] = {
        word: [dim for dim, role in enumerate(roles) if role == word]
        for word in ("batch", "collapsed", "window")
    }
    slice_sizes = [_slice_size(scope, extent, role) for extent, role in zip(shape, roles, strict=True)]
    candidates = [dim for dim, role in enumerate(roles) if role != "batch"]
    index_map = [dim for dim in candidates if random.random() < 0.7]
    if scope.writer.is_executable:
        # XLA crashes on empty index vectors.
        index_map = index_map or candidates[:1]
    random.shuffle(index_map)
    # The dimensions of the indices: batching dimensions of the operand, further ones, and possibly index
    # vectors.
    batches: list[tuple[int, int | None]] = [(shape[dim], dim) for dim in dims["batch"]]
    batches += [(extent, None) for extent in sizes(scope, 0, 2)]
    random.shuffle(batches)
    is_scalar = len(index_map) == 1 and random.random() < 0.4
    vector_dim = len(batches) if is_scalar else random.randint(0, len(batches))
    extents = [extent for extent, _ in batches]
    indices = extents if is_scalar else [*extents[:vector_dim], len(index_map), *extents[vector_dim:]]
    indices_dims = {dim: index + (index >= vector_dim) for index, (_, dim) in enumerate(batches)}
    rank = len(batches) + len(dims["window"])
    offsets = sorted(random.sample(range(rank), len(dims["window"])))
    windows, others = iter([slice_sizes[dim] for dim in dims["window"]]), iter(extents)
    slices = tuple(next(windows if dim in offsets else others) for dim in range(rank))
    return _DimensionNumbers(
        shape,
        tuple(indices),
        slices,
        slice_sizes,
        offsets,
        dims["collapsed"],
        dims["batch"],
        [indices_dims[dim] for dim in dims["batch"]],
        index_map,
        vector_dim,
    )


def _slice_size(scope: Scope, extent: int, role: str) -> int:
    if role != "window":
        return 1
    return scope.random.choice((extent, 1, scope.random.randint(1, extent)))


def _source_shape(scope: Scope) -> tuple[int, ...]:
    shape = tensor(scope).type.shape
    return tuple(max(extent, 1) for extent in shape)


def gather(scope: Scope) -> None:
    numbering = _dimension_numbers(scope, _source_shape(scope))
    operands = [scope.one_of(Tensor(numbering.operand)), scope.one_of(Tensor(numbering.indices, "i32"))]
    dims = numbering.lists(
        *("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
        *("start_indices_batching_dims", "start_index_map"),
    )
    properties = (
        f"dimension_numbers = #stablehlo.gather<{dims}>, slice_sizes = {numbers(numbering.slice_sizes)}"
    )
    write_op_with_result(scope, "stablehlo.gather", operands, Tensor(numbering.slices), properties)


def scatter(scope: Scope) -> None:
    """Scatters one or more tensors; the bodies combine updates, sometimes in different ways."""
    random = scope.random
    numbering = _dimension_numbers(scope, _source_shape(scope))
    element = random.choice(("f32", "f32", "i32", "i1"))
    elements = [element] * random.choice((1, 1, 2, 3))
    words = [_word(scope, element)] * len(elements)
    if random.random() < 0.2:
        words = [_word(scope, element) for _ in elements]
    indices = scope.one_of(Tensor(numbering.indices, "i32"))
    inputs = [scope.one_of(Tensor(numbering.operand, element)) for element in elements]
    updates = [scope.one_of(Tensor(numbering.slices, element)) for element in elements]
    dims = numbering.lists(
        *("update_window_dims", "inserted_window_dims", "input_batching_dims"),
        *("scatter_indices_batching_dims", "scatter_dims_to_operand_dims"),
    )
    write_op(
        scope,
        "stablehlo.scatter",
        [*inputs, indices, *updates],
        [value.type for value in inputs],
        f"scatter_dimension_numbers = #stablehlo.scatter<{dims}>",
        reducer(elements, words, is_swapped=random.random() < 0.4),
    )


_WORDS = {
    "f32": ("add", "multiply", "maximum", "minimum", "subtract", "take"),
    "i32": ("add", "multiply", "maximum", "minimum", "and", "or", "take"),
    "i1": ("and", "or", "xor", "add", "maximum", "take"),
}


def _word(scope: Scope, element: str) -> str:
    return scope.random.choice(_WORDS[element])


OPERATIONS: dict[OpGenerator, int] = {gather: 5, scatter: 5}

"""Shardings as parts of types: the axes of each dimension, before and after a reshape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.ir.types import RankedTensor
from sdyopt.mlir.ir.value import Value

# The axes of each dimension; None if they are unknown, as those of gradients are.
Dims = tuple[tuple[str, ...], ...]
Spec = Dims | None


def spec_text(spec: Spec) -> str:
    """`P('x')`, without the dimensions at the end that are not sharded."""
    entries = [repr(axes if len(axes) > 1 else axes[0]) if axes else "None" for axes in spec or ()]
    while entries and entries[-1] == "None":
        entries.pop()
    return f"P({', '.join(entries)})"


def written_spec(sharding: object) -> Spec:
    """The axes of a sharding; None for one with sub-axes, which JAX does not have."""
    if not isinstance(sharding, TensorSharding):
        return ()
    if any(axis.sub_axis is not None for axis in sharding.axis_refs):
        return None
    return tuple([tuple([axis.name for axis in dim.axes]) for dim in sharding.dims])


def shape_of(value: Value) -> tuple[int, ...]:
    return tuple(value.type.shape) if isinstance(value.type, RankedTensor) else ()


def shape_text(shape: Sequence[int], spec: Spec = None) -> str:
    """`[8@x,16]`, as JAX writes it."""
    axes = spec or ((),) * len(shape)
    dims = [
        f"{size}@{','.join(names)}" if names else str(size) for size, names in zip(shape, axes, strict=True)
    ]
    return f"[{','.join(dims)}]"


def axes_text(axes: Sequence[str]) -> str:
    return ", ".join(f'"{axis}"' for axis in axes)


def without_repetition(dims: Sequence[tuple[str, ...]]) -> Dims:
    """The axes of each dimension, without those of an earlier one."""
    used: set[str] = set()
    result = []
    for axes in dims:
        result.append(() if used.intersection(axes) else tuple(axes))
        used.update(result[-1])
    return tuple(result)


def conflict_of(names: Sequence[tuple[str, ...]], spec: Dims, used: set[str]) -> str:
    """Why an elementwise operation cannot have an operand of this type, too; "" if it can."""
    for dim, (have, axes) in enumerate(zip(names, spec, strict=True)):
        if have and axes and have != axes:
            return f"dimension {dim} of its operands is sharded along {axes_text(have)} and {axes_text(axes)}"
        if axes and not have and used.intersection(axes):
            return (
                f"{axes_text(axes)} shards dimension {dim} of one operand, and another one of another operand"
            )
    return ""


def reshaped(
    spec: Dims, old: Sequence[int], new: Sequence[int], sizes: Mapping[str, int]
) -> tuple[Dims, bool]:
    """The type of a reshape, and whether JAX derives it.

    Dimensions that are split keep their axes in the first part, if these divide it; of those that are merged,
    only the first may be sharded, or all of them.
    """
    names: list[tuple[str, ...]] = [()] * len(new)
    is_possible = True
    for before, after in _groups(old, new):
        sharded = [dim for dim in before if spec[dim]]
        target = next((dim for dim in after if new[dim] != 1), next(iter(after), None))
        if not sharded:
            continue
        if target is None:
            is_possible = False
            continue
        large = [dim for dim in before if old[dim] != 1]
        is_merge, is_split = len(large) > 1, len([dim for dim in after if new[dim] != 1]) > 1
        axes = tuple(axis for dim in sharded for axis in spec[dim])
        count = prod(sizes[axis] for axis in axes)
        fits = new[target] % count == 0
        # Of several dimensions, the minor ones may be sharded only if all of them are.
        is_major = sharded == large[: len(sharded)] and len(sharded) in (1, len(large))
        if fits and is_major and not (is_merge and is_split):
            names[target] = axes
        else:
            is_possible = False
            major = spec[large[0]] if large else ()
            if major and new[target] % prod(sizes[axis] for axis in major) == 0:
                names[target] = major
    return tuple(names), is_possible


def _groups(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The dimensions of both shapes in the shortest groups of equal size."""
    first = second = 0
    while first < len(old) or second < len(new):
        before, after = [first] if first < len(old) else [], [second] if second < len(new) else []
        first, second = first + len(before), second + len(after)
        while prod(old[dim] for dim in before) != prod(new[dim] for dim in after):
            is_less = prod(old[dim] for dim in before) < prod(new[dim] for dim in after)
            if is_less and first < len(old):
                before.append(first)
                first += 1
            elif second < len(new):
                after.append(second)
                second += 1
            else:
                before.append(first)
                first += 1
        yield before, after

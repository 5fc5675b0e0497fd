"""Chooses tensors for random operations and writes operations in the generic form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tests.random_modules.rules.written_rules import written_rule
from tests.random_modules.scopes import Scope, Tensor, Type, Value, names

# Few of them are divisible by any one axis size.
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 24, 30)
MAX_RANK = 5
Shape = tuple[int, ...]


def size(scope: Scope) -> int:
    return scope.random.choice(scope.writer.sizes)


def sizes(scope: Scope, min_count: int, max_count: int) -> Shape:
    """A random number of sizes."""
    return tuple(size(scope) for _ in range(scope.random.randint(min_count, max_count)))


def tensor(scope: Scope, min_rank: int = 0, max_rank: int = MAX_RANK, element: str = "f32") -> Value:
    """A value with a rank in this range, usually an existing one."""
    candidates = [
        v for v in scope.values if _is_tensor(v.type, element) and min_rank <= len(v.type.shape) <= max_rank
    ]
    if candidates and scope.random.random() < 0.75:
        # Prefer higher ranks.
        (chosen,) = scope.random.choices(candidates, [1 + 4 * len(value.type.shape) for value in candidates])
        return chosen
    return scope.new(Tensor(sizes(scope, min_rank, max_rank), element))


def some_dims(scope: Scope, rank: int) -> list[int]:
    """About half of the dimensions, in any order."""
    dims = [dim for dim in range(rank) if scope.random.random() < 0.5]
    scope.random.shuffle(dims)
    return dims


def write_op(
    scope: Scope,
    name: str,
    operands: Sequence[Value],
    results: Sequence[Type],
    properties: str = "",
    *regions: str,
) -> list[Value]:
    """Writes an operation, sometimes with shardings or a rule, and returns its results."""
    count = len(scope.values)
    properties_text = f" <{{{properties}}}>" if properties else ""
    bodies = f" ({', '.join(regions)})" if regions else ""
    inputs, outputs = [v.type for v in operands], list(results)
    head = f'"{name}"({names(operands)}){properties_text}{bodies}{attributes(scope, inputs, outputs)} : '
    head += f"({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})"
    scope.write(scope.results(outputs, head))
    return scope.values[count:]


def write_op_with_result(
    scope: Scope, name: str, operands: Sequence[Value], type: Type, properties: str = ""
) -> Value:
    """Writes an operation with one result and returns it."""
    return write_op(scope, name, operands, [type], properties)[0]


def attributes(scope: Scope, inputs: Sequence[Type], outputs: Sequence[Type]) -> str:
    """The discardable attributes of an operation: sometimes shardings, rarely a rule."""
    entries = []
    if outputs and scope.writer.is_sharded_inside and scope.random.random() < 0.25:
        entries.append(f"sdy.sharding = #sdy.sharding_per_value<{scope.shardings(outputs)}>")
    if inputs and outputs and scope.random.random() < 0.03:
        entries.append(f"sdy.sharding_rule = {written_rule(scope, inputs, outputs)}")
    return f" {{{', '.join(entries)}}}" if entries else ""


def _is_tensor(type: Type, element: str) -> bool:
    return isinstance(type, Tensor) and type.element == element


# --- Text of attributes and regions ---------------------------------------------------------------


def numbers(values: Iterable[int]) -> str:
    inside = ", ".join(map(str, values))
    return f"array<i64: {inside}>" if inside else "array<i64>"


def pairs(values: Sequence[tuple[int, int]]) -> str:
    inside = [list(pair) for pair in values] if values else ""
    return f"dense<{inside}> : tensor<{len(values)}x2xi64>"


def reducer(elements: Sequence[str], words: Sequence[str], is_swapped: bool = False) -> str:
    """A region that combines pairs of scalars with the operations `words`; "take" returns the second."""
    count = len(elements)
    types = [str(Tensor((), element)) for element in elements]
    arguments = ", ".join(f"%x{index}: {types[index % count]}" for index in range(2 * count))
    lines, returned = [], []
    for index, word in enumerate(words):
        pair = [f"%x{index}", f"%x{index + count}"]
        if word == "take":
            returned.append(pair[1])
            continue
        pair = pair[::-1] if is_swapped else pair
        lines.append(f"%r{index} = stablehlo.{word} {', '.join(pair)} : {types[index]}")
        returned.append(f"%r{index}")
    end = f'"stablehlo.return"({", ".join(returned)}) : ({", ".join(types)}) -> ()'
    return f"{{ ^bb0({arguments}): {' '.join([*lines, end])} }}"


def comparison(elements: Sequence[str], word: str) -> str:
    """A region that compares the first pair of scalars."""
    types = [str(Tensor((), element)) for element in elements for _ in range(2)]
    arguments = ", ".join(f"%x{index}: {type}" for index, type in enumerate(types))
    compare = f"%r = stablehlo.compare {word}, %x0, %x1 : ({types[0]}, {types[0]}) -> tensor<i1>"
    return f'{{ ^bb0({arguments}): {compare} "stablehlo.return"(%r) : (tensor<i1>) -> () }}'

"""Random operations with regions: loops, branches, barriers, manual and named computations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tests.random_modules.meshes import Mesh, manual_sharding
from tests.random_modules.scopes import (
    INDEX,
    TOKEN,
    TRUTH,
    OpGenerator,
    Scope,
    Tensor,
    Type,
    Value,
    names,
    types,
)

# The number of results of an executable @main.
_MAX_RETURNED = 8


def fill(scope: Scope, max_ops: int) -> None:
    """Calls up to `max_ops` generators of operations; of those with regions only if the depth allows it."""
    count, start = len(scope.values), len(scope.writer.lines)
    generators: dict[OpGenerator, int] = {**scope.writer.operations, **(BODIES if scope.depth > 0 else {})}
    for generator in scope.writer.without:
        generators.pop(generator, None)
    for _ in range(scope.random.randint(0, max_ops)):
        (generator,) = scope.random.choices(list(generators), list(generators.values()))
        generator(scope)
    if scope.writer.is_all_used:
        _use_the_rest(scope, scope.values[count:], "\n".join(scope.writer.lines[start:]))


def _use_the_rest(scope: Scope, values: Sequence[Value], text: str) -> None:
    """Passes values that `text` defines but does not use to an operation with side effects."""
    unused = _unused(values, text)
    if unused:
        properties = 'call_target_name = "sdy_testonly", has_side_effect = true'
        scope.write(f'"stablehlo.custom_call"({names(unused)}) <{{{properties}}}> : ({types(unused)}) -> ()')


def _unused(values: Sequence[Value], text: str) -> list[Value]:
    """The values that `text` defines but does not use."""
    return [
        value
        for value in values
        if len(re.findall(rf"{re.escape(value.name)}\b", text)) == ("#" not in value.name)
    ]


def unused_tensors(scope: Scope) -> list[Value]:
    """The last tensors of a function that it does not use; some others if it uses all."""
    arguments = scope.inputs or []
    values = [value for value in scope.values if value.type != TOKEN and value not in arguments]
    return _unused(values, "\n".join(scope.writer.lines))[-_MAX_RETURNED:] or values[-1:]


def optimization_barrier(scope: Scope) -> None:
    inputs = scope.some(3, min_count=1)
    value_types = [value.type for value in inputs]
    attributes = scope.attributes(value_types)
    head = f"stablehlo.optimization_barrier{attributes} {names(inputs)} : {types(inputs)}"
    scope.write(scope.results(value_types, head))


def while_(scope: Scope) -> None:
    inputs = [scope.one_of(INDEX), *scope.some(3)]
    value_types = [value.type for value in inputs]
    arguments = scope.arguments(value_types)
    attributes = scope.attributes(value_types, "attributes ")
    is_executable = scope.writer.is_executable
    bound = scope.constant(INDEX) if is_executable else scope.one_of(INDEX)
    pairs = ", ".join(f"{a.name} = {i.name}" for a, i in zip(arguments, inputs, strict=True))
    outputs = scope.results(value_types, f"stablehlo.while({pairs}) : {types(inputs)}{attributes}")
    # The results can be used after the loop only.
    inside = replace(scope, values=scope.values[: len(scope.values) - len(value_types)])
    scope.write(outputs)
    scope.write("cond {")
    condition = inside.nested(arguments, is_isolated=False)
    comparison = f"stablehlo.compare LT, {arguments[0].name}, {bound.name} : ({INDEX}, {INDEX}) -> {TRUTH}"
    truth = condition.result(TRUTH, comparison)
    condition.write(f"stablehlo.return {truth.name} : {TRUTH}")
    scope.write("} do {")
    body = inside.nested(arguments, is_isolated=False)
    fill(body, 5)
    if is_executable:
        one = body.result(INDEX, f"stablehlo.constant dense<1> : {INDEX}")
        counter = body.result(INDEX, f"stablehlo.add {arguments[0].name}, {one.name} : {INDEX}")
        values = [counter, *(body.one_of(value_type) for value_type in value_types[1:])]
        body.write(f"stablehlo.return {names(values)} : {types(values)}")
    else:
        _terminate(body, "stablehlo", value_types)
    scope.write("}")


def case(scope: Scope) -> None:
    index = scope.one_of(INDEX)
    value_types: list[Type] = [value.type for value in scope.some(2, min_count=1)]
    attributes = scope.attributes(value_types)
    branches = []
    start = len(scope.writer.lines)
    for _ in range(scope.random.randint(1, 3)):
        body = scope.nested([], is_isolated=False)
        fill(body, 4)
        _terminate(body, "stablehlo", value_types)
        branches.append(scope.writer.lines[start:])
        del scope.writer.lines[start:]
    scope.write(scope.results(value_types, f'"stablehlo.case"({index.name}) ({{'))
    for number, lines in enumerate(branches):
        if number:
            scope.write("}, {")
        scope.writer.lines.extend(lines)
    scope.write(f"}}){attributes} : ({INDEX}) -> ({', '.join(map(str, value_types))})")


def named_computation(scope: Scope) -> None:
    """Has one of a few names. All inputs have shardings or none has, and so for outputs."""
    inputs = scope.some(3)
    value_types = [value.type for value in inputs]
    arguments = scope.arguments(value_types)
    start = len(scope.writer.lines)
    body = scope.nested(arguments, is_isolated=True)
    fill(body, 5)
    outputs: list[Type] = [value.type for value in body.some(2)]
    _terminate(body, "sdy", outputs)
    lines = scope.writer.lines[start:]
    del scope.writer.lines[start:]
    name = scope.random.choice(("foo", "bar", "baz"))
    shardings = _maybe_shardings(scope, "in", value_types) + _maybe_shardings(scope, "out", outputs)
    head = f'sdy.named_computation<"{name}">({names(inputs)}){shardings} ({_typed(arguments)}) {{'
    _wrap(scope, head, lines, value_types, outputs)


def _maybe_shardings(scope: Scope, word: str, value_types: Sequence[Type]) -> str:
    if not value_types or not scope.writer.is_sharded_inside or scope.random.random() < 0.5:
        return ""
    return f" {word}_shardings={scope.shardings(value_types)}"


def manual_computation(scope: Scope) -> None:
    """Has manual axes that are not manual around it; inputs and outputs are sharded along some of them."""
    meshes = [mesh for mesh in scope.writer.meshes if any(name not in scope.taken for name, _ in mesh.axes)]
    if not meshes:
        return
    mesh = scope.random.choice(meshes)
    free = [name for name, _ in mesh.axes if name not in scope.taken]
    manual = scope.random.sample(free, scope.random.randint(0, len(free)))
    inputs = [scope.any_tensor() for _ in range(scope.random.randint(1, 3))]
    value_types = [value.type for value in inputs]
    inside, in_shardings = [], []
    for value_type in value_types:
        sharding, local = manual_sharding(scope.random, mesh, value_type.shape, manual, scope.taken)
        in_shardings.append(str(sharding))
        inside.append(Tensor(local))
    arguments = scope.arguments(inside)
    start = len(scope.writer.lines)
    body = scope.nested(arguments, is_isolated=True)
    body.taken = scope.taken | frozenset(manual)
    body.manual_computation = scope.writer.value_count
    fill(body, 5)
    outputs: list[Type] = []
    out_shardings, returned = [], []
    for value in [body.any_tensor() for _ in range(scope.random.randint(0, 2))]:
        # Try a global shape; use it if its local shape is that of the value.
        grown = tuple(
            size * scope.random.choice((1, 1, _manual_size(mesh, manual))) for size in value.type.shape
        )
        sharding, local = manual_sharding(scope.random, mesh, grown, manual, scope.taken)
        if local == value.type.shape:
            outputs.append(Tensor(grown))
            out_shardings.append(str(sharding))
            returned.append(value)
    body.write(f"sdy.return {names(returned)} : {types(returned)}" if returned else "sdy.return")
    lines = scope.writer.lines[start:]
    del scope.writer.lines[start:]
    axes = ", ".join(f'"{name}"' for name in manual)
    head = (
        f"sdy.manual_computation({names(inputs)}) in_shardings=[{', '.join(in_shardings)}] "
        f"out_shardings=[{', '.join(out_shardings)}] "
        f"manual_axes={{{axes}}} ({_typed(arguments)}) {{"
    )
    _wrap(scope, head, lines, value_types, outputs)


def _manual_size(mesh: Mesh, manual: Sequence[str]) -> int:
    """The size of the first manual axis; 1 if there is none."""
    return mesh.size(manual[0]) if manual else 1


def _wrap(
    scope: Scope, head: str, lines: Sequence[str], inputs: Sequence[Type], outputs: Sequence[Type]
) -> None:
    """Writes an operation whose region consists of `lines`."""
    scope.write(scope.results(outputs, head))
    scope.writer.lines.extend(lines)
    scope.write(f"}} : ({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})")


def _typed(arguments: Sequence[Value]) -> str:
    return ", ".join(f"{value.name}: {value.type}" for value in arguments)


def _terminate(body: Scope, dialect: str, value_types: Sequence[Type]) -> None:
    values = [body.one_of(value_type) for value_type in value_types]
    body.write(f"{dialect}.return {names(values)} : {types(values)}" if values else f"{dialect}.return")


BODIES: dict[OpGenerator, int] = {
    optimization_barrier: 3,
    while_: 3,
    case: 2,
    named_computation: 3,
    manual_computation: 4,
}

"""Random operations with bodies: loops, branches, barriers, manual and named computations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tests.random_modules.meshes import Mesh, manual_sharding
from tests.random_modules.scopes import INDEX, TRUTH, Maker, Scope, Tensor, Type, Value, names, types


def fill(scope: Scope, most: int) -> None:
    """Writes some operations into a block, and more blocks while the depth allows it."""
    count, start = len(scope.values), len(scope.writer.lines)
    makers: dict[Maker, int] = {**scope.writer.operations, **(BODIES if scope.depth > 0 else {})}
    for maker in scope.writer.without:
        makers.pop(maker, None)
    for _ in range(scope.random.randint(0, most)):
        (maker,) = scope.random.choices(list(makers), list(makers.values()))
        maker(scope)
    if scope.writer.is_all_used:
        _use_the_rest(scope, scope.values[count:], "\n".join(scope.writer.lines[start:]))


def _use_the_rest(scope: Scope, values: Sequence[Value], text: str) -> None:
    """Gives values that occur in a text only where they are defined to something that may not be removed."""
    unused = [
        value
        for value in values
        if len(re.findall(rf"{re.escape(value.name)}\b", text)) == ("#" not in value.name)
    ]
    if unused:
        held = 'call_target_name = "sdy_testonly", has_side_effect = true'
        scope.write(f'"stablehlo.custom_call"({names(unused)}) <{{{held}}}> : ({types(unused)}) -> ()')


def optimization_barrier(scope: Scope) -> None:
    inputs = scope.some(3, least=1)
    kinds = [value.type for value in inputs]
    attributes = scope.attributes(kinds)
    head = f"stablehlo.optimization_barrier{attributes} {names(inputs)} : {types(inputs)}"
    scope.write(scope.results(kinds, head))


def while_(scope: Scope) -> None:
    inputs = [scope.one_of(INDEX), *scope.some(3)]
    kinds = [value.type for value in inputs]
    arguments = scope.arguments(kinds)
    attributes = scope.attributes(kinds, "attributes ")
    bound = scope.one_of(INDEX)
    pairs = ", ".join(f"{a.name} = {i.name}" for a, i in zip(arguments, inputs, strict=True))
    outputs = scope.results(kinds, f"stablehlo.while({pairs}) : {types(inputs)}{attributes}")
    # The results can be used behind the loop only.
    known = scope.values[: len(scope.values) - len(kinds)]
    inside = replace(scope, values=known)
    scope.write(outputs)
    scope.write("cond {")
    condition = inside.nested(arguments, is_isolated=False)
    comparison = f"stablehlo.compare LT, {arguments[0].name}, {bound.name} : ({INDEX}, {INDEX}) -> {TRUTH}"
    truth = condition.result(TRUTH, comparison)
    condition.write(f"stablehlo.return {truth.name} : {TRUTH}")
    scope.write("} do {")
    body = inside.nested(arguments, is_isolated=False)
    fill(body, 5)
    _end(body, "stablehlo", kinds)
    scope.write("}")


def case(scope: Scope) -> None:
    index = scope.one_of(INDEX)
    kinds: list[Type] = [value.type for value in scope.some(2, least=1)]
    attributes = scope.attributes(kinds)
    branches = []
    start = len(scope.writer.lines)
    for _ in range(scope.random.randint(1, 3)):
        body = scope.nested([], is_isolated=False)
        fill(body, 4)
        _end(body, "stablehlo", kinds)
        branches.append(scope.writer.lines[start:])
        del scope.writer.lines[start:]
    scope.write(scope.results(kinds, f'"stablehlo.case"({index.name}) ({{'))
    for number, lines in enumerate(branches):
        if number:
            scope.write("}, {")
        scope.writer.lines.extend(lines)
    scope.write(f"}}){attributes} : ({INDEX}) -> ({', '.join(map(str, kinds))})")


def named_computation(scope: Scope) -> None:
    """One of few names, so that some have the same; shardings of all inputs and outputs, or of none."""
    inputs = scope.some(3)
    kinds = [value.type for value in inputs]
    arguments = scope.arguments(kinds)
    start = len(scope.writer.lines)
    body = scope.nested(arguments, is_isolated=True)
    fill(body, 5)
    outputs: list[Type] = [value.type for value in body.some(2)]
    _end(body, "sdy", outputs)
    lines = scope.writer.lines[start:]
    del scope.writer.lines[start:]
    name = scope.random.choice(("foo", "bar", "baz"))
    shardings = _maybe_shardings(scope, "in", kinds) + _maybe_shardings(scope, "out", outputs)
    head = f'sdy.named_computation<"{name}">({names(inputs)}){shardings} ({_typed(arguments)}) {{'
    _wrap(scope, head, lines, kinds, outputs)


def _maybe_shardings(scope: Scope, word: str, kinds: Sequence[Type]) -> str:
    if not kinds or not scope.writer.is_sharded_inside or scope.random.random() < 0.5:
        return ""
    return f" {word}_shardings={scope.shardings(kinds)}"


def manual_computation(scope: Scope) -> None:
    """Manual axes that are free here, inputs and outputs split along some of them."""
    meshes = [mesh for mesh in scope.writer.meshes if any(name not in scope.taken for name, _ in mesh.axes)]
    if not meshes:
        return
    mesh = scope.random.choice(meshes)
    free = [name for name, _ in mesh.axes if name not in scope.taken]
    manual = scope.random.sample(free, scope.random.randint(0, len(free)))
    inputs = [scope.any_tensor() for _ in range(scope.random.randint(1, 3))]
    kinds = [value.type for value in inputs]
    inside, in_shardings = [], []
    for kind in kinds:
        sharding, local = manual_sharding(scope.random, mesh, kind.shape, manual, scope.taken)
        in_shardings.append(str(sharding))
        inside.append(Tensor(local))
    arguments = scope.arguments(inside)
    start = len(scope.writer.lines)
    body = scope.nested(arguments, is_isolated=True)
    body.taken = scope.taken | frozenset(manual)
    body.border = scope.writer.values
    fill(body, 5)
    outputs: list[Type] = []
    out_shardings, returned = [], []
    for value in [body.any_tensor() for _ in range(scope.random.randint(0, 2))]:
        # The global shape is not smaller than the local one; look for one that the sharding makes local.
        grown = tuple(
            size * scope.random.choice((1, 1, _mesh_size(mesh, manual))) for size in value.type.shape
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
    _wrap(scope, head, lines, kinds, outputs)


def _mesh_size(mesh: Mesh, manual: Sequence[str]) -> int:
    """The size of one of the manual axes."""
    return mesh.size(manual[0]) if manual else 1


def _wrap(
    scope: Scope, head: str, lines: Sequence[str], inputs: Sequence[Type], outputs: Sequence[Type]
) -> None:
    """Writes an operation around the lines of its body."""
    scope.write(scope.results(outputs, head))
    scope.writer.lines.extend(lines)
    scope.write(f"}} : ({', '.join(map(str, inputs))}) -> ({', '.join(map(str, outputs))})")


def _typed(arguments: Sequence[Value]) -> str:
    return ", ".join(f"{value.name}: {value.type}" for value in arguments)


def _end(body: Scope, dialect: str, kinds: Sequence[Type]) -> None:
    values = [body.one_of(kind) for kind in kinds]
    body.write(f"{dialect}.return {names(values)} : {types(values)}" if values else f"{dialect}.return")


BODIES: dict[Maker, int] = {
    optimization_barrier: 3,
    while_: 3,
    case: 2,
    named_computation: 3,
    manual_computation: 4,
}

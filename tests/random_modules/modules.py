"""Random modules: meshes, and functions that may call the functions generated before."""

from __future__ import annotations

from random import Random

from tests.random_modules.bodies import fill
from tests.random_modules.meshes import random_meshes
from tests.random_modules.operations import OPERATIONS
from tests.random_modules.scopes import INDEX, TENSORS, FunctionSignature, Scope, Type, Writer, names, types

MAX_DEPTH = 3


def random_module(seed: int) -> str:
    """A valid module; the same seed gives the same module."""
    random = Random(seed)
    writer = Writer(random, random_meshes(random), OPERATIONS)
    blocks = [[mesh.definition for mesh in writer.meshes if mesh.definition]]
    for number in range(random.randint(0, 3)):
        _function(writer, f"f{number}", random.choice(("", "", "private ")))
        blocks.append(_taken_lines(writer))
    _function(writer, "main", "")
    blocks.append(_taken_lines(writer))
    if random.random() < 0.5:
        # Functions may be defined after their callers.
        random.shuffle(blocks)
    return "\n".join(line for block in blocks for line in block) + "\n"


def _taken_lines(writer: Writer) -> list[str]:
    lines, writer.lines = writer.lines, []
    return lines


def _function(writer: Writer, name: str, visibility: str) -> None:
    """Writes a function that may call the earlier ones; a few are declarations."""
    random = writer.random
    inputs: list[Type] = [random.choice((*TENSORS, *TENSORS, INDEX)) for _ in range(random.randint(0, 4))]
    scope = Scope(writer, [], MAX_DEPTH)
    scope.values = scope.arguments(inputs)
    arguments = ", ".join(f"{v.name}: {v.type}{_sharded(scope, v.type)}" for v in scope.values)
    is_declared = name != "main" and random.random() < 0.05
    if is_declared:
        outputs: list[Type] = [random.choice(TENSORS)]
        types_only = ", ".join(map(str, inputs))
        writer.lines = [f"func.func private @{name}({types_only}) -> {outputs[0]}"]
    else:
        fill(scope, 14)
        returned = scope.some(3)
        outputs = [value.type for value in returned]
        results = ", ".join(f"{type}{_sharded(scope, type)}" for type in outputs)
        head = f"func.func {visibility}@{name}({arguments}) -> ({results}) {{"
        scope.write(f"return {names(returned)} : {types(returned)}" if returned else "return")
        writer.lines = [head, *writer.lines, "}"]
    writer.functions.append(FunctionSignature(name, inputs, outputs))


def _sharded(scope: Scope, type: Type) -> str:
    if scope.random.random() < 0.6:
        return ""
    return f" {{sdy.sharding = #sdy.sharding{scope.sharding(type)}}}"

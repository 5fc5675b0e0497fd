"""Random modules of operations that have a sharding rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from random import Random

from tests.random_modules.bodies import fill, unused_tensors
from tests.random_modules.meshes import Mesh, random_meshes
from tests.random_modules.operations import call, chain, constraint, counter, group
from tests.random_modules.rules import (
    barriers,
    collectives,
    contraction,
    custom_calls,
    elementwise,
    indexing,
    linear_algebra,
    reduction,
    shapes,
    slicing,
)
from tests.random_modules.rules.tensors import SIZES
from tests.random_modules.scopes import FunctionSignature, OpGenerator, Scope, Type, Writer, names, types

# Operations that propagation handles without a rule.
SDY: dict[OpGenerator, int] = {constraint: 5, chain: 2, group: 5, call: 4, counter: 1}
TABLES = (
    *(elementwise, shapes, slicing, contraction, indexing, reduction, linear_algebra),
    *(collectives, custom_calls, barriers),
)
OPERATIONS: dict[OpGenerator, int] = {
    **SDY,
    **{generator: n for table in TABLES for generator, n in table.OPERATIONS.items()},
}
# Axis sizes that divide few dimensions, and have different divisors.
AXES = (("x", 2), ("y", 2), ("z", 4), ("w", 8), ("three", 3), ("six", 6), ("twelve", 12), ("one", 1))
# A mesh of a single device, and an empty one.
MAXIMAL = Mesh((), "@maximal", "sdy.mesh @maximal = <[], device_ids=[0]>", is_maximal=True)
EMPTY = Mesh((), "@empty", "sdy.mesh @empty = <[]>")
MAX_DEPTH = 3


def random_module(seed: int, is_traceable: bool = False) -> str:
    """A valid module; the same seed gives the same module.

    In a traceable module all axes originate where the reference can trace them: in arguments and results of
    functions, constraints and manual computations.
    """
    random = Random(f"rules {seed}")
    return write_module(random, weighted_meshes(random, (MAXIMAL, EMPTY)), is_traceable=is_traceable)


def write_module(
    random: Random,
    meshes: list[Mesh],
    without: Collection[OpGenerator] = (),
    is_traceable: bool = False,
    is_executable: bool = False,
    max_size: int = max(SIZES),
) -> str:
    """A valid module with these meshes, without the operations of the generators `without`.

    In an executable module, loops end, and @main returns what is not used.
    """
    definitions = dict.fromkeys(mesh.definition for mesh in meshes if mesh.definition)
    sizes = [*random.sample(SIZES, 4), *random.sample((1, 2, 4, 8, 16), 2)]
    sizes = [min(size, max_size) for size in sizes]
    # The reference crashes on dead operations with priorities.
    has_priorities = random.random() < 0.6
    writer = Writer(
        random,
        meshes,
        {**OPERATIONS, group: 0} if is_traceable else OPERATIONS,
        sizes,
        is_all_used=(has_priorities or is_traceable) and not is_executable,
        without=without,
        is_sharded_inside=not is_traceable,
        is_executable=is_executable,
    )
    lines = [*definitions]
    for number in range(random.randint(0, 2)):
        _function(writer, f"f{number}", "private ", 6)
        lines += writer.lines
    _function(writer, "main", "", 24)
    text = "\n".join([*lines, *writer.lines]) + "\n"
    return text if has_priorities else re.sub(r"\}p\d", "}", text)


def weighted_meshes(random: Random, special: Sequence[Mesh] = ()) -> list[Mesh]:
    """Random meshes, and rarely special ones. The mesh with most axes is repeated, so that many shardings
    have it: nothing propagates between meshes.
    """
    first, *others = sorted(random_meshes(random, AXES), key=lambda mesh: -len(mesh.axes))
    rare = [mesh for mesh in special if random.random() < 0.1]
    return [first] * random.choice((1, 5, 20, 40)) + others + rare


def _function(writer: Writer, name: str, visibility: str, max_ops: int) -> None:
    writer.lines = []
    scope = Scope(writer, [], MAX_DEPTH, inputs=[])
    fill(scope, max_ops)
    returned = unused_tensors(scope) if writer.is_executable and not visibility else scope.some(4)
    scope.write(f"return {names(returned)} : {types(returned)}" if returned else "return")
    assert scope.inputs is not None
    arguments = ", ".join(
        f"{value.name}: {value.type}{_sharded(scope, value.type)}" for value in scope.inputs
    )
    outputs = [value.type for value in returned]
    results = ", ".join(f"{type}{_sharded(scope, type)}" for type in outputs)
    head = f"func.func {visibility}@{name}({arguments}) -> ({results}) {{"
    writer.lines = [head, *writer.lines, "}"]
    writer.functions.append(FunctionSignature(name, [value.type for value in scope.inputs], outputs))


def _sharded(scope: Scope, type: Type) -> str:
    if scope.random.random() < 0.5:
        return ""
    return f" {{sdy.sharding = #sdy.sharding{scope.sharding(type)}}}"

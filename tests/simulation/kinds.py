"""The kinds of simulated programs: reshards, some of which change unreduced axes, and local programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.random_modules.meshes import AxisRef, Mesh, Sharding, mesh_text, random_sharding
from tests.random_reshards.cases import Reshard, module_text, random_reshard

_ALONE = "sdy-reshard-to-collectives"
# As in the export pipeline.
_WITH_SUMS = (
    "sdy-insert-explicit-reshards{enable-full-version=true},"
    "canonicalize{enable-patterns=sdy-reshard region-simplify=aggressive top-down=false},"
    f"{_ALONE},"
    "canonicalize{enable-patterns=sdy-collective region-simplify=aggressive top-down=false}"
)
_AXES = (("x", 2), ("y", 2), ("z", 4), ("w", 8), ("three", 3))


@dataclass(frozen=True)
class Kind:
    """How to generate a reshard from a seed and to write it as a program, and the pipeline that lowers it."""

    make: Callable[[int], Reshard]
    text: Callable[[Reshard], str]
    pipeline: str
    # Whether the pipeline supports changes of unreduced axes.
    changes_sums: bool
    # Whether the result is the program for each device.
    is_local: bool = False


def _text(reshard: Reshard) -> str:
    return module_text([reshard])


def _text_with_declared_result(reshard: Reshard) -> str:
    """The same, with the target sharding on the result of the function."""
    result = f"({reshard.type} {{sdy.sharding = #sdy.sharding{reshard.target}}})"
    return _text(reshard).replace(f") -> {reshard.type} {{", f") -> {result} {{")


def _text_between_negations(reshard: Reshard) -> str:
    """The reshard of a negated tensor, which is negated again, in a function of replicated tensors.

    Inputs and outputs of functions must have even shards; operations may have uneven ones.
    """
    type, dims = reshard.type, ", ".join("{}" for _ in reshard.shape)

    def negation(result: str, value: str, sharding: Sharding) -> str:
        attribute = f"{{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}"
        return f"  {result} = stablehlo.negate {value} {attribute} : {type}"

    def replicated(sharding: Sharding) -> str:
        return f"{type} {{sdy.sharding = #sdy.sharding<{sharding.mesh.reference}, [{dims}]>}}"

    rank = len(reshard.shape)
    nothing: tuple[Any, ...] = ([[] for _ in range(rank)], [], [], [False] * rank, [None] * rank)
    source = reshard.source or Sharding(reshard.target.mesh, *nothing)
    lines = [
        *[mesh.definition for mesh in reshard.meshes],
        f"func.func @{reshard.name}(%a: {replicated(source)}) -> ({replicated(reshard.target)}) {{",
        negation("%0", "%a", source),
        f"  %1 = sdy.reshard %0 {reshard.target} : {type}",
        negation("%2", "%1", reshard.target),
        f"  %3 = sdy.reshard %2 {Sharding(reshard.target.mesh, *nothing)} : {type}",
        f"  return %3 : {type}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _random_change_of_unreduced_axes(seed: int) -> Reshard:
    """A reshard that adds or removes unreduced axes; not both, which one reshard cannot do."""
    random = Random(f"sums {seed}")
    axes = tuple(random.sample(_AXES, random.randint(1, 3)))
    mesh = Mesh(axes, "@mesh", f"sdy.mesh @mesh = {mesh_text(axes, ())}")
    shape = tuple(random.choice((1, 2, 3, 4, 5, 6, 8, 12)) for _ in range(random.randint(1, 3)))
    while True:
        source, target = (random_sharding(random, mesh, len(shape), (), is_closed=True) for _ in range(2))
        for sharding in (source, target):
            sharding.priorities = [None] * len(shape)
        if random.random() < 0.5:
            source.unreduced = _unreduced_among(source, target.unreduced)
        else:
            target.unreduced = _unreduced_among(target, source.unreduced)
        if source.unreduced != target.unreduced:
            return Reshard(seed, shape, source, target, barriers=0)


def _unreduced_among(sharding: Sharding, axes: list[AxisRef]) -> list[AxisRef]:
    """The unreduced axes of a sharding that are among these axes."""
    return [axis for axis in sharding.unreduced if axis in axes]


KINDS = {
    "reshards": Kind(random_reshard, _text, f"builtin.module(func.func({_ALONE}))", changes_sums=False),
    "sums": Kind(
        _random_change_of_unreduced_axes,
        _text_with_declared_result,
        f"builtin.module(func.func({_WITH_SUMS}))",
        changes_sums=True,
    ),
    "local": Kind(
        random_reshard,
        _text_between_negations,
        "builtin.module(sdy-partition-pipeline)",
        changes_sums=True,
        is_local=True,
    ),
}

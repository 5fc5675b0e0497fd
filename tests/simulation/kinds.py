"""The kinds of simulated programs: reshards alone, and reshards that also change unreduced axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

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


def _text(reshard: Reshard) -> str:
    return module_text([reshard])


def _text_with_declared_result(reshard: Reshard) -> str:
    """The same, with the target sharding on the result of the function."""
    result = f"({reshard.type} {{sdy.sharding = #sdy.sharding{reshard.target}}})"
    return _text(reshard).replace(f") -> {reshard.type} {{", f") -> {result} {{")


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
}

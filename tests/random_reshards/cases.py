"""Generates a random reshard from a seed, and writes many as one module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from tests.random_modules.meshes import AxisRef, Mesh, Sharding
from tests.random_reshards.meshes import pair_of_meshes
from tests.random_reshards.shardings import pair_of_shardings

# Dimension sizes. Most are divisible by some axis sizes.
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 30, 48, 64, 96, 144)
RANKS = (1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5)


@dataclass(frozen=True)
class Reshard:
    """A tensor that is resharded from `source`, or from no sharding, to `target`."""

    seed: int
    shape: tuple[int, ...]
    source: Sharding | None
    target: Sharding
    # The number of propagation barriers between operand and reshard.
    barriers: int

    @property
    def name(self) -> str:
        """The name of the function."""
        return f"reshard_{self.seed}"

    @property
    def type(self) -> str:
        return f"tensor<{''.join(f'{size}x' for size in self.shape)}f32>"

    @property
    def meshes(self) -> list[Mesh]:
        """The meshes of the shardings."""
        meshes = [self.target.mesh] if self.source is None else [self.source.mesh, self.target.mesh]
        return list(dict.fromkeys(meshes))

    @property
    def may_need_third_round(self) -> bool:
        """Whether two rounds of collectives may miss the target: an axis size is not a power of two."""
        return any(size & (size - 1) for _, size in self.target.mesh.axes)

    @property
    def has_clashing_sub_axes(self) -> bool:
        """Whether source and target have sub-axes of one axis that cannot coexist."""
        return self.source is not None and clash(self.source, self.target)

    @property
    def function(self) -> str:
        """A function that takes the tensor, reshards it and returns it."""
        type = self.type
        sharded = "" if self.source is None else f" {{sdy.sharding = #sdy.sharding{self.source}}}"
        lines = [f"func.func @{self.name}(%arg0: {type}{sharded}) -> {type} {{"]
        value = "%arg0"
        for number in range(self.barriers):
            lines.append(f"  %{number} = sdy.propagation_barrier {value} allowed_direction=NONE : {type}")
            value = f"%{number}"
        lines += [f"  %out = sdy.reshard {value} {self.target} : {type}", f"  return %out : {type}", "}"]
        return "\n".join(lines)


def random_reshard(seed: int) -> Reshard:
    """A valid reshard; the same one for the same seed."""
    random = Random(seed)
    source_mesh, target_mesh = pair_of_meshes(random, f"mesh_{seed}")
    rank = 0 if random.random() < 0.02 else random.choice(RANKS)
    shape = tuple(random.choice(SIZES) for _ in range(rank))
    source, target = pair_of_shardings(random, source_mesh, target_mesh, rank)
    has_source = random.random() < 0.97
    barriers = random.randint(1, 2) if random.random() < 0.03 else 0
    return Reshard(seed, shape, source if has_source else None, target, barriers)


def module_text(reshards: Iterable[Reshard]) -> str:
    """A module with all meshes, and a function for each reshard."""
    reshards = list(reshards)
    meshes = dict.fromkeys(mesh for reshard in reshards for mesh in reshard.meshes)
    definitions = [mesh.definition for mesh in meshes if mesh.definition]
    return "\n".join([*definitions, *(reshard.function for reshard in reshards)]) + "\n"


def clash(*shardings: Sharding) -> bool:
    """Whether the sub-axes of some mesh axis cannot all be merged from the parts of one split of the axis."""
    refs = [ref for sharding in shardings for ref in _axis_refs(sharding)]
    return any(
        not _is_chain({bound for ref in refs if ref.axis == axis for bound in _bounds(ref)})
        for axis in {ref.axis for ref in refs}
    )


def _axis_refs(sharding: Sharding) -> Iterable[AxisRef]:
    return (ref for refs in (*sharding.dims, sharding.unreduced) for ref in refs)


def _bounds(ref: AxisRef) -> tuple[int, int]:
    return ref.pre_size, ref.pre_size * ref.size


def _is_chain(bounds: set[int]) -> bool:
    """Whether each bound divides the next larger one."""
    return all(right % left == 0 for left, right in pairwise(sorted(bounds)))

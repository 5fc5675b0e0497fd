"""Random programs as they are given to whole pipelines, with little in them that ends these early."""

from __future__ import annotations

import re
from random import Random

from tests.random_modules.bodies import named_computation
from tests.random_modules.meshes import Mesh
from tests.random_modules.rules.modules import weighted_meshes, write_module

_UNREDUCED = re.compile(r", unreduced=\{[^}]*\}")
_PRIORITY = re.compile(r"\}p\d")


def random_program(seed: int) -> str:
    """A program before propagation; always the same one for a seed."""
    random = Random(f"programs {seed}")
    return _program(random, weighted_meshes(random))


def random_sharded_program(seed: int) -> str:
    """The same as if it had come from propagation: meshes have names, and nothing has a priority."""
    random = Random(f"sharded {seed}")
    meshes = [mesh for mesh in weighted_meshes(random) if mesh.definition]
    return _PRIORITY.sub("}", _program(random, meshes))


def _program(random: Random, meshes: list[Mesh]) -> str:
    """Users do not write named computations; propagation makes them of calls. Sums are seldom, because the
    reference ends with a failed check where they meet other sums or other meshes."""
    text = write_module(random, meshes, without=(named_computation,))
    share = random.choice((0.0, 0.0, 0.05, 0.3))
    return _UNREDUCED.sub(lambda found: found[0] if random.random() < share else "", text)

"""Random programs for whole pipelines, with few errors that would end these early."""

from __future__ import annotations

import re
from random import Random

from tests.random_modules.bodies import named_computation
from tests.random_modules.meshes import Mesh
from tests.random_modules.rules.modules import weighted_meshes, write_module

_UNREDUCED = re.compile(r", unreduced=\{[^}]*\}")
_PRIORITY = re.compile(r"\}p\d")


def random_program(seed: int) -> str:
    """A program before propagation; the same seed gives the same program."""
    random = Random(f"programs {seed}")
    return _program(random, weighted_meshes(random))


def random_sharded_program(seed: int) -> str:
    """A program as after propagation: meshes have names, and no sharding has priorities."""
    random = Random(f"sharded {seed}")
    meshes = [mesh for mesh in weighted_meshes(random) if mesh.definition]
    return _PRIORITY.sub("}", _program(random, meshes))


def _program(random: Random, meshes: list[Mesh]) -> str:
    """A program without named computations, which users do not write, and with few unreduced axes.

    The reference fails an assertion where unreduced axes meet others or another mesh.
    """
    text = write_module(random, meshes, without=(named_computation,))
    probability = random.choice((0.0, 0.0, 0.05, 0.3))
    return _UNREDUCED.sub(lambda match: match[0] if random.random() < probability else "", text)

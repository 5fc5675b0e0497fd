"""Random programs for whole pipelines, with few errors that would end these early."""

from __future__ import annotations

import re
from math import prod
from random import Random

from tests.random_modules.bodies import manual_computation, named_computation
from tests.random_modules.meshes import Mesh
from tests.random_modules.rules import collectives, custom_calls
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


MAX_DEVICES = 16
# Collectives mean nothing on one device, and XLA has no custom calls of these names on the CPU.
_NOT_EXECUTABLE = (*collectives.OPERATIONS, *custom_calls.OPERATIONS, named_computation)


def random_executable_program(seed: int) -> str:
    """A program that XLA runs on at most 16 devices of the CPU, if it runs all of its operations.

    Few have manual computations, because then XLA's own partitioner must partition the program, too.
    """
    random = Random(f"executable {seed}")
    meshes: list[Mesh] = []
    while not meshes:
        meshes = [mesh for mesh in weighted_meshes(random) if 1 < _device_count(mesh) <= MAX_DEVICES]
    count = _device_count(meshes[0])
    meshes = [mesh for mesh in meshes if _device_count(mesh) == count]
    without = _NOT_EXECUTABLE if random.random() < 0.15 else (*_NOT_EXECUTABLE, manual_computation)
    text = write_module(random, meshes, without, is_executable=True, max_size=16)
    return _with_few_unreduced(random, text)


def _device_count(mesh: Mesh) -> int:
    return prod(size for _, size in mesh.axes)


def _program(random: Random, meshes: list[Mesh]) -> str:
    """A program without named computations, which users do not write, and with few unreduced axes.

    The reference fails an assertion where unreduced axes meet others or another mesh.
    """
    return _with_few_unreduced(random, write_module(random, meshes, without=(named_computation,)))


def _with_few_unreduced(random: Random, text: str) -> str:
    probability = random.choice((0.0, 0.0, 0.05, 0.3))
    return _UNREDUCED.sub(lambda match: match[0] if random.random() < probability else "", text)

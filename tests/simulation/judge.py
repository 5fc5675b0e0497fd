"""Checks that the collectives of a random reshard leave every device with its shard."""

from __future__ import annotations

from math import prod

from tests.random_modules.compare import run_here
from tests.random_modules.meshes import Mesh, Sharding
from tests.random_reshards.cases import Reshard, clash
from tests.random_reshards.meshes import is_maximal
from tests.simulation.kinds import Kind
from tests.simulation.local import simulate_local
from tests.simulation.programs import function_of, read_unverified
from tests.simulation.reshards import Simulation, simulate

# The maximum number of elements of all devices together, if each had the global tensor.
MOST_ELEMENTS = 20_000
# The maximum number of devices that local programs are run on, one after the other.
MOST_LOCAL_DEVICES = 64

RIGHT, WRONG = "right", "wrong"
# Reshards that are not simulated: they are too large, or no right result is defined.
TOO_LARGE = "too large to simulate"
OTHER_DEVICES = "the meshes have different devices"
UNREDUCED_CHANGES = "the unreduced axes change in a way that the pipeline does not support"
SUB_AXES_CLASH = "sub-axes of one sharding cannot coexist"
# Results that are not simulated.
REJECTED = "rejected with an error"
KEPT = "the reshard is kept"


def convert(reshard: Reshard, kind: Kind) -> str:
    """The module of a reshard after the pipeline; empty if it is rejected."""
    return run_here(kind.text(reshard), kind.pipeline).output


def judge(reshard: Reshard, kind: Kind) -> tuple[str, Simulation]:
    """Simulates a reshard after the pipeline. Returns the verdict and the simulation, if any."""
    empty = Simulation()
    reason = _not_judged(reshard, kind)
    if reason is not None:
        return reason, empty
    converted = convert(reshard, kind)
    if not converted:
        return REJECTED, empty
    before, module = function_of(read_unverified(kind.text(reshard))), read_unverified(converted)
    after = function_of(module)
    if any(op.signature.name == "sdy.reshard" for op in after.entry.ops):
        return KEPT, empty
    simulation = simulate_local(before, module) if kind.is_local else simulate(before, after)
    return (WRONG if simulation.problems else RIGHT), simulation


def _not_judged(reshard: Reshard, kind: Kind) -> str | None:
    """Why no right result is defined for a reshard, or why it is not simulated."""
    source, target = reshard.source, reshard.target
    devices = _device_count(target.mesh)
    if kind.is_local and devices > MOST_LOCAL_DEVICES:
        return TOO_LARGE
    if devices * prod(reshard.shape) > MOST_ELEMENTS:
        return TOO_LARGE
    if source is None:
        return UNREDUCED_CHANGES if target.unreduced else None
    if _device_count(source.mesh) != devices or is_maximal(source.mesh) != is_maximal(target.mesh):
        return OTHER_DEVICES
    is_same_sum = source.unreduced == target.unreduced
    if source.mesh != target.mesh:
        is_same_sum = not source.unreduced and not target.unreduced
    if not is_same_sum and not (kind.changes_sums and _only_adds_or_removes(source, target)):
        return UNREDUCED_CHANGES
    return SUB_AXES_CLASH if clash(source) or clash(target) else None


def _only_adds_or_removes(source: Sharding, target: Sharding) -> bool:
    """Whether unreduced axes are only added or only removed, on one mesh; one reshard cannot do both."""
    before, after = set(source.unreduced), set(target.unreduced)
    return source.mesh == target.mesh and (before <= after or after <= before)


def _device_count(mesh: Mesh) -> int:
    return prod(size for _, size in mesh.axes)

"""Whether the collectives that a random reshard became leave every device with its shard."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import prod

from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.value_shardings import sharding_of
from tests.random_modules.compare import run_here
from tests.random_modules.meshes import AxisRef, Mesh, Sharding
from tests.random_reshards.cases import Reshard
from tests.simulation.kinds import Kind
from tests.simulation.programs import function_of, read_unverified
from tests.simulation.reshards import Simulation, simulate

# So many elements on all devices together, if each had the whole tensor, are simulated.
MOST_ELEMENTS = 20_000

RIGHT, WRONG = "right", "wrong"
# Nothing that the pass could do would be right, or the pass says itself that it has not done it.
TOO_LARGE = "too large to simulate"
OTHER_DEVICES = "the meshes have other devices"
UNREDUCED_CHANGES = "what is a sum before is none after, or another; which is not for this pass to do"
SUB_AXES_CLASH = "an axis is split in two ways that do not fit together"
REJECTED = "rejected with an error"
KEPT = "the reshard is kept"
GIVEN_UP = "the last collective leads to another sharding"


def convert(reshard: Reshard, kind: Kind) -> str:
    """What becomes of a reshard, as a module; nothing if it is rejected."""
    return run_here(kind.text(reshard), kind.pipeline).output


def judge(reshard: Reshard, kind: Kind) -> tuple[str, Simulation]:
    """The verdict on what becomes of a reshard, and what came out of simulating it."""
    empty = Simulation()
    reason = _not_judged(reshard, kind)
    if reason is not None:
        return reason, empty
    converted = convert(reshard, kind)
    if not converted:
        return REJECTED, empty
    before, after = (function_of(read_unverified(text)) for text in (kind.text(reshard), converted))
    if any(op.signature.name == "sdy.reshard" for op in after.entry.ops):
        return KEPT, empty
    found = simulate(before, after)
    if not found.problems:
        return RIGHT, found
    return (GIVEN_UP if _ends_elsewhere(before, after) else WRONG), found


def _not_judged(reshard: Reshard, kind: Kind) -> str | None:
    source, target = reshard.source, reshard.target
    devices = _device_count(target.mesh)
    if devices * prod(reshard.shape) > MOST_ELEMENTS:
        return TOO_LARGE
    if source is None:
        return UNREDUCED_CHANGES if target.unreduced else None
    if _device_count(source.mesh) != devices:
        return OTHER_DEVICES
    is_same_sum = source.unreduced == target.unreduced
    if source.mesh != target.mesh:
        is_same_sum = not source.unreduced and not target.unreduced
    if not is_same_sum and not kind.changes_sums:
        return UNREDUCED_CHANGES
    return SUB_AXES_CLASH if _clash(source, target) else None


def _device_count(mesh: Mesh) -> int:
    return prod(size for _, size in mesh.axes)


def _clash(*shardings: Sharding) -> bool:
    """Whether some axis cannot be split so that all its pieces are made of the same parts."""
    pieces = [piece for sharding in shardings for piece in _elements(sharding)]
    return any(
        not _is_chain({bound for piece in pieces if piece.axis == axis for bound in _bounds(piece)})
        for axis in {piece.axis for piece in pieces}
    )


def _elements(sharding: Sharding) -> Iterable[AxisRef]:
    return (piece for pieces in (*sharding.dims, sharding.unreduced) for piece in pieces)


def _bounds(piece: AxisRef) -> tuple[int, int]:
    return piece.pre_size, piece.pre_size * piece.size


def _is_chain(bounds: set[int]) -> bool:
    return all(right % left == 0 for left, right in pairwise(sorted(bounds)))


def _ends_elsewhere(before: FuncOp, after: FuncOp) -> bool:
    """Whether what is returned says itself that it is not what it should be."""
    target, returned = (sharding_of(function.entry.last.operand_at(0)) for function in (before, after))  # type: ignore[union-attr]
    return target is not None and not target.is_equivalent(returned)

"""The collectives of Fourier transforms that a compiler replaces by products before it partitions a program.

Each dimension is transformed by a product, the last one first. Along a sharded dimension it sums up parts,
or its operand is gathered if the result is sharded along the same axes; other dimensions keep theirs.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from sdyopt.analysis.figures.figures import Collective
from sdyopt.analysis.figures.loop_invariants import only_user
from sdyopt.base.dataclasses import replace
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllSliceOp, AllToAllOp
from sdyopt.mlir.dialects.sdy.mesh_op import find_mesh
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of
from sdyopt.mlir.dialects.stablehlo.concatenate_pad import PadOp
from sdyopt.mlir.dialects.stablehlo.numerics import FftOp
from sdyopt.mlir.dialects.stablehlo.slicing import SliceOp
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import DYNAMIC, ComplexType, RankedTensor, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.shardy.sharding.elementwise import is_elementwise

# A product of complex numbers is so many of real ones; if one side is real, so many.
_COMPLEX, _REAL = 3, 2
# The bytes of a real number.
_BYTES = 4
# So many values are followed.
_MOST_VALUES = 100


def of_transform(op: Op, collective: Collective) -> Collective | None:
    """A collective for a Fourier transform as one for its products; None for another one."""
    if not isinstance(op, AllGatherOp | AllToAllOp):
        return None
    transform = only_user(op.results[0])
    if not isinstance(transform, FftOp):
        return None
    mesh, operand = find_mesh(op.out_sharding.mesh_or_ref, op), sharding_of(op.tensor)
    before, after = transform.operand.type, transform.out.type
    if mesh is None or operand is None or collective.wire_bytes is None:
        return None
    if not (isinstance(before, RankedTensor) and isinstance(after, RankedTensor)):
        return None
    if DYNAMIC in (*before.shape, *after.shape):
        return None
    first = len(before.shape) - len(transform.fft_length)
    sizes = [dim.sharded_size(mesh) for dim in operand.dims]
    devices = prod(sizes[first:])
    if devices > 1 and _is_whole(op.tensor):
        reason = "computed from a transform, which is whole on each device"
        return replace(collective, wire_bytes=Fraction(0), compiled=reason)
    batch = prod(-(-size // count) for size, count in zip(before.shape[:first], sizes[:first], strict=True))
    given = _sharding_after(transform)
    parts = 1 if given is None else prod(dim.sharded_size(mesh) for dim in given.dims[first:])
    if devices == parts == 1:
        # Only the batch is gathered.
        return None
    if devices == 1:
        size = batch * prod(after.shape[first:]) * _BYTES
        size *= 2 if isinstance(element_of(after), ComplexType) else 1
        reason = "for the result of a Fourier transform, which is a product for each dimension"
        wire_bytes = size * (1 - Fraction(1, parts))
        return replace(collective, kind="all_to_all", wire_bytes=wire_bytes, compiled=reason)
    dim = max(dim for dim in range(first, len(sizes)) if sizes[dim] > 1)
    is_real = dim == len(sizes) - 1 and not isinstance(element_of(before), ComplexType)
    share = 1 - Fraction(1, devices)
    kept = [] if given is None else [sharding.axes for sharding in given.dims[first:]]
    if kept == [sharding.axes for sharding in operand.dims[first:]]:
        shape = (*before.shape[first : dim + 1], *after.shape[dim + 1 :])
        size = (1 if is_real else _COMPLEX) * batch * prod(shape) * _BYTES
        reason = "for the real products of a Fourier transform"
        return replace(collective, kind="all_gather", wire_bytes=size * share, compiled=reason)
    # The last dimension has all its frequencies at first.
    last = transform.fft_length[-1] if dim == len(sizes) - 1 else after.shape[-1]
    shape = (*before.shape[first:dim], *after.shape[dim:-1], last)
    size = (_REAL if is_real else _COMPLEX) * batch * prod(shape) * _BYTES
    reason = "summed up: a Fourier transform is a product for each dimension"
    return replace(collective, kind="all_reduce", wire_bytes=2 * size * share, compiled=reason)


def _sharding_after(transform: FftOp) -> TensorSharding | None:
    """The sharding that the program needs of a result; None if it needs none."""
    user = only_user(transform.out)
    if not isinstance(user, AllSliceOp):
        return None
    return None if _is_for_transforms(user.results[0]) else sharding_of(user.results[0])


def _is_passed(op: Op) -> bool:
    """Whether a result is as its operands: elementwise, or of more or fewer frequencies."""
    return isinstance(op, PadOp | SliceOp) or op.signature.cached(is_elementwise)


def _is_whole(value: Value) -> bool:
    """Whether a value is computed from the result of a transform of which each device has all."""
    pending, visited = [value], {value}
    while pending and len(visited) < _MOST_VALUES:
        op = pending.pop().defining_op
        if isinstance(op, AllSliceOp) and isinstance(transform := op.tensor.defining_op, FftOp):
            return isinstance(transform.operand.defining_op, AllGatherOp)
        if op is not None and _is_passed(op):
            new = [operand for operand in op.operands if operand not in visited]
            visited.update(new)
            pending += new
    return False


def _is_for_transforms(value: Value) -> bool:
    """Whether only other transforms use a value, or what is computed from it, and gather it."""
    pending, visited = [value], {value}
    while pending and len(visited) < _MOST_VALUES:
        for user in pending.pop().users:
            if isinstance(user, AllGatherOp) and isinstance(only_user(user.results[0]), FftOp):
                continue
            if not _is_passed(user):
                return False
            new = [result for result in user.results if result not in visited]
            visited.update(new)
            pending += new
    return not pending

"""sdy-reshard-to-collectives: say by which communication each reshard comes about.

    %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x2xf32>
becomes, if %a is sharded as [{"x", "y", "z"}, {}],
    %0 = sdy.all_gather [{"y", "z"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x2xf32>

A reshard says where a tensor has to be, a collective what the devices do for it. One reshard becomes up to
two rounds of

    all_slice            axes nothing uses yet split the tensor further: no communication
    collective_permute   each device sends its chunk to another one: other axes of the same sizes, another
                         order of axes, or a mesh with the devices in another order
    all_to_all           axes stop splitting one dimension and split another one
    all_gather           axes no longer split the tensor

where each is made only if it brings the tensor nearer to its target. Axes are cut into sub-axes as
needed: from [{"x"}] to [{"x":(1)2}] with "x"=8, gathered is "x":(2)4. If sizes do not divide each other, two
rounds may not be enough; then the last collective says how far they got, and a warning that it is not where
the reshard was to go.

A reshard that changes nothing goes away; it stays if `keep-redundant-reshards` is set, which is for programs
in which not every change of sharding is a reshard yet. A reshard between meshes with different axes stays,
too, unless its target is not split at all: then the tensor is gathered on the mesh of the source. A value
behind a propagation barrier is sharded as it was before the barrier, where the collectives take it.

Sums are none of this pass's business: `sdy-insert-explicit-reshards` has put an all-reduce wherever unreduced
axes go away, and a reshard is taken to have the same ones before and after it. `sdy-export-pipeline` and
`-canonicalize=enable-patterns=sdy-collective` make a reduce-scatter of an all-reduce and an all-slice behind
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sdyopt.asm.printer.asm_printer import print_for_note
from sdyopt.asm.printer.attribute_printer import plain_attribute
from sdyopt.dialects.func import FuncOp
from sdyopt.dialects.sdy.axes import AxisRef
from sdyopt.dialects.sdy.collectives import AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp
from sdyopt.dialects.sdy.mesh import Mesh
from sdyopt.dialects.sdy.mesh_op import mesh_of
from sdyopt.dialects.sdy.ops import ReshardOp
from sdyopt.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.dialects.sdy.value_shardings import sharding_of, sharding_or_replicated
from sdyopt.ir.operation import Op
from sdyopt.ir.rewrite import Rewriter
from sdyopt.ir.types import RankedShape
from sdyopt.ir.value import Value
from sdyopt.pipeline import FUNCTION, Pass, option
from sdyopt.registry import register
from sdyopt.sharding.reshard_to_collectives.plan import Plan, plan_collectives

from ..common.support.dialect_conversion import convert
from ..common.support.propagation_barriers import value_before_barriers

_COLLECTIVES = (AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp)


@register("sdy-reshard-to-collectives")
class ReshardToCollectives(Pass):
    anchor = FUNCTION

    keep_redundant_reshards: bool = option(default=False, help="leave reshards that change nothing")

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        collectives = _Collectives(self.keep_redundant_reshards)
        convert(
            function,
            {ReshardOp: collectives.replace},
            rewriter,
            legal=_COLLECTIVES,
            is_legal=collectives.stays,
        )
        return rewriter.changed


class _Collectives:
    """Writes collectives, planned once for each pair of shardings."""

    def __init__(self, keeps_redundant: bool) -> None:
        self._keeps_redundant = keeps_redundant
        self._plan = cache(plan_collectives)
        self._before_barriers: dict[Value, Value] = {}

    def stays(self, op: ReshardOp) -> bool:
        source, target = sharding_of(value_before_barriers(op.input, self._before_barriers)), op.sharding
        if self._keeps_redundant and target.is_equivalent(source):
            return True
        if source is None or target.is_fully_replicated:
            return False
        return not _has_same_axes(source, target, op)

    def replace(self, op: ReshardOp, operands: Sequence[Value], rewriter: Rewriter) -> Sequence[Value]:
        value = value_before_barriers(operands[0], self._before_barriers)
        source, target = sharding_or_replicated(value, op.sharding.mesh_or_ref), op.sharding
        if source.rank != target.rank:
            raise _cannot_replace(op)
        if target.is_fully_replicated:
            if source.is_fully_replicated:
                return operands
            target = fully_replicated(source.rank, source.mesh_or_ref, is_closed=True)
        if not _has_same_axes(source, target, op):
            raise _cannot_replace(op)
        reached = source
        for step in self._steps(op, source, target):
            created = rewriter.create(
                step.op_class,
                [value],
                op.signature.result_types,
                step.attributes,
                before=op,
                location=op._location,
            )
            value, reached = created.result, step.sharding
        if not _split_alike(reached, target, _mesh(target, op)):
            op.warn(
                f"collectives get no further than {plain_attribute(reached)}, because the sizes of axes do "
                "not divide each other"
            )
        return [value]

    def _steps(self, op: ReshardOp, source: TensorSharding, target: TensorSharding) -> Plan:
        type = op.signature.result_types[0]
        assert isinstance(type, RankedShape)
        return self._plan(type.shape, source, target, _mesh(source, op))


def _has_same_axes(source: TensorSharding, target: TensorSharding, op: Op) -> bool:
    """Whether both shardings are over meshes that differ at most in the order of their devices."""
    if source.mesh_or_ref is target.mesh_or_ref:
        return True
    first, second = _mesh(source, op), _mesh(target, op)
    return first.is_maximal == second.is_maximal and first.axes == second.axes


def _split_alike(first: TensorSharding, second: TensorSharding, mesh: Mesh) -> bool:
    """Whether two shardings over a mesh are the same but for axes of size one."""

    def splits(sharding: TensorSharding) -> list[list[AxisRef]]:
        return [[axis for axis in dim.axes if axis.size(mesh) > 1] for dim in sharding.dims]

    return splits(first) == splits(second)


def _mesh(sharding: TensorSharding, op: Op) -> Mesh:
    mesh = mesh_of(sharding, op)
    assert mesh is not None, "a verified sharding has a mesh"
    return mesh


def _cannot_replace(op: ReshardOp) -> Exception:
    return op.error(
        f"failed to legalize operation '{op.name}' that was explicitly marked illegal: {print_for_note(op)}"
    )

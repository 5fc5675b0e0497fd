"""sdy-reshard-to-collectives: lower reshards to collectives.

    %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<16x2xf32>
becomes, if %a is sharded as [{"x", "y", "z"}, {}],
    %0 = sdy.all_gather [{"y", "z"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x2xf32>

A reshard is lowered to rounds of these collectives, in this order:

    all_slice            shard further along axes that are unused so far; no communication
    collective_permute   exchange shards between devices: replace axes by others of the same sizes, change the
                         order of axes, or change the device order of the mesh
    all_to_all           move axes from one dimension to another
    all_gather           replicate along axes

A collective is inserted only if it brings the sharding closer to the target. Axes are split into sub-axes as
needed: from [{"x"}] to [{"x":(1)2}] with "x"=8, the all-gather is along "x":(2)4. One round is nearly always
enough; if all axis sizes are powers of two, two rounds always are. Other sizes may need a third round, which
Shardy omits: its result then does not have the target sharding.

A reshard whose input has the same sharding is removed, unless `keep-redundant-reshards` is set. A reshard
between meshes with different axes is kept, unless its target is fully replicated: then the tensor is
gathered on the mesh of the input. Reshards to and from a single device are kept for
`sdy-resolve-single-device-sharding`, except with `--sdy-version=jaxlib-0.10.2`. Propagation barriers are
transparent: the collectives take the value before the barrier,
with its sharding.

This pass inserts no reductions: `sdy-insert-explicit-reshards` has inserted an all-reduce wherever unreduced
axes are removed, so the input and the target of a reshard have the same unreduced axes. An all-gather that
replicates all dimensions forgets them, as in Shardy, unless `keep-unreduced-axes` is set.
`sdy-export-pipeline` and `-canonicalize=enable-patterns=sdy-collective` fuse an all-reduce with a following
all-slice into a reduce-scatter.

The pass is a dialect conversion, which also folds operations that compute an existing value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.func import FuncOp
from sdyopt.mlir.dialects.sdy.axes import AxisRef
from sdyopt.mlir.dialects.sdy.collectives import AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp
from sdyopt.mlir.dialects.sdy.mesh import Mesh
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of, unknown_mesh_error
from sdyopt.mlir.dialects.sdy.ops import ReshardOp, value_before_barriers
from sdyopt.mlir.dialects.sdy.sharding import TensorSharding, fully_replicated
from sdyopt.mlir.dialects.sdy.value_shardings import sharding_of, sharding_or_replicated
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import RankedShapedType
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register
from sdyopt.shardy.sharding.reshard_to_collectives.plan import Plan, plan_as_partitioner, plan_collectives

from ..common.support.dialect_conversion import ConversionPattern, convert

_COLLECTIVES = (AllGatherOp, AllSliceOp, AllToAllOp, CollectivePermuteOp)


@register("sdy-reshard-to-collectives")
class ReshardToCollectives(Pass):
    anchor = FUNCTION

    keep_redundant_reshards: bool = option(
        default=False, help="keep reshards whose input has the same sharding"
    )
    keep_unreduced_axes: bool = option(
        default=False,
        help="keep the unreduced axes of a value of which all dimensions are gathered",
        is_addition=True,
    )
    move_borders: bool = option(
        default=False,
        help="change shards of padded dimensions for others with different borders, instead of gathering the "
        "dimension",
        is_addition=True,
    )

    as_partitioner: bool = option(
        default=False,
        help="use the collectives of the SPMD partitioner of XLA, which may gather whole tensors; reshards "
        "that change unreduced axes are kept",
        is_addition=True,
    )

    def run(self, function: FuncOp) -> bool:
        rewriter = Rewriter()
        planner = plan_as_partitioner if self.as_partitioner else plan_collectives
        plan = partial(planner, moves_borders=self.move_borders)
        lowering = _ReshardLowering(
            self.keep_redundant_reshards, self.keep_unreduced_axes, self.as_partitioner, plan
        )
        pattern = ConversionPattern(ReshardOp, lowering.lower, lowering.is_legal)
        convert(function, pattern, rewriter, legal=_COLLECTIVES)
        return rewriter.changed


class _ReshardLowering:
    """Lowers reshards. The plan of a pair of shardings is cached."""

    def __init__(
        self, keep_redundant: bool, keep_unreduced: bool, keep_reductions: bool, plan: Callable[..., Plan]
    ) -> None:
        self._keep_redundant = keep_redundant
        self._keep_reductions = keep_reductions
        self._keep_unreduced = keep_unreduced
        self._plan = cache(plan)
        self._before_barriers: dict[Value, Value] = {}

    def is_legal(self, op: ReshardOp) -> bool:
        """Whether a reshard is kept."""
        source, target = sharding_of(value_before_barriers(op.input, self._before_barriers)), op.sharding
        # Unreduced axes do not count if the input has no sharding.
        is_redundant = target.is_fully_replicated if source is None else target.is_equivalent(source)
        if self._keep_redundant and is_redundant:
            return True
        if Behavior.SINGLE_DEVICE_RESHARDS.active and any(
            (s is not None and _mesh(s, op).is_maximal) for s in (source, target)
        ):
            return True
        if self._keep_reductions and source is not None and source.unreduced_axes != target.unreduced_axes:
            return True
        if source is None or target.is_fully_replicated:
            return False
        return not _has_same_axes(source, target, op)

    def lower(self, op: ReshardOp, operands: Sequence[Value], rewriter: Rewriter) -> Sequence[Value]:
        (operand,) = operands
        value = value_before_barriers(operand, self._before_barriers)
        source, target = sharding_or_replicated(value, op.sharding.mesh_or_ref), op.sharding
        if source.rank != target.rank:
            raise legalization_error(op)
        if target.is_fully_replicated:
            if source.is_fully_replicated:
                return operands
            target = fully_replicated(source.rank, source.mesh_or_ref, is_closed=True)
            if self._keep_unreduced:
                target = target.with_unreduced_axes(source.unreduced_axes, source.reduction)
        if not _has_same_axes(source, target, op):
            raise legalization_error(op)
        reached = source
        if source.mesh_or_ref is not target.mesh_or_ref and (
            _mesh(source, op).device_ids == _mesh(target, op).device_ids
        ):
            rewriter.expect_invalid()  # until meshes are inlined
        for step in self._steps(op, source, target):
            created = rewriter.create(
                step.op_class,
                [value],
                op.signature.result_types,
                step.attributes,
                before=op,
                location=op.lazy_location,
            )
            value, reached = created.result, step.sharding
        assert _has_same_sharded_axes(reached, target, _mesh(target, op)), "the plan ends at the target"
        return [value]

    def _steps(self, op: ReshardOp, source: TensorSharding, target: TensorSharding) -> Plan:
        type = op.signature.result_types[0]
        assert isinstance(type, RankedShapedType)
        return self._plan(type.shape, source, target, _mesh(source, op))


def _has_same_axes(source: TensorSharding, target: TensorSharding, op: Op) -> bool:
    """Whether the meshes of two shardings differ in their device order at most."""
    if source.mesh_or_ref is target.mesh_or_ref:
        return True
    first, second = _mesh(source, op), _mesh(target, op)
    return first.is_maximal == second.is_maximal and first.axes == second.axes


def _has_same_sharded_axes(first: TensorSharding, second: TensorSharding, mesh: Mesh) -> bool:
    """Whether two shardings over one mesh shard dimensions along equal axes, apart from those of size one."""

    def sharded_axes(sharding: TensorSharding) -> list[list[AxisRef]]:
        return [[axis for axis in dim.axes if axis.size(mesh) > 1] for dim in sharding.dims]

    return sharded_axes(first) == sharded_axes(second)


def _mesh(sharding: TensorSharding, op: Op) -> Mesh:
    mesh = mesh_of(sharding, op)
    if mesh is None:
        raise unknown_mesh_error(sharding, op)
    return mesh

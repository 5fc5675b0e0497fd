"""The collectives of sdy, and their verification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.ids import ErrorKind
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import Assembly, assembly
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.sdy.assembly_directives import (
    ANY_SHAPED,
    SHARDING_ATTR,
)
from sdyopt.mlir.dialects.sdy.axes import (
    AllToAllParam,
    AllToAllParams,
    AxesPerDim,
    AxisRef,
    AxisRefList,
    axis_ref_text,
    axis_refs_text,
    sorted_and_merged,
    with_axes,
)
from sdyopt.mlir.dialects.sdy.mesh import Mesh, sdy
from sdyopt.mlir.dialects.sdy.mesh_op import mesh_of
from sdyopt.mlir.dialects.sdy.reduction_kind import ReductionKind, reduction_attr
from sdyopt.mlir.dialects.sdy.sharding import DimensionSharding, ShardingOwner, TensorSharding
from sdyopt.mlir.dialects.sdy.sharding_checks import (
    AxisUses,
    check_sharding,
    check_unreduced_transition,
    introduces_sums,
)
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of, sharding_of, sharding_or_replicated
from sdyopt.mlir.ir.op_fields import attr, operand, operand_types, result
from sdyopt.mlir.ir.shape_traits import SAME_TYPE
from sdyopt.mlir.ir.traits import INFERS_TYPES, of_class

_WRONG_RESULT = ErrorKind(
    "result sharding doesn't match expected sharding [{axes}] on dimension {dim}",
    at="dimension {dim}",
    help="the collective produces `{{{axes}}}` here; write it, or change the axes of the collective",
)
_WRONG_AXIS = ErrorKind(
    "can't apply {word} axis {axis} to operand sharding on dimension {dim}",
    at="axes {dim}",
    help="the axes of the operand's dimension {dim} do not end with this axis",
)
_CHANGED_REDUCTION = ErrorKind(
    "cannot change reduction_op of existing unreduced axes",
    at="attribute unreduced",
    help="write the kind of reduction that the sharding of the operand has",
)


class CollectiveOp(ShardingOwner):
    """A collective. Its verifier compares `out_sharding` with the sharding of the operand."""

    tensor = operand(ANY_SHAPED)
    out_sharding = attr(SHARDING_ATTR)
    output = result(ANY_SHAPED)

    # Whether an operand without a sharding counts as fully replicated.
    allows_missing_sharding = False
    # Whether the result may have another mesh than the operand.
    allows_different_meshes = False

    infer_result_types = staticmethod(operand_types)

    def verify_in_context(self) -> None:
        """Checks the result's sharding, and that the operand has a sharding with the same mesh and rank.

        A subclass may allow an operand without a sharding, or with another mesh.
        """
        operand = sharding_of(self.tensor)
        if operand is None and not self.allows_missing_sharding:
            raise self.op_error("collective on operand without sharding")
        mesh = check_sharding(self, self.out_sharding, self.signature.result_types[0], self.op_error)
        if operand is None:
            return
        if not self.allows_different_meshes:
            is_same = operand.mesh_or_ref is self.out_sharding.mesh_or_ref
            operand_mesh = mesh if is_same else mesh_of(operand, self)
            if operand_mesh is not None and operand_mesh is not mesh:
                raise self.mesh_error("result mesh does not match operand mesh", operand_mesh)
        if self.out_sharding.rank != operand.rank:
            raise self.op_error(
                f"result sharding has rank {self.out_sharding.rank} but operand sharding has rank "
                f"{operand.rank}"
            )

    def verify_symbol_uses(self) -> None:
        """Checks the axes, once for equal collectives of operands with equal shardings."""
        valid = self.signature.cache.setdefault(CollectiveOp.verify_symbol_uses, set())
        operand, out = sharding_of(self.tensor), self.out_sharding
        key = operand, None if operand is None else mesh_of(operand, self), mesh_of(out, self)
        if key not in valid:
            self.verify_axes()
            valid.add(key)

    def verify_axes(self) -> None:
        """Checks the axes, by the signature, the sharding of the operand and the meshes only."""
        raise NotImplementedError

    def result_sharding(self, index: int) -> TensorSharding:
        return self.out_sharding

    @property
    def mesh(self) -> Mesh:
        """The mesh of the result's sharding, which must exist."""
        mesh = mesh_of(self.out_sharding, self)
        assert mesh is not None
        return mesh

    @property
    def operand_sharding(self) -> TensorSharding:
        """The sharding of the operand, which must have one."""
        sharding = sharding_of(self.tensor)
        assert sharding is not None
        return sharding

    def mesh_error(self, message: str, operand_mesh: Mesh) -> DiagnosticError:
        """An error with a note that shows the mesh of the operand."""
        return self.op_error(message).note(
            f"operand mesh: {plain_attribute(operand_mesh)}", self.tensor.location
        )

    def check_moves(self, params: AllToAllParams) -> None:
        rank = rank_of(self.signature.result_types[0])
        axis_uses, used_dims = AxisUses(self.mesh), set[int]()
        previous = -1
        for move in params:
            self._raise_if(axis_uses.list_problem(move.axes))
            for dim, word in ((move.source, "source"), (move.target, "target")):
                if not 0 <= dim < rank:
                    raise self.op_error(f"{word} dimension {dim} is out of range [0, {rank})")
            self._check_unused_dims(move, used_dims)
            if previous >= move.source:
                raise self.op_error(
                    f"source dimensions are not sorted in ascending order: {move.source} "
                    f"appears after {previous}"
                )
            previous = move.source

    def _check_unused_dims(self, move: AllToAllParam, used: set[int]) -> None:
        for dim in (move.source, move.target):
            if dim in used:
                raise self.op_error(f"overlapping source/target dimensions in all-to-all params: {dim}")
            used.add(dim)

    def check_axes_per_dim(self, axes: AxesPerDim, result_axes: _ResultAxes) -> None:
        out = self.out_sharding
        operand = sharding_or_replicated(self.tensor, out.mesh_or_ref)
        axis_uses = AxisUses(self.mesh)
        for dim_axes in axes:
            self._raise_if(axis_uses.list_problem(dim_axes))
        if out.rank != len(axes):
            raise self.op_error(
                f"result sharding has rank {out.rank} but collective axes has rank {len(axes)}"
            )
        if operand.rank != out.rank:  # only if the operand has no sharding and the mesh is maximal
            raise self.op_error(
                f"result sharding has rank {out.rank} but operand sharding has rank {operand.rank}"
            )
        for index, (dim, dim_axes) in enumerate(zip(operand.dims, axes, strict=True)):
            self.check_dim(index, result_axes(index, dim, dim_axes))

    def check_dim(self, index: int, expected: Sequence[AxisRef]) -> None:
        if expected != self.out_sharding.dims[index].axes:
            raise self.op_error(_WRONG_RESULT(axes=axis_refs_text(expected), dim=index))

    def without_suffix(
        self, index: int, dim: DimensionSharding, suffix: Sequence[AxisRef], word: str
    ) -> tuple[AxisRef, ...]:
        """The axes of a dimension without a suffix; raises DiagnosticError if they do not end in it."""
        axes = list(dim.axes)
        for axis in reversed(suffix):
            if not axes or not axis.is_suffix_of(axes[-1], self.mesh):
                raise self.op_error(_WRONG_AXIS(word=word, axis=axis_ref_text(axis), dim=index))
            prefix = axes.pop().prefix_without_overlap(axis)
            if prefix is not None:
                axes.append(prefix)
        return tuple(axes)

    def check_list(self, axes: AxisRefList, word: str) -> None:
        self._raise_if(AxisUses(self.mesh).sorted_list_problem(axes.axes, word))

    def check_no_overlap(self, word: str, axis: AxisRef, others: Iterable[AxisRef], what: str) -> None:
        if any(axis.overlaps(other) for other in others):
            raise self.op_error(f"{word} axis {axis_ref_text(axis)} overlaps with {what}")

    def _raise_if(self, problem: str | None) -> None:
        if problem is not None:
            raise self.op_error(problem)


# (index of a dimension, its sharding, axes of the collective) -> the axes of the result's dimension.
_ResultAxes = Callable[[int, DimensionSharding, Iterable[AxisRef]], tuple[AxisRef, ...]]


def check_gather(op: CollectiveOp, axes: AxesPerDim, word: str) -> None:
    """Checks that each dimension of the result has the operand's axes without the suffix in `axes`."""

    def result_axes(index: int, dim: DimensionSharding, axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
        return op.without_suffix(index, dim, tuple(axes), word)

    op.check_axes_per_dim(axes, result_axes)


def check_slice(op: CollectiveOp, axes: AxesPerDim) -> None:
    """Checks that each dimension of the result has the operand's axes followed by the axes in `axes`."""
    mesh = op.mesh
    op.check_axes_per_dim(axes, lambda index, dim, axes: with_axes(dim.axes, axes, mesh))


def check_reduction_of_unreduced(op: CollectiveOp) -> None:
    """Checks that the result has the reduction of the operand, if that has unreduced axes."""
    out, operand = op.out_sharding, op.operand_sharding
    if operand.unreduced_axes and operand.reduction is not out.reduction:
        raise op.op_error(_CHANGED_REDUCTION())


def check_reduction(op: CollectiveOp, kind: ReductionKind) -> None:
    """Checks that the result adds no unreduced axes, and that those it drops have this kind of reduction.

    Before jaxlib 0.11.2, nothing is checked if the result adds unreduced axes of sums to sums.
    """
    out = op.out_sharding
    operand = sharding_or_replicated(op.tensor, out.mesh_or_ref)
    if Behavior.NO_NEW_UNREDUCED_AXES.active or not introduces_sums(operand, out, op.mesh):
        check_unreduced_transition(op, (operand,), (out,), removed=kind)


def check_unreduced(op: CollectiveOp, axes: Iterable[AxisRef], words: str) -> None:
    """Checks that the unreduced axes of the result are those of the operand and `axes`."""
    expected = sorted_and_merged(chain(op.operand_sharding.unreduced_axes, axes), op.mesh)
    if expected != op.out_sharding.unreduced_axes:
        raise op.op_error(f"out_unreduced_axes should be in_unreduced_axes + {words}")


def check_replicated_to_unreduced(op: CollectiveOp, axes: AxisRefList) -> None:
    """Checks that replicated axes become unreduced, and that dimension shardings do not change."""
    operand = op.operand_sharding
    if operand.dims != op.out_sharding.dims:
        raise op.op_error("input and output must share the same dimension shardings")
    if not axes:
        raise op.op_error("r2u axes must not be empty")
    op.check_list(axes, "r2u")
    dim_axes = [axis for dim in operand.dims for axis in dim.axes]
    for axis in axes:
        op.check_no_overlap("r2u", axis, dim_axes, "operand dimension sharding")
        op.check_no_overlap("r2u", axis, operand.unreduced_axes, "operand unreduced axes")
    check_unreduced(op, axes, "r2u_axes")


def check_all_reduce(op: CollectiveOp, axes: AxisRefList) -> None:
    """Checks that dimension shardings do not change, and that reduced axes have no other use.

    A reduced axis must not shard or replicate the operand, and the result must not be unreduced along it.
    """
    out = op.out_sharding
    operand = sharding_or_replicated(op.tensor, out.mesh_or_ref)
    if not operand.shards_like(out):
        raise op.op_error("operand and result shardings are not equivalent")
    op.check_list(axes, "reduction")
    used = [axis for dim in operand.dims for axis in dim.axes] + list(operand.replicated_axes)
    for axis in axes:
        words = "operand dimension sharding or replicated axes"
        op.check_no_overlap("reduction", axis, used, words)
        op.check_no_overlap("reduction", axis, out.unreduced_axes, "result unreduced axes")


def check_permute(op: CollectiveOp) -> None:
    """Checks that sharded sizes do not change, and that another mesh differs in device ids only."""
    operand, out = op.operand_sharding, op.out_sharding
    mesh, operand_mesh = op.mesh, mesh_of(operand, op)
    assert operand_mesh is not None
    if mesh.axes != operand_mesh.axes:
        raise op.mesh_error("result mesh has different axes than operand mesh", operand_mesh)
    if operand.mesh_or_ref is not out.mesh_or_ref and mesh.device_ids == operand_mesh.device_ids:
        raise op.mesh_error("result mesh name is different but same device ids as operand", operand_mesh)
    for index, (before, after) in enumerate(zip(operand.dims, out.dims, strict=True)):
        if before.axes != after.axes and before.sharded_size(mesh) != after.sharded_size(mesh):
            raise op.op_error(
                f"sharded size of result doesn't match operand on dimension {index}: "
                f"{after.sharded_size(mesh)} != {before.sharded_size(mesh)}"
            )


def check_all_to_all(op: CollectiveOp, params: AllToAllParams) -> None:
    """Checks that axes move from source to target dimensions, and that other dimensions do not change."""
    if not params:
        raise op.op_error("parameter list is empty")
    op.check_moves(params)
    operand, mesh = op.operand_sharding, op.mesh
    for move in params:
        source = op.without_suffix(move.source, operand.dims[move.source], move.axes, "all-to-all")
        op.check_dim(move.source, source)
        op.check_dim(move.target, with_axes(operand.dims[move.target].axes, move.axes, mesh))
    for index, dim in enumerate(operand.dims):
        if index not in params.source_and_target_dims:
            op.check_dim(index, dim.axes)


# --- Helpers --------------------------------------------------------------------------------------


_AXES = of_class(AxisRefList, "List of axis refs")
_AXES_PER_DIM = of_class(AxesPerDim, "List of axis ref lists")
_ALL_TO_ALL_PARAMS = of_class(AllToAllParams, "List of all-to-all parameters")


def _assembly(before: str) -> Assembly:
    """`parameter %tensor out_sharding=<…> {…} : type`."""
    return assembly(
        f"{before} $tensor custom<Named>($out_sharding) attr-dict `:` "
        "custom<ConstrainedType>($output, $tensor)"
    )


@sdy.op("all_gather", SAME_TYPE, INFERS_TYPES)
class AllGatherOp(CollectiveOp):
    """Gathers the chunks of a tensor along axes, which no longer shard the result."""

    gathering_axes = attr(_AXES_PER_DIM)

    assembly = _assembly("$gathering_axes")

    def verify_axes(self) -> None:
        check_gather(self, self.gathering_axes, "gathering")


@sdy.op("all_slice", SAME_TYPE, INFERS_TYPES)
class AllSliceOp(CollectiveOp):
    """Slices a tensor along axes, which shard the result, without communication."""

    slicing_axes = attr(_AXES_PER_DIM)

    allows_missing_sharding = True
    assembly = _assembly("$slicing_axes")

    def verify_axes(self) -> None:
        check_slice(self, self.slicing_axes)


@sdy.op("all_to_all", SAME_TYPE, INFERS_TYPES)
class AllToAllOp(CollectiveOp):
    """Moves axes from dimensions to other dimensions."""

    params = attr(_ALL_TO_ALL_PARAMS)

    assembly = _assembly("$params")

    def verify_axes(self) -> None:
        check_all_to_all(self, self.params)


@sdy.op("collective_permute", SAME_TYPE, INFERS_TYPES)
class CollectivePermuteOp(CollectiveOp):
    """Permutes the chunks of a tensor between devices: each dimension keeps its sharded size, but its axes,
    their order or the device order of the mesh may change."""

    allows_different_meshes = True
    assembly = _assembly("")

    def verify_axes(self) -> None:
        check_permute(self)


@sdy.op("all_reduce", SAME_TYPE, INFERS_TYPES)
class AllReduceOp(CollectiveOp):
    """Reduces the chunks of a tensor along axes: sums them, or takes the maximum or minimum."""

    reduction_axes = attr(_AXES)
    reduction_op = reduction_attr()

    allows_missing_sharding = True
    assembly = _assembly("custom<OptionalReduction>($reduction_op) $reduction_axes")

    def verify_axes(self) -> None:
        check_all_reduce(self, self.reduction_axes)
        check_reduction(self, self.reduction_op)


@sdy.op("reduce_scatter", SAME_TYPE, INFERS_TYPES)
class ReduceScatterOp(CollectiveOp):
    """Reduces the chunks of a tensor along axes, which shard the result."""

    reduce_scatter_axes = attr(_AXES_PER_DIM)
    reduction_op = reduction_attr()

    allows_missing_sharding = True
    assembly = _assembly("custom<OptionalReduction>($reduction_op) $reduce_scatter_axes")

    def verify_axes(self) -> None:
        check_reduction(self, self.reduction_op)
        check_slice(self, self.reduce_scatter_axes)


@sdy.op("sharded_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ShardedToUnreducedOp(CollectiveOp):
    """Pads each chunk with zeros, so that axes that shard a dimension become unreduced axes."""

    axes = attr(_AXES_PER_DIM)

    assembly = _assembly("$axes")

    def verify_axes(self) -> None:
        check_reduction_of_unreduced(self)
        check_gather(self, self.axes, "shard-to-unreduce")
        check_unreduced(self, self.axes.axes, "sharded_to_unreduced_axes")


@sdy.op("replicated_to_unreduced", SAME_TYPE, INFERS_TYPES)
class ReplicatedToUnreducedOp(CollectiveOp):
    """Keeps one replica and sets the others to zero, so that replicated axes become unreduced axes."""

    axes = attr(_AXES)

    assembly = _assembly("$axes")

    def verify_axes(self) -> None:
        check_reduction_of_unreduced(self)
        check_replicated_to_unreduced(self, self.axes)

"""test-mesh-simplifications: simplify collectives and fold mesh-shape queries.

    %0 = mesh.all_reduce %a on @grid mesh_axes = [0] : tensor<8xf32> -> tensor<8xf32>
    %1 = mesh.all_reduce %b on @grid mesh_axes = [0] : tensor<8xf32> -> tensor<8xf32>
    %2 = arith.addf %0, %1 : tensor<8xf32>
becomes
    %0 = arith.addf %a, %b : tensor<8xf32>
    %1 = mesh.all_reduce %0 on @grid mesh_axes = [0] : tensor<8xf32> -> tensor<8xf32>

An all-reduce sinks below an elementwise operation that it commutes with: a sum below additions, a
minimum below minima, a maximum below maxima. All operands must be reduced in the same way, keep their
element type and have no other use. Static mesh sizes fold to constants; each mesh_shape operation then
queries only its dynamic sizes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.mlir.dialects.affine import DelinearizeIndex21Op
from sdyopt.mlir.dialects.arith import floats, integers
from sdyopt.mlir.dialects.arith.compare import make_constant
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.mesh.attributes import ReductionKind, axes_attribute
from sdyopt.mlir.dialects.mesh.collectives import AllReduceOp
from sdyopt.mlir.dialects.mesh.mesh_op import MeshShapeOp, find_mesh
from sdyopt.mlir.ir.builtin_attributes import integer
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, INDEX, element_of
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

# The reduction that each operation commutes with.
REDUCTIONS: dict[type[Op], ReductionKind] = {
    floats.AddFOp: ReductionKind.SUM,
    integers.AddIOp: ReductionKind.SUM,
    floats.MinimumFOp: ReductionKind.MIN,
    integers.MinSIOp: ReductionKind.MIN,
    integers.MinUIOp: ReductionKind.MIN,
    floats.MaximumFOp: ReductionKind.MAX,
    integers.MaxSIOp: ReductionKind.MAX,
    integers.MaxUIOp: ReductionKind.MAX,
}


def _sink_all_reduce(op: Op, rewriter: Rewriter) -> bool:
    """`op(all_reduce(a), all_reduce(b))` becomes `all_reduce(op(a, b))`."""
    kind = REDUCTIONS[type(op)]
    all_reduces = [value.defining_op for value in op.operands]
    first = all_reduces[0]
    if not all(_is_sinkable(reduce, kind) for reduce in all_reduces) or first is None:
        return False
    if any(not _is_same_reduction(first, reduce) for reduce in all_reduces):
        return False
    inner = rewriter.clone(op)
    rewriter.insert(inner, before=op)
    for use, reduce in zip(inner.operand_uses, all_reduces, strict=True):
        assert reduce is not None
        rewriter.set_operand(use, reduce.operand_at(0))
    reduced = rewriter.clone(first, {first.operand_at(0): inner.results[0]})
    rewriter.insert(reduced, before=op)
    rewriter.replace(op, reduced)
    return True


def _is_sinkable(op: Op | None, kind: ReductionKind) -> bool:
    if not isinstance(op, AllReduceOp) or op.reduction is not kind or not op.results[0].has_one_use:
        return False
    # An all-reduce may convert its elements; then it does not commute.
    return element_of(op.operand_types[0]) is element_of(op.result_types[0])


def _is_same_reduction(first: Op, other: Op | None) -> bool:
    return (
        other is not None
        and first.signature.attributes is other.signature.attributes
        and first.attributes is other.attributes
        and element_of(first.operand_types[0]) is element_of(other.operand_types[0])
    )


def _fold_static_sizes(op: MeshShapeOp, rewriter: Rewriter) -> bool:
    """Replaces static sizes with constants."""
    mesh_op = find_mesh(op, op.mesh)
    axes = op.axes or tuple(range(mesh_op.rank))
    dynamic = [axis for axis in axes if mesh_op.shape[axis] == DYNAMIC]
    if len(dynamic) == len(axes):
        return False
    values: dict[int, Value] = {}
    for axis in axes:
        if axis not in dynamic:
            constant = make_constant(integer(mesh_op.shape[axis], INDEX), INDEX, op.location)
            assert constant is not None
            rewriter.insert(constant, before=op)
            values[axis] = constant.results[0]
    if dynamic:
        mesh = type(op).mesh.name
        attributes = {mesh: op.signature.attributes[mesh], "axes": axes_attribute(tuple(dynamic))}
        query = rewriter.create(
            type(op), (), [INDEX] * len(dynamic), attributes, before=op, location=op.location
        )
        values.update(zip(dynamic, query.results, strict=True))
    rewriter.replace(op, [values[axis] for axis in axes])
    return True


_SINK_ALL_REDUCE = (Pattern(_sink_all_reduce),)
_FOLD_STATIC_SIZES = (Pattern(_fold_static_sizes),)


def simplifications(op_class: type[Op]) -> Sequence[Pattern]:
    """The patterns of this pass for a class of operations."""
    if op_class in REDUCTIONS:
        return _SINK_ALL_REDUCE
    if issubclass(op_class, DelinearizeIndex21Op):
        return (op_class.folding,)
    return _FOLD_STATIC_SIZES if issubclass(op_class, MeshShapeOp) else ()


@register("test-mesh-simplifications")
class TestMeshSimplifications(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(module, simplifications)
        return changed


@register("test-grid-simplifications")
class TestShardSimplificationsPass(TestMeshSimplifications):
    """test-grid-simplifications: test-mesh-simplifications, as LLVM 22 names it.

    With `--mesh-version=22`.
    """

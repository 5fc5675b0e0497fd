"""test-mesh-all-slice-op-lowering: lower mesh.all_slice to tensor.extract_slice.

    %1 = mesh.all_slice %0 on @grid mesh_axes = [0] slice_axis = 0 : tensor<8xf32> -> tensor<2xf32>
becomes
    %index = mesh.process_multi_index on @grid axes = [0] : index
    %count = mesh.mesh_shape @grid axes = [0] : index
    … an assertion that 8 is divisible by %count …
    %size = arith.divui %c8, %count : index
    %offset = arith.muli %index, %size : index
    %slice = tensor.extract_slice %0[%offset] [%size] [1] : tensor<8xf32> to tensor<?xf32>
    %1 = tensor.cast %slice : tensor<?xf32> to tensor<2xf32>

Slicing needs no communication. If the mesh and tensor shapes are static, test-mesh-simplifications and
canonicalize then fold the assertion and all sizes.
"""

from __future__ import annotations

from sdyopt.mlir.dialects.arith.compare import CmpIOp, predicate_attr
from sdyopt.mlir.dialects.arith.integers import DivUIOp, MulIOp, RemUIOp
from sdyopt.mlir.dialects.builtin import ModuleOp
from sdyopt.mlir.dialects.cf import AssertOp
from sdyopt.mlir.dialects.mesh.attributes import mesh_word
from sdyopt.mlir.dialects.mesh.collectives import AllSliceOp
from sdyopt.mlir.dialects.mesh.mesh_op import MeshShapeOp, ProcessMultiIndexOp
from sdyopt.mlir.dialects.tensor.slices import extract
from sdyopt.mlir.dialects.tensor.values import CastOp, DimOp, Mixed
from sdyopt.mlir.ir.attribute import SymbolRef, string
from sdyopt.mlir.ir.patterns import Pattern, apply_greedily
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import DYNAMIC, I1, RankedTensor
from sdyopt.mlir.ir.value import Value
from sdyopt.mlir.pipeline import Pass
from sdyopt.mlir.registry import register

from .spmd.index_builder import IndexBuilder

_NOT_DIVISIBLE = (
    "Slicing a tensor with axis size that is not exactly divisible by the {} process group size is not "
    "supported."
)


def _lower(op: AllSliceOp, rewriter: Rewriter) -> bool:
    builder = IndexBuilder(rewriter, op.location, before=op)
    value = _slice(op, rewriter, builder) if op.mesh_axes else op.input
    if value.type is not op.result_types[0]:
        value = builder.create(CastOp, [value], op.result_types[0])
    rewriter.replace(op, [value])
    return True


def _slice(op: AllSliceOp, rewriter: Rewriter, builder: IndexBuilder) -> Value:
    """The slice of the operand that belongs to the device, with a dynamic shape."""
    mesh, slice_axis = SymbolRef(op.mesh), op.slice_axis
    zero = builder.index(0)
    indices = builder.query(ProcessMultiIndexOp, op.dialect, mesh, op.mesh_axes)
    sizes = builder.query(MeshShapeOp, op.dialect, mesh, op.mesh_axes)
    count = builder.product(builder.query(MeshShapeOp, op.dialect, mesh, op.mesh_axes))
    size = _dimension_size(op, builder, slice_axis)
    remainder = builder.create(RemUIOp, [size, count])
    is_divisible = builder.create(CmpIOp, [remainder, zero], I1, {"predicate": predicate_attr("eq")})
    message = string(_NOT_DIVISIBLE.format(mesh_word(op.dialect_name)))
    rewriter.create(AssertOp, [is_divisible], (), {"msg": message}, before=op, location=op.location)
    slice_size = builder.create(DivUIOp, [size, count])
    position = builder.linear_index(indices, sizes)
    type = op.input.type
    assert isinstance(type, RankedTensor)
    slice_sizes: Mixed = [
        slice_size if dimension == slice_axis else _dimension_size(op, builder, dimension)
        for dimension in range(type.rank)
    ]
    offsets: Mixed = [0] * type.rank
    offsets[slice_axis] = builder.create(MulIOp, [position, slice_size])
    dynamic = RankedTensor((DYNAMIC,) * type.rank, type.element, type.encoding)
    extracted = extract(rewriter, op.input, offsets, slice_sizes, [1] * type.rank, dynamic, op)
    return extracted.results[0]


def _dimension_size(op: AllSliceOp, builder: IndexBuilder, dimension: int) -> Value:
    """The size of a dimension of the operand."""
    type = op.input.type
    assert isinstance(type, RankedTensor)
    size = type.shape[dimension]
    if size != DYNAMIC:
        return builder.index(size)
    return builder.create(DimOp, [op.input, builder.index(dimension)])


_PATTERNS = (Pattern(_lower),)


@register("test-mesh-all-slice-op-lowering")
class TestMeshAllSliceOpLowering(Pass):
    def run(self, module: ModuleOp) -> bool:
        changed, _ = apply_greedily(
            module, lambda op_class: _PATTERNS if issubclass(op_class, AllSliceOp) else ()
        )
        return changed


@register("test-grid-all-slice-op-lowering")
class TestAllSliceOpLoweringPass(TestMeshAllSliceOpLowering):
    """test-grid-all-slice-op-lowering: test-mesh-all-slice-op-lowering, as LLVM 22 names it.

    With `--mesh-version=22`.
    """

"""chlo.top_k."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.dialects.chlo.dialect import chlo
from sdyopt.mlir.dialects.stablehlo.type_compatibility import INFERS_COMPATIBLE_TYPES
from sdyopt.mlir.dialects.stablehlo.types import ANY_TENSOR, bounds_of, encoding_with
from sdyopt.mlir.ir import op_fields
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import TRUE
from sdyopt.mlir.ir.constraints import BOOL_ATTR, I64_ATTR
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.ir.types import DYNAMIC, I32, RankedTensor, Type, UnrankedTensor

_TYPES = (
    "attr-dict `:` custom<AnyTensorType>($operand) `->` `(` custom<AnyTensorType>($values) `,` "
    "custom<AnyTensorType>($indices) `)`"
)


@chlo.op("top_k", PURE, INFERS_COMPATIBLE_TYPES)
class TopKOp(Op):
    """The k largest elements along the last dimension, and their indices."""

    operand = op_fields.operand(ANY_TENSOR)
    k = op_fields.attr(I64_ATTR)
    is_stable = op_fields.default_valued_optional_attr(BOOL_ATTR, TRUE).since(Behavior.UNSTABLE_TOP_K)
    values = op_fields.result(ANY_TENSOR)
    indices = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        "`(` $operand `,` `k` `=` custom<Integer>($k) (`,` `is_stable` `=` custom<Bool>($is_stable)^)? `)` "
        f"{_TYPES}",
        since=Behavior.UNSTABLE_TOP_K,
        before=assembly(f"`(` $operand `,` `k` `=` custom<Integer>($k) `)` {_TYPES}"),
    )

    @staticmethod
    def infer_result_types(signature: OpSignature, regions: Sequence[Region]) -> list[Type]:
        operand, k = signature[TopKOp.operand], signature[TopKOp.k]
        if not isinstance(operand, RankedTensor):
            return [UnrankedTensor(operand.element), UnrankedTensor(I32)]
        if operand.rank < 1:
            raise signature.error_without_op_note("operand's rank must be at least 1")
        if operand.shape[-1] != DYNAMIC and operand.shape[-1] < k:
            raise signature.error_without_op_note(f"operand's last dimension must be at least {k}")
        bounds = bounds_of(operand)
        encoding = encoding_with(operand.encoding, (*bounds[:-1], DYNAMIC) if bounds else ())
        shape = (*operand.shape[:-1], k)
        return [RankedTensor(shape, element, encoding) for element in (operand.element, I32)]

    def name_results(self) -> list[tuple[int, str]]:
        return [(0, "values"), (1, "indices")]

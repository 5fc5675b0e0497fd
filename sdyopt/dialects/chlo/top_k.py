"""chlo.top_k."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.asm.format.assembly_format import AttrDict, Operand, assembly
from sdyopt.dialects.chlo.assembly_directives import AnyTensorTypeOf
from sdyopt.dialects.chlo.dialect import chlo
from sdyopt.dialects.stablehlo.assembly_directives import integer_attr
from sdyopt.dialects.stablehlo.bounds import bounds_of, encoding_with
from sdyopt.dialects.stablehlo.traits import INFERS_COMPATIBLE_TYPES
from sdyopt.dialects.stablehlo.types import ANY_TENSOR
from sdyopt.ir import op_fields
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ATTR
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import PURE
from sdyopt.ir.types import DYNAMIC, I32, RankedTensor, Type, UnrankedTensor


@chlo.op("top_k", PURE, INFERS_COMPATIBLE_TYPES)
class TopKOp(Op):
    """The k largest elements along the last dimension, and their indices."""

    __slots__ = ()

    operand = op_fields.operand(ANY_TENSOR)
    k = op_fields.attr(I64_ATTR)
    values = op_fields.result(ANY_TENSOR)
    indices = op_fields.result(ANY_TENSOR)

    assembly = assembly(
        *("(", Operand("operand"), ",", "k", "=", integer_attr("k"), ")", AttrDict(), ":"),
        *(
            AnyTensorTypeOf("operand"),
            "->",
            "(",
            AnyTensorTypeOf("values"),
            ",",
            AnyTensorTypeOf("indices"),
            ")",
        ),
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

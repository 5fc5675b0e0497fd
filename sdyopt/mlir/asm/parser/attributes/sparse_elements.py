"""Semantic actions of `sparse<indices, values>`."""

from __future__ import annotations

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.asm.parser.attributes.dense_elements import elements_attribute, static_shape
from sdyopt.mlir.asm.parser.attributes.element_literals import ElementList, ElementParser
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext, Parts, action
from sdyopt.mlir.ir.attribute import Attribute
from sdyopt.mlir.ir.builtin_attributes import (
    DenseElements,
    DenseStringElements,
    SparseElements,
)
from sdyopt.mlir.ir.types import I64, RankedShapedType, RankedTensor, Type, tensor


@dataclass(frozen=True, slots=True)
class SparseLiteral:
    """`sparse<indices, values>`; `offset` is that of `sparse`, `text_offset` that of the indices."""

    indices: ElementList
    values: ElementList
    offset: int
    text_offset: int

    def attribute_of(self, context: ActionContext, type: Type | None) -> Attribute:
        if type is None:
            raise context.wrong_token_error("expected ':'", context.next_offset)
        return self._attribute_of(context, static_shape(context, type, self.offset))

    def _attribute_of(self, context: ActionContext, type: RankedShapedType) -> SparseElements:
        values = self.values
        indices = self.indices if self.indices.texts else ElementList((0, type.rank))
        indices_type = tensor(indices.shape or (1, type.rank), I64)
        values_type = tensor(values.shape or (indices_type.shape[0],), type.element)
        index_elements = elements_attribute(context, indices, indices_type, self.text_offset)
        value_elements = elements_attribute(context, values, values_type, self.text_offset)
        assert isinstance(index_elements, DenseElements)
        assert isinstance(value_elements, DenseElements | DenseStringElements)
        self._check_shapes(context, indices_type, values_type, type)
        self._check_indices(context, index_elements, type)
        return SparseElements(type, index_elements, value_elements)

    def _check_shapes(
        self, context: ActionContext, indices: RankedTensor, values: RankedTensor, type: RankedShapedType
    ) -> None:
        is_vector = indices.rank == 1 and type.rank == 1
        is_matrix = indices.rank == 2 and indices.shape[1] == type.rank
        if (is_vector or is_matrix) and values.rank == 1 and values.shape[0] == indices.shape[0]:
            return
        shapes = [", ".join(map(str, shaped.shape)) for shaped in (type, indices, values)]
        raise context.error(
            f"expected shape ([{shapes[0]}]); inferred shape of indices literal ([{shapes[1]}]); "
            f"inferred shape of values literal ([{shapes[2]}])",
            self.offset,
        )

    def _check_indices(self, context: ActionContext, indices: DenseElements, type: RankedShapedType) -> None:
        numbers = memoryview(indices.expanded).cast("q").tolist()
        for row in range(indices.type.shape[0]):
            index = numbers[row * type.rank : (row + 1) * type.rank]
            if any(not 0 <= number < size for number, size in zip(index, type.shape, strict=False)):
                shown = ", ".join(map(str, index))
                message = f"sparse index #{row} is not contained within the value shape"
                raise context.error_with_type(
                    f"{message}, with index=[{shown}], and type=", type, self.offset
                )


@action("sparse_elements")
def _sparse_elements(
    context: ActionContext, parts: Parts, offsets: list[int]
) -> tuple[ElementList, ElementList]:
    if not parts[0].strip():
        return ElementList((0,)), ElementList((0,))
    element_parser = ElementParser(context, parts[0], offsets[0])
    indices = element_parser.elements()
    element_parser.expect(",", "expected ','")
    values = element_parser.elements()
    element_parser.expect_end("expected '>'")
    return indices, values


@action("sparse")
def _sparse(_context: ActionContext, parts: Parts, offsets: list[int]) -> SparseLiteral:
    indices, values = parts[2]
    return SparseLiteral(indices, values, offsets[0], offsets[2])

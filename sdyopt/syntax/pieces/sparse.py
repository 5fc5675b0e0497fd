"""Reading `sparse<indices, values>`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sdyopt.ir.attribute import Attribute
from sdyopt.ir.elements_attributes import (
    DenseElements,
    DenseShape,
    DenseStringElements,
    SparseElements,
)
from sdyopt.ir.types import I64, RankedTensor, Type, tensor
from sdyopt.syntax.pieces.element_list import ElementList, Scanner
from sdyopt.syntax.pieces.elements import elements_of, static_shape
from sdyopt.syntax.pieces.reader import Reader, action


@dataclass(frozen=True, slots=True)
class SparseLiteral:
    """`sparse<indices, values>`."""

    indices: ElementList
    values: ElementList
    place: int
    text_place: int

    def attribute_of(self, reader: Reader, type: Type | None) -> Attribute:
        if type is None:
            raise reader.misplaced("expected ':'", reader.following)
        shaped = static_shape(reader, type, self.place)
        return self._of_lists(reader, self.indices, self.values, shaped)

    def _of_lists(
        self, reader: Reader, indices: ElementList, values: ElementList, type: DenseShape
    ) -> SparseElements:
        if not indices.texts:
            indices = ElementList((0, type.rank))
        indices_type = tensor(indices.shape or (1, type.rank), I64)
        values_type = tensor(values.shape or (indices_type.shape[0],), type.element)
        index_elements = elements_of(reader, indices, indices_type, self.text_place)
        value_elements = elements_of(reader, values, values_type, self.text_place)
        assert isinstance(index_elements, DenseElements)
        assert isinstance(value_elements, DenseElements | DenseStringElements)
        self._check_shapes(reader, indices_type, values_type, type)
        self._check_indices(reader, index_elements, type)
        return SparseElements(type, index_elements, value_elements)

    def _check_shapes(
        self, reader: Reader, indices: RankedTensor, values: RankedTensor, type: DenseShape
    ) -> None:
        is_vector = indices.rank == 1 and type.rank == 1
        is_matrix = indices.rank == 2 and indices.shape[1] == type.rank
        if (is_vector or is_matrix) and values.rank == 1 and values.shape[0] == indices.shape[0]:
            return
        shapes = [", ".join(map(str, shaped.shape)) for shaped in (type, indices, values)]
        raise reader.error(
            f"expected shape ([{shapes[0]}]); inferred shape of indices literal ([{shapes[1]}]); "
            f"inferred shape of values literal ([{shapes[2]}])",
            self.place,
        )

    def _check_indices(self, reader: Reader, indices: DenseElements, type: DenseShape) -> None:
        numbers = memoryview(indices.expanded).cast("q").tolist()
        for row in range(indices.type.shape[0]):
            index = numbers[row * type.rank : (row + 1) * type.rank]
            if any(not 0 <= number < size for number, size in zip(index, type.shape, strict=False)):
                shown = ", ".join(map(str, index))
                where = f"sparse index #{row} is not contained within the value shape"
                raise reader.error_with_type(f"{where}, with index=[{shown}], and type=", type, self.place)


@action("sparse_elements")
def _sparse_elements(reader: Reader, parts: list[Any], places: list[int]) -> tuple[ElementList, ElementList]:
    if not parts[0].strip():
        return ElementList((0,)), ElementList((0,))
    scanner = Scanner(reader, parts[0], places[0])
    indices = scanner.elements()
    scanner.expect(",", "expected ','")
    values = scanner.elements()
    scanner.expect_end("expected '>'")
    return indices, values


@action("sparse")
def _sparse(_reader: Reader, parts: list[Any], places: list[int]) -> SparseLiteral:
    indices, values = parts[2]
    return SparseLiteral(indices, values, places[0], places[2])

"""The texts of the builtin types, as MLIR prints them."""

from __future__ import annotations

from sdyopt.asm.printer.print_functions import Parts, comma_separated, dialect_symbol, prints, short_text
from sdyopt.ir.attribute import Attribute
from sdyopt.ir.types import (
    DYNAMIC,
    ComplexType,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneType,
    OpaqueType,
    RankedTensor,
    TupleType,
    UnrankedMemRef,
    UnrankedTensor,
    VectorType,
)


@prints(IntegerType)
def _integer_type(_attribute_printer: object, type: IntegerType) -> Parts:
    return [f"{type.signedness.value}i{type.width}"]


@prints(FloatType)
def _float_type(_attribute_printer: object, type: FloatType) -> Parts:
    return [type.name]


@prints(IndexType)
def _index_type(_attribute_printer: object, _type: IndexType) -> Parts:
    return ["index"]


@prints(NoneType)
def _none_type(_attribute_printer: object, _type: NoneType) -> Parts:
    return ["none"]


@prints(ComplexType)
def _complex_type(_attribute_printer: object, type: ComplexType) -> Parts:
    return ["complex<", type.element, ">"]


@prints(TupleType)
def _tuple_type(_attribute_printer: object, type: TupleType) -> Parts:
    return ["tuple<", *comma_separated(type.types), ">"]


@prints(FunctionType)
def _function_type(_attribute_printer: object, type: FunctionType) -> Parts:
    parts = ["(", *comma_separated(type.inputs), ") -> "]
    if len(type.results) == 1 and not isinstance(type.results[0], FunctionType):
        return [*parts, type.results[0]]
    return [*parts, "(", *comma_separated(type.results), ")"]


@prints(RankedTensor)
def _ranked_tensor(_attribute_printer: object, type: RankedTensor) -> Parts:
    encoding: Parts = [] if type.encoding is None else [", ", type.encoding]
    return [f"tensor<{_dimensions(type.shape)}", type.element, *encoding, ">"]


@prints(UnrankedTensor)
def _unranked_tensor(_attribute_printer: object, type: UnrankedTensor) -> Parts:
    return ["tensor<*x", type.element, ">"]


@prints(VectorType)
def _vector_type(_attribute_printer: object, type: VectorType) -> Parts:
    sizes = zip(type.shape, type.scalable, strict=True)
    dimensions = "".join(f"[{size}]x" if is_scalable else f"{size}x" for size, is_scalable in sizes)
    return [f"vector<{dimensions}", type.element, ">"]


@prints(MemRefType)
def _memref_type(_attribute_printer: object, type: MemRefType) -> Parts:
    layout: Parts = [] if type.layout is None else [", ", type.layout]
    return [
        f"memref<{_dimensions(type.shape)}",
        type.element,
        *layout,
        *_memory_space(type.memory_space),
        ">",
    ]


@prints(UnrankedMemRef)
def _unranked_memref(_attribute_printer: object, type: UnrankedMemRef) -> Parts:
    return ["memref<*x", type.element, *_memory_space(type.memory_space), ">"]


@prints(OpaqueType)
def _opaque_type(_attribute_printer: object, type: OpaqueType) -> Parts:
    return [dialect_symbol("!", type.namespace, type.body)]


def _dimensions(shape: tuple[int, ...]) -> str:
    return "".join(["?x" if size == DYNAMIC else f"{size}x" for size in shape])


def _memory_space(space: Attribute | None) -> Parts:
    if space is None:
        return []
    return [", ", short_text(space) or space]

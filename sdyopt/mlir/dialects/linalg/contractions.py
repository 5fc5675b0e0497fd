"""Named operations that combine an accumulator with products or elements: matmul, convolutions, pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.linalg.bodies import cast, combine
from sdyopt.mlir.dialects.linalg.generic import KeywordAttr, keyword_attribute
from sdyopt.mlir.dialects.linalg.structured import (
    INDEXING_MAPS,
    MAPS,
    NamedOp,
    linalg,
    make_body,
    parse_implied_body,
    parse_operands,
    parse_result_types,
    print_operands,
    result_types,
)
from sdyopt.mlir.ir.affine import AffineDim, AffineMapAttr
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, array
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.constraints import AttrConstraint, of_class
from sdyopt.mlir.ir.op_fields import AttrField, attr, optional_attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE
from sdyopt.mlir.ir.types import I64, Type
from sdyopt.mlir.ir.value import Value

BuildBody = Callable[[Block, list[Value]], Value]


@keyword_attribute("type_fn", "::mlir::linalg::TypeFn", "cast_signed", "cast_unsigned")
class TypeFn(KeywordAttr):
    """`#linalg.type_fn<cast_unsigned>`: how integers are converted."""


TYPE_FN = of_class(TypeFn, "allowed 32-bit signless integer cases: 0, 1")


# --- Bodies -------------------------------------------------------------------------------------


def _product(is_unsigned: bool) -> BuildBody:
    """`accumulator + lhs * rhs`."""

    def build(block: Block, values: list[Value]) -> Value:
        *factors, accumulator = values
        lhs, rhs = [cast(block, value, accumulator.type, is_unsigned) for value in factors]
        return combine(block, "add", accumulator, combine(block, "mul", lhs, rhs))

    return build


def _quantized_product(block: Block, values: list[Value]) -> Value:
    """`accumulator + (lhs - lhs_zero) * (rhs - rhs_zero)`."""
    lhs, rhs, lhs_zero, rhs_zero, accumulator = values
    factors = [
        combine(block, "sub", cast(block, value, accumulator.type), cast(block, zero, accumulator.type))
        for value, zero in ((lhs, lhs_zero), (rhs, rhs_zero))
    ]
    return combine(block, "add", accumulator, combine(block, "mul", *factors))


def _pooling(function: str) -> BuildBody:
    """The accumulator and an element; the second input has the shape of the window only."""

    def build(block: Block, values: list[Value]) -> Value:
        element, _, accumulator = values
        converted = cast(block, element, accumulator.type, function.endswith("_unsigned"))
        return combine(block, function, accumulator, converted)

    return build


_POOLING = {
    name: _pooling(function)
    for name, function in (
        ("sum", "add"),
        ("max", "max_signed"),
        ("min", "min_signed"),
        ("max_unsigned", "max_unsigned"),
        ("min_unsigned", "min_unsigned"),
    )
}


# --- matmul and contract ------------------------------------------------------------------------


def parse_with_maps(op_parser: OpAsmParser) -> None:
    op_class = op_parser.op_class
    assert issubclass(op_class, NamedOp)
    offset = op_parser.skip_trivia()
    if op_class.takes_maps(op_parser):
        op_parser.expect("=")
        maps = op_parser.attributes["indexing_maps"] = op_parser.attribute()
        if not MAPS.accepts(maps):
            raise op_parser.error("element of indexing_maps array is not an affine_map")
    op_parser.check_attributes(op_parser.attribute_dictionary(), offset)
    parse_operands(op_parser)
    op_parser.types["results_"] = parse_result_types(op_parser)
    parse_implied_body(op_parser, offset)


def print_with_maps(op: NamedOp, printer: OpAsmPrinter) -> None:
    for name in op.printed_first:
        value = op.signature.attributes.get(name)
        is_default = isinstance(value, ArrayAttr) and list(value.elements) == op.maps_by_default()
        if value is not None and not is_default:
            sign = "=" if name == "kind" else " = "
            printer.write(f" {name}{sign}{printer.attribute(value)}")
    printer.attribute_dictionary(op, INDEXING_MAPS, *op.printed_first)
    print_operands(op, printer)
    if op.results:
        printer.write(f" -> {result_types(op, printer)}")


class ContractionOp(NamedOp):
    """Base of the products of two tensors, whose dimensions indexing maps may permute or repeat."""

    indexing_maps = optional_attr(MAPS)
    cast = optional_attr(TYPE_FN)

    body_arguments = 3
    printed_first = ("indexing_maps",)
    # The dimensions of the operands by default.
    default_maps: ClassVar[tuple[tuple[int, ...], ...]] = ()

    def maps_by_default(self) -> list[AffineMapAttr]:
        return self._default_maps()

    @classmethod
    def _default_maps(cls) -> list[AffineMapAttr]:
        loops = len({dimension for map in cls.default_maps for dimension in map})
        return [AffineMapAttr(loops, 0, tuple(AffineDim(dim) for dim in map)) for map in cls.default_maps]

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        return super().maps_for(signature) or cls._default_maps()

    assembly = assembly("custom<format>", format=custom(parse_with_maps, print=print_with_maps))

    @classmethod
    def body_for(cls, types: list[Type], attributes: dict[str, Attribute]) -> Region:
        return make_body(types, _product(_is_unsigned(attributes)))


def _is_unsigned(attributes: dict[str, Attribute]) -> bool:
    return attributes.get("cast") is TypeFn("cast_unsigned")


@linalg.op("matmul", ATTR_SIZED_OPERANDS, PURE)
class MatmulOp(ContractionOp):
    """Adds the matrix product of the inputs to the init: `c[m, n] += a[m, k] * b[k, n]`."""

    default_maps = ((0, 2), (2, 1), (0, 1))

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        if "indexing_maps" not in op_parser.attributes:
            op_parser.dictionary_attributes[INDEXING_MAPS] = array(MatmulOp._default_maps())


@linalg.op("batch_matmul", ATTR_SIZED_OPERANDS, PURE)
class BatchMatmulOp(ContractionOp):
    """Adds the matrix products of a batch to the init: `c[b, m, n] += a[b, m, k] * b[b, k, n]`."""

    default_maps = ((0, 1, 3), (0, 3, 2), (0, 1, 2))


@linalg.op("batch_reduce_matmul", ATTR_SIZED_OPERANDS, PURE)
class BatchReduceMatmulOp(ContractionOp):
    """Adds the matrix products of a batch to one matrix: `c[m, n] += a[b, m, k] * b[b, k, n]`."""

    default_maps = ((0, 1, 3), (0, 3, 2), (1, 2))


@linalg.op("contract", ATTR_SIZED_OPERANDS, PURE)
class ContractOp(ContractionOp):
    """Adds the product of the inputs to the init along the dimensions of the indexing maps."""

    indexing_maps = attr(MAPS)


# --- Products, convolutions and pooling by table --------------------------------------------------


def _dense_of_shape(rank: int) -> AttrConstraint[DenseElements]:
    return AttrConstraint[DenseElements](
        f"64-bit signless int elements attribute of shape [{rank}]",
        lambda a: isinstance(a, DenseElements) and a.type.element is I64 and a.type.shape == (rank,),
        lambda a: a,
        lambda a: isinstance(a, DenseElements),
    )


_PRODUCTS = "mmt4d batch_mmt4d matvec vecmat batch_matvec batch_vecmat dot conv_1d conv_2d conv_3d"
_QUANTIZED = "quantized_matmul quantized_batch_matmul"
# The layouts of the image, the filter and, if several, their groups, by the number of spatial dimensions.
_CONVOLUTIONS = {
    1: "conv_1d_nwc_wcf conv_1d_ncw_fcw depthwise_conv_1d_nwc_wc depthwise_conv_1d_ncw_cw "
    "depthwise_conv_1d_nwc_wcm",
    2: "conv_2d_nhwc_hwcf conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf_q conv_2d_nhwc_fhwc_q conv_2d_nchw_fchw "
    "conv_2d_nchw_fchw_q conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw conv_2d_ngchw_gfchw_q conv_2d_nhwgc_gfhwc "
    "conv_2d_nhwgc_gfhwc_q depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nchw_chw "
    "depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q",
    3: "conv_3d_ndhwc_dhwcf conv_3d_ndhwc_dhwcf_q conv_3d_ncdhw_fcdhw depthwise_conv_3d_ndhwc_dhwc "
    "depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwcm",
}
_POOLINGS = {
    1: "nwc_sum ncw_sum nwc_max nwc_max_unsigned ncw_max nwc_min nwc_min_unsigned",
    2: "nhwc_sum nchw_sum nhwc_max nhwc_max_unsigned nchw_max nhwc_min nhwc_min_unsigned",
    3: "ndhwc_sum ndhwc_max ndhwc_min",
}


def _define(name: str, what: str, build: BuildBody, arguments: int, spatial: int = 0) -> None:
    """Defines an operation; one with spatial dimensions has strides and dilations."""
    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": f"{what} `{name}`.",
        "body_arguments": arguments,
        "body_for": staticmethod(lambda types, attributes: make_body(types, build)),
    }
    if spatial:
        for field in ("strides", "dilations"):
            member: AttrField[DenseElements | None] = optional_attr(_dense_of_shape(spatial))
            members[field] = member
    class_name = "".join([word.capitalize() for word in name.split("_")])
    linalg.op(name, ATTR_SIZED_OPERANDS, PURE)(type(f"{class_name}Op", (NamedOp,), members))


def _define_all() -> None:
    for name in _PRODUCTS.split():
        _define(name, "The product", _product(False), 3)
    for name in _QUANTIZED.split():
        _define(name, "The product of numbers with zero points", _quantized_product, 5)
    for spatial, names in _CONVOLUTIONS.items():
        for name in names.split():
            if name.endswith("_q"):
                _define(name, "The convolution of numbers with zero points", _quantized_product, 5, spatial)
            else:
                _define(name, "The convolution", _product(False), 3, spatial)
    for spatial, names in _POOLINGS.items():
        for name in names.split():
            _, function = name.split("_", 1)
            _define(f"pooling_{name}", "The pooling", _POOLING[function], 3, spatial)


_define_all()

"""Named operations that combine an accumulator with products or elements: matmul, convolutions, pooling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from sdyopt.mlir.asm.format.assembly_format import assembly
from sdyopt.mlir.asm.format.format_elements import custom
from sdyopt.mlir.asm.format.print_template import OpAsmPrinter
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.linalg.layout import KeywordAttr, keyword_attribute
from sdyopt.mlir.dialects.linalg.structured import (
    INDEXING_MAPS,
    MAPS,
    NamedOp,
    cast,
    combine,
    linalg,
    make_body,
    parse_implied_body,
    parse_operands,
    parse_result_types,
    print_operands,
    result_types,
)
from sdyopt.mlir.ir.affine import AffineConstant, AffineDim, AffineExpr, AffineMapAttr, add, multiply
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, array
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.op_fields import AttrField, attr, optional_attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import ATTR_SIZED_OPERANDS, PURE, AttrConstraint, of_class
from sdyopt.mlir.ir.types import I64, RankedShapedType, Type
from sdyopt.mlir.ir.value import Value

BuildBody = Callable[[Block, list[Value]], Value]
# The loops that index the dimensions of each operand.
Dims = tuple[tuple[int, ...], ...]


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
    field = op_class.fields["indexing_maps"]
    assert isinstance(field, AttrField)
    if not op_class.takes_maps(op_parser):
        if not field.is_optional:
            raise op_parser.error("expected 'indexing_maps' attribute")
    else:
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
    default_maps: ClassVar[Dims] = ()

    def maps_by_default(self) -> list[AffineMapAttr]:
        return _maps(self.default_maps)

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        return super().maps_for(signature) or _maps(cls.default_maps)

    @classmethod
    def loops_for(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> int:
        return _loops(cls.default_maps)

    @staticmethod
    def verify_signature(signature: OpSignature) -> None:
        op_class = signature.op_class
        assert issubclass(op_class, ContractionOp)
        maps = op_class.maps_for(signature)
        op_class.check_maps(signature, maps)
        NamedOp.verify_signature(signature)
        if any(_dims(map) is None or len(set(map.results)) < len(map.results) for map in maps):
            raise signature.error("expected indexing maps to be projected permutations")

    @classmethod
    def check_maps(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> None:
        """Raises unless the maps permute or repeat dimensions of the operands that they have by default."""

    assembly = assembly("custom<format>", format=custom(parse_with_maps, print=print_with_maps))

    @classmethod
    def body_for(cls, types: list[Type], attributes: dict[str, Attribute]) -> Region:
        is_unsigned = attributes.get("cast") is TypeFn("cast_unsigned")
        return make_body(types, _product(is_unsigned))


def _loops(dims: Dims) -> int:
    return len({dimension for map in dims for dimension in map})


def _maps(dims: Dims) -> list[AffineMapAttr]:
    """The maps that select these loops."""
    return [AffineMapAttr(_loops(dims), 0, tuple([AffineDim(dim) for dim in map])) for map in dims]


def _dims(map: AffineMapAttr) -> tuple[int, ...] | None:
    """The loops that a map selects; None if it has other results."""
    dims = tuple([result.position for result in map.results if isinstance(result, AffineDim)])
    return dims if len(dims) == len(map.results) else None


@linalg.op("matmul", ATTR_SIZED_OPERANDS, PURE)
class MatmulOp(ContractionOp):
    """Adds the matrix product of the inputs to the init: `c[m, n] += a[m, k] * b[k, n]`."""

    default_maps = ((0, 2), (2, 1), (0, 1))

    @staticmethod
    def add_indexing_maps(op_parser: OpAsmParser) -> None:
        if "indexing_maps" not in op_parser.attributes:
            op_parser.dictionary_attributes[INDEXING_MAPS] = array(_maps(MatmulOp.default_maps))

    @classmethod
    def check_maps(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> None:
        for map, default in zip(maps[:2], cls.default_maps, strict=False):
            dims = _dims(map)
            if dims is None or not set(dims) <= set(default):
                raise signature.op_error("Unexpected dim expression in map result.")
            if len(dims) < 2 and dims != (2,):
                raise signature.op_error("Invalid broadcast requested, should be (d2).")


class _BatchOp(ContractionOp):
    """Base of the products of batches of matrices. The loops are the batch, rows, columns, and products."""

    @classmethod
    def check_maps(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> None:
        if len(maps) != 3:
            raise signature.op_error("Indexing_map attribute must have 3 affine maps.")
        valid = ({(3,), (0, 3), (1, 3)}, {(3,), (0, 3), (3, 2)})
        for map, default, repeated in zip(maps, cls.default_maps, valid, strict=False):
            dims = _dims(map)
            if dims is None or not set(dims) <= set(default):
                message = "Unexpected result dim expression (outside the set of default result dims)."
                raise signature.op_error(message)
            if len(dims) > 3:
                raise signature.op_error("no. of result dim expressions exceeds 3.")
            if len(dims) < 3 and dims not in repeated:
                raise signature.op_error("Invalid broadcast requested.")
            if len(dims) == 3 and dims[0] != 0:
                raise signature.op_error("Invalid batch dimension expression.")
        out = cls.default_maps[2]
        if len(maps[2].results) != len(out):
            raise signature.op_error(f"expects {len(out)} dims, but got ({len(maps[2].results)}).")
        if _dims(maps[2]) != out:
            raise signature.op_error("Invalid output map result dimension.")


@linalg.op("batch_matmul", ATTR_SIZED_OPERANDS, PURE)
class BatchMatmulOp(_BatchOp):
    """Adds the matrix products of a batch to the init: `c[b, m, n] += a[b, m, k] * b[b, k, n]`."""

    default_maps = ((0, 1, 3), (0, 3, 2), (0, 1, 2))


@linalg.op("batch_reduce_matmul", ATTR_SIZED_OPERANDS, PURE)
class BatchReduceMatmulOp(_BatchOp):
    """Adds the matrix products of a batch to one matrix: `c[m, n] += a[b, m, k] * b[b, k, n]`."""

    default_maps = ((0, 1, 3), (0, 3, 2), (1, 2))


@linalg.op("contract", ATTR_SIZED_OPERANDS, PURE)
class ContractOp(ContractionOp):
    """Adds the product of the inputs to the init along the dimensions of the indexing maps."""

    indexing_maps = attr(MAPS)

    @classmethod
    def loops_for(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> int:
        return maps[0].num_dims

    @classmethod
    def check_maps(cls, signature: OpSignature, maps: Sequence[AffineMapAttr]) -> None:
        loops, uses = maps[0].num_dims, []
        for map, type in zip(maps, signature.operand_types, strict=False):
            dims = _dims(map)
            if dims is None or len(set(dims)) < len(dims):
                raise signature.error("provided affine_map is not a projected permutation")
            if map.num_dims != loops:
                raise signature.error("iteration spaces of provided affine_maps differ")
            if isinstance(type, RankedShapedType) and len(type.shape) != len(dims):
                message = "ranks of shaped operand and results of corresponding affine_map differ"
                raise signature.error(message)
            if dims and not isinstance(type, RankedShapedType):
                raise signature.error("affine_map specifies shaped access while operand has non-shaped type")
            uses.append(dims)
        *factors, out = uses
        for loop in range(loops):
            count = sum(loop in dims for dims in factors)
            if not count and loop not in out:
                raise signature.error(f"iteration space dim at index {loop} not used to access any operand")
            if count < 2 and loop not in out:
                raise signature.error(
                    f"iteration space dim at index {loop} is neither a contracting dim nor of parallel "
                    "iteration type"
                )


# --- Products, convolutions and pooling by table --------------------------------------------------


def _dense_of_shape(rank: int) -> AttrConstraint[DenseElements]:
    return AttrConstraint[DenseElements](
        f"64-bit signless int elements attribute of shape [{rank}]",
        lambda a: isinstance(a, DenseElements) and a.type.element is I64 and a.type.shape == (rank,),
        lambda a: a,
        lambda a: isinstance(a, DenseElements),
    )


# The dimensions of the operands, by a letter for each loop.
_PRODUCTS = {
    "mmt4d": "mkij nklj mnil",
    "batch_mmt4d": "bmkij bnklj bmnil",
    "matvec": "mn n m",
    "vecmat": "m mn n",
    "batch_matvec": "bmk bk bm",
    "batch_vecmat": "bk bkn bn",
    "dot": "m m ",
    "quantized_matmul": "mk kn mn",
    "quantized_batch_matmul": "bmk bkn bmn",
}
# The layouts of the image, the filter and, if several, their groups, by the number of spatial dimensions.
_CONVOLUTIONS = {
    1: "conv_1d conv_1d_nwc_wcf conv_1d_ncw_fcw depthwise_conv_1d_nwc_wc depthwise_conv_1d_ncw_cw "
    "depthwise_conv_1d_nwc_wcm",
    2: "conv_2d conv_2d_nhwc_hwcf conv_2d_nhwc_fhwc conv_2d_nhwc_hwcf_q conv_2d_nhwc_fhwc_q "
    "conv_2d_nchw_fchw conv_2d_nchw_fchw_q conv_2d_ngchw_fgchw conv_2d_ngchw_gfchw conv_2d_ngchw_gfchw_q "
    "conv_2d_nhwgc_gfhwc conv_2d_nhwgc_gfhwc_q depthwise_conv_2d_nhwc_hwc depthwise_conv_2d_nchw_chw "
    "depthwise_conv_2d_nhwc_hwc_q depthwise_conv_2d_nhwc_hwcm depthwise_conv_2d_nhwc_hwcm_q",
    3: "conv_3d conv_3d_ndhwc_dhwcf conv_3d_ndhwc_dhwcf_q conv_3d_ncdhw_fcdhw depthwise_conv_3d_ndhwc_dhwc "
    "depthwise_conv_3d_ncdhw_cdhw depthwise_conv_3d_ndhwc_dhwcm",
}
_POOLINGS = {
    1: "nwc_sum ncw_sum nwc_max nwc_max_unsigned ncw_max nwc_min nwc_min_unsigned",
    2: "nhwc_sum nchw_sum nhwc_max nhwc_max_unsigned nchw_max nhwc_min nhwc_min_unsigned",
    3: "ndhwc_sum ndhwc_max ndhwc_min",
}


_SPATIAL = {1: "w", 2: "hw", 3: "dhw"}


class _LayoutOp(NamedOp):
    """Base of the operations whose maps follow from letters.

    A spatial letter is the loop of the window in the filter, and in capitals the one of the output.
    """

    layout: ClassVar[tuple[str, ...]]
    spatial: ClassVar[str] = ""

    @classmethod
    def maps_for(cls, signature: OpSignature) -> Sequence[AffineMapAttr]:
        image, filter, out = cls.layout
        letters = "".join(dict.fromkeys(out + filter + image.translate(_WITHOUT_SPATIAL)))
        factors = [_factors(signature, name, cls.spatial) for name in ("strides", "dilations")]

        def expression(letter: str, is_image: bool) -> AffineExpr:
            if not is_image or letter not in cls.spatial:
                return AffineDim(letters.index(letter))
            place = cls.spatial.index(letter)
            start, step = [
                multiply(AffineDim(letters.index(loop)), AffineConstant(numbers[place]))
                for loop, numbers in zip((letter.upper(), letter), factors, strict=True)
            ]
            return add(start, step)

        first, second, last = [
            AffineMapAttr(len(letters), 0, tuple([expression(letter, index == 0) for letter in text]))
            for index, text in enumerate((image, filter, out))
        ]
        zero_points = [AffineMapAttr(len(letters), 0, ())] * (cls.body_arguments - 3)
        return [first, second, *zero_points, last]


_WITHOUT_SPATIAL = str.maketrans("", "", "dhw")


def _factors(signature: OpSignature, name: str, spatial: str) -> Sequence[int]:
    numbers = signature.attributes.get(name)
    return numbers.values if isinstance(numbers, DenseElements) else (1,) * len(spatial)


def _define(name: str, what: str, build: BuildBody, layout: Sequence[str], spatial: str = "") -> None:
    """Defines an operation; one with spatial dimensions and given layouts has strides and dilations."""
    is_quantized = build is _quantized_product
    members: dict[str, object] = {
        "__module__": __name__,
        "__doc__": f"{what} `{name}`.",
        "body_arguments": 5 if is_quantized else 3,
        "body_for": staticmethod(lambda types, attributes: make_body(types, build)),
        "layout": tuple(layout),
        "spatial": spatial,
    }
    if layout[0] != spatial:
        for field in ("strides", "dilations") if spatial else ():
            member: AttrField[DenseElements | None] = optional_attr(_dense_of_shape(len(spatial)))
            members[field] = member
    class_name = "".join([word.capitalize() for word in name.split("_")])
    linalg.op(name, ATTR_SIZED_OPERANDS, PURE)(type(f"{class_name}Op", (_LayoutOp,), members))


def _convolution_layout(name: str, spatial: str) -> tuple[str, str, str]:
    """The letters of the image, the filter and the output."""
    _, _, *words = name.removeprefix("depthwise_").removesuffix("_q").split("_")
    image, filter = words or (spatial, spatial)
    out = image + "m" * filter.count("m") if name.startswith("depthwise") else image.replace("c", "f")
    return image, filter, _capitals(out, spatial)


def _capitals(text: str, spatial: str) -> str:
    return "".join([letter.upper() if letter in spatial else letter for letter in text])


def _define_all() -> None:
    for name, layout in _PRODUCTS.items():
        build = _quantized_product if name.startswith("quantized") else _product(False)
        _define(name, "The product", build, layout.split(" "))
    for rank, names in _CONVOLUTIONS.items():
        for name in names.split():
            build = _quantized_product if name.endswith("_q") else _product(False)
            spatial = _SPATIAL[rank]
            _define(name, "The convolution", build, _convolution_layout(name, spatial), spatial)
    for rank, names in _POOLINGS.items():
        for name in names.split():
            image, function = name.split("_", 1)
            spatial = _SPATIAL[rank]
            layout_of_pooling = (image, spatial, _capitals(image, spatial))
            _define(f"pooling_{name}", "The pooling", _POOLING[function], layout_of_pooling, spatial)


_define_all()

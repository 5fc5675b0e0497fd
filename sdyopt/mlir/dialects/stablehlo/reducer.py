"""Regions that operations apply to elements, their checks, and the windows that some of them slide.

Whether the regions of an operation are valid usually depends only on the op signature and these types, and
programs repeat both. So the result of the check is cached in the op signature, by the region signatures.

    @stablehlo.op("sort", SINGLE_BLOCK, …)
    class SortOp(RegionVerifyingOp):
        @staticmethod
        def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sdyopt.base.dataclasses import NamedTuple, dataclass
from sdyopt.mlir.asm.format.format_elements import Custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.quant import QuantizedType
from sdyopt.mlir.dialects.stablehlo.assembly_directives import integer_list, print_list
from sdyopt.mlir.dialects.stablehlo.dialect import Dimensions, integers_of, listing, quoted
from sdyopt.mlir.dialects.stablehlo.type_compatibility import bit_width
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, dense
from sdyopt.mlir.ir.interfaces import ends_with
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.shape_traits import are_compatible_shapes, are_compatible_sizes
from sdyopt.mlir.ir.types import (
    DYNAMIC,
    I64,
    ComplexType,
    FloatType,
    IntegerType,
    RankedTensor,
    ShapedType,
    Type,
    element_of,
    tensor,
)
from sdyopt.mlir.ir.verify_signature import passes_for_equal_shapes


class RegionSignature(NamedTuple):
    """The types of the arguments of a region's entry block, and of the operands of its last operation."""

    argument_types: tuple[Type, ...]
    returned_types: tuple[Type, ...]
    has_terminator: bool

    def check_counts(self, signature: OpSignature, count: int) -> None:
        if len(self.argument_types) != 2 * count:
            raise signature.error_without_op_note(
                f"Reduction-region must take {2 * count} parameters, but takes "
                f"{len(self.argument_types)} parameter(s)"
            )
        if not self.has_terminator:
            raise signature.error_without_op_note("The reduction-region expected to have a terminator")
        if not self.returned_types:
            raise signature.error_without_op_note("The reduction-region expected to return some value(s)")
        if len(self.returned_types) != count:
            raise signature.error_without_op_note(
                f"Reduction-region here must produce {count} tensors, but produces "
                f"{len(self.returned_types)} instead"
            )

    def check_types(self, signature: OpSignature, index: int, input: Type, init_value: Type) -> None:
        result = self.returned_types[index]
        element_index = len(self.returned_types) + index
        for number, ignores_precision in ((index, False), (element_index, True)):
            parameter = self.argument_types[number]
            if not have_compatible_shapes_and_element_types(result, parameter, ignores_precision):
                raise signature.error_without_op_note(
                    f"The type of reduction-region's parameter at index {number} is different than the "
                    f"corresponding result type: {quoted(parameter)} vs {quoted(result)}"
                )
        if not are_compatible_shapes([init_value, result]):
            raise signature.error_without_op_note(
                f"The shape of reduction-region's result type at index {index} differs from the op's "
                f"corresponding init-value type: {quoted(result)} vs {quoted(init_value)}"
            )
        if not _is_promotable(init_value, result):
            raise signature.error_without_op_note(
                f"The element-type of reduction-region's result type at index {index} is expected to be "
                f"promotable from the op's corresponding init-value element-type: {quoted(result)} vs "
                f"{quoted(init_value)}"
            )
        parameter = self.argument_types[element_index]
        if not _is_promotable(input, parameter):
            raise signature.error_without_op_note(
                f"The element-type of reduction-region's argument at index {element_index} is expected to be "
                f"promotable from {quoted(element_of(input))}, but got {quoted(element_of(parameter))}"
            )

    def check_shape(self, signature: OpSignature, index: int, allowed_dimensions: Sequence[int]) -> None:
        element_index = len(self.returned_types) + index
        parameter = self.argument_types[element_index]
        shape = parameter.shape if isinstance(parameter, RankedTensor) else ()
        if len(shape) > len(allowed_dimensions):
            raise signature.error_without_op_note(
                f"The rank of reduction-region's argument at index {element_index} is expected to be <= "
                f"{len(allowed_dimensions)}, got {len(shape)}"
            )
        matched = 0
        for size in allowed_dimensions:
            if matched < len(shape) and are_compatible_sizes(size, shape[matched]):
                matched += 1
        if matched != len(shape):
            raise signature.error_without_op_note(
                f"The shape of reduction-region's argument at index {element_index} is not compatible "
                "with that "
                f"of reduce-op's input-parameter at index {index}"
            )


RegionSignatures = tuple[RegionSignature, ...]


def region_signature(region: Region) -> RegionSignature:
    """The signature of a region's entry block; empty if there is no block."""
    block = region.entry
    if block is None:
        return RegionSignature((), (), False)
    argument_types = tuple([argument.type for argument in block.arguments])
    last = block.last
    if last is None:
        return RegionSignature(argument_types, (), False)
    # An unregistered operation may be a terminator.
    has_terminator = last.is_terminator or not last.name
    return RegionSignature(argument_types, last.signature.operand_types, has_terminator)


class RegionVerifyingOp(Op):
    """Base of operations that verify the signatures of their regions."""

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        """Checks the region signatures against the op signature. Raises a SignatureError."""
        raise NotImplementedError

    @classmethod
    def verify_body(cls, signature: OpSignature, regions: Sequence[Region]) -> None:
        cls.verify_region_signatures(signature, tuple([region_signature(region) for region in regions]))

    def verify_in_context(self) -> None:
        """Runs `verify_region_signatures`, once for all operations with the same op and region signatures."""
        regions = tuple([region_signature(region) for region in self.regions])
        key = (type(self), regions)
        cache = self.signature.cache
        try:
            error = cache[key]
        except KeyError:
            error = cache[key] = self._region_error(regions)
        if error is not None:
            raise error

    def _region_error(self, regions: RegionSignatures) -> SignatureError | None:
        verify = type(self).verify_region_signatures
        types = chain.from_iterable(region.argument_types + region.returned_types for region in regions)
        have_only_scalars = all(isinstance(item, RankedTensor) and not item.shape for item in types)
        if have_only_scalars and passes_for_equal_shapes(
            self.signature, (verify, regions), lambda signature: verify(signature, regions)
        ):
            return None
        try:
            verify(self.signature, regions)
        except SignatureError as error:
            return error.with_traceback(None)
        return None


# --- Single block with implicit terminator ---------------------------------------------------


# Each region has at most one block, which ends with the `return` of the operation's dialect.
SINGLE_BLOCK = ends_with("return", is_implied=True)


def check_reducer(
    signature: OpSignature,
    reducer: RegionSignature,
    inputs: Sequence[Type],
    init_values: Sequence[Type],
    allowed_dimensions: Sequence[int],
) -> None:
    """Checks a reducer region: (accumulators, elements) -> accumulators, one of each per input.

    The shape of an element is a subsequence of `allowed_dimensions`, up to dynamic sizes.
    """
    reducer.check_counts(signature, len(inputs))
    for type in reducer.returned_types:
        if not isinstance(type, ShapedType):
            raise signature.error_without_op_note(
                "Reduction-region here must produce tensor-typed result(s), but produces "
                f"{quoted(type)} instead"
            )
    for index, (input, init_value) in enumerate(zip(inputs, init_values, strict=True)):
        reducer.check_types(signature, index, input, init_value)
        reducer.check_shape(signature, index, allowed_dimensions)


def have_compatible_shapes_and_element_types(left: Type, right: Type, ignores_precision: bool) -> bool:
    """Whether two tensors have compatible shapes and the same element type.

    With `ignores_precision`, all float types are the same.
    """
    if not isinstance(right, ShapedType) or not are_compatible_shapes([left, right]):
        return False
    a, b = element_of(left), element_of(right)
    return a is b or (ignores_precision and isinstance(a, FloatType) and isinstance(b, FloatType))


def _is_promotable(source: Type, target: Type) -> bool:
    """Whether the element type of `source` is promotable to that of `target`.

    A float type is promotable to any float type. Integer, complex and quantized types are promotable to types
    of the same kind that are not narrower; quantized types must also have the same expressed type.
    """
    a, b = element_of(source), element_of(target)
    if isinstance(a, FloatType) and isinstance(b, FloatType):
        return True
    if isinstance(a, QuantizedType) and isinstance(b, QuantizedType):
        return a.expressed is b.expressed and bit_width(a) <= bit_width(b)
    for cls in (IntegerType, ComplexType):
        if isinstance(a, cls) and isinstance(b, cls):
            return bit_width(a) <= bit_width(b)
    return False


Padding = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One dimension of a window: size, stride, padding of the base and dilations of base and window."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1

    def positions(self, base: int) -> int:
        """The number of window positions along a dimension of size `base`; DYNAMIC if either size is."""
        if DYNAMIC in (base, self.size):
            return DYNAMIC
        padded = self.low + _dilated(base, self.base_dilation) + self.high
        window = _dilated(self.size, self.window_dilation)
        return 0 if padded == 0 or window > padded else (padded - window) // self.stride + 1

    def checked(self, signature: OpSignature, index: int) -> WindowDimension:
        for value, what in (
            (1 if self.size == DYNAMIC else self.size, "value"),
            (self.stride, "stride"),
            (self.base_dilation, "base dilation factor"),
            (self.window_dilation, "window dilation factor"),
        ):
            if value <= 0:
                raise signature.error_without_op_note(
                    f"expects window to have positive {what} for {index}-th window dimension, but got "
                    f"{value}."
                )
        return self


def padding_pairs(signature: OpSignature, padding: DenseElements | None) -> Padding:
    """The (low, high) pairs of a padding attribute. Raises a SignatureError if its shape is not N x 2."""
    if padding is None:
        return ()
    shape = padding.type.shape
    if len(shape) != 2 or shape[1] != 2:
        raise signature.error_without_op_note(
            f"expects the shape of padding-attribute to be {{N, 2}}, but got {{{listing(shape)}}}."
        )
    return pairs_of(padding)


def pairs_of(padding: DenseElements) -> Padding:
    """The elements of an N x 2 attribute as N pairs."""
    values = integers_of(padding)
    return list(zip(values[::2], values[1::2], strict=True))


def checked_window(
    signature: OpSignature,
    sizes: Dimensions,
    strides: Dimensions | None,
    padding: Padding,
    base_dilations: Dimensions | None = None,
    window_dilations: Dimensions | None = None,
    reversal: Sequence[bool] | None = None,
) -> list[WindowDimension]:
    """The window that the attributes describe; a missing or empty list means the defaults.

    Raises a SignatureError if a list has the wrong length, or a size, stride or dilation is not positive.
    """
    for values, name in (
        (strides, "window-strides"),
        (base_dilations, "base-dilation factors"),
        (window_dilations, "window-dilation factors"),
        (padding, "padding-entries"),
        (reversal, "window-reversal"),
    ):
        if values and len(values) != len(sizes):
            raise signature.error_without_op_note(
                f"expects {name} to have same dimension-size as size of window dimensions ({len(sizes)}), "
                f"but got: {len(values)}."
            )
    return [
        WindowDimension(
            size,
            strides[index] if strides else 1,
            *(padding[index] if padding else (0, 0)),
            base_dilations[index] if base_dilations else 1,
            window_dilations[index] if window_dilations else 1,
        ).checked(signature, index)
        for index, size in enumerate(sizes)
    ]


def window_result_shape(base: Dimensions, window: Sequence[WindowDimension]) -> list[int]:
    """The number of window positions along each dimension, from the sizes or bounds in `base`."""
    return [dimension.positions(size) for size, dimension in zip(base, window, strict=True)]


def _dilated(size: int, dilation: int) -> int:
    """The extent of `size` elements that are `dilation` apart."""
    return (size - 1) * dilation + 1 if size else 0


# Keyword to attribute name.
_ATTRIBUTES = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


@directive("WindowAttributes")
def window_directive() -> Custom:
    """The window attributes that are present; parsing accepts any order, each attribute at most once."""
    return Custom(_parse, _write, elides=list(_ATTRIBUTES.values()))


def _parse(op_parser: OpAsmParser) -> None:
    remaining = dict(_ATTRIBUTES)
    while (keyword := op_parser.accept_keyword()) is not None:
        if keyword not in remaining:
            raise op_parser.error(f"Unexpected keyword {keyword}")
        op_parser.expect("=")
        op_parser.attributes[remaining.pop(keyword)] = _parse_value(op_parser, keyword)
        if not op_parser.accept(","):
            break


def _parse_value(op_parser: OpAsmParser, keyword: str) -> Attribute:
    if keyword == "pad":
        pairs = op_parser.comma_list(lambda: _parse_pair(op_parser), "[", "]")
        data = b"".join(n.to_bytes(8, "little", signed=True) for pair in pairs for n in pair)
        return dense(tensor((len(pairs), 2), I64), data)
    values = op_parser.comma_list(op_parser.integer, "[", "]")
    if keyword == "reverse":
        values = [int(value != 0) for value in values]
    return integer_list(op_parser, _ATTRIBUTES[keyword], values)


def _parse_pair(op_parser: OpAsmParser) -> list[int]:
    pair = op_parser.comma_list(op_parser.integer, "[", "]")
    if len(pair) != 2:
        raise op_parser.error(f"Expected array with 2 elements, got {len(pair)} elements instead")
    return pair


def _write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    entries = []
    for keyword, name in _ATTRIBUTES.items():
        value = signature.attributes.get(name)
        if value is not None:
            entries.append(f"{keyword} = {_print(keyword, value)}")
    out.text(", ".join(entries))


def _print(keyword: str, value: Attribute) -> str:
    assert isinstance(value, DenseArray | DenseElements)
    if keyword == "pad":
        assert isinstance(value, DenseElements)
        return print_list([print_list(pair) for pair in pairs_of(value)])
    if keyword == "reverse" and isinstance(value, DenseArray):
        return print_list([str(bool(v)).lower() for v in value.values])
    return print_list(map(abs, value.values) if keyword == "reverse" else value.values)

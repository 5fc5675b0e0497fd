"""Windows of convolution, reduce_window and select_and_scatter, and their text."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.dataclasses import dataclass
from sdyopt.mlir.asm.format.format_elements import Custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.stablehlo.assembly_directives import integer_list, print_list
from sdyopt.mlir.dialects.stablehlo.dialect import Dimensions, integers_of, listing
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, dense
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import DYNAMIC, I64, tensor

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

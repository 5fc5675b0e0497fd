"""The assembly of a convolution's window: `stride = [2, 2], pad = [[1, 1], [0, 0]], reverse = [true]`."""

from __future__ import annotations

from sdyopt.mlir.asm.format.assembly_format import Custom
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.dialects.stablehlo.assembly_directives import print_list
from sdyopt.mlir.dialects.stablehlo.window import pairs_of
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import DenseArray, DenseElements, dense
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.types import I1, I64, tensor

# Keyword to attribute name.
_ATTRIBUTES = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


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
        return DenseArray(I1, tuple(int(value != 0) for value in values))
    return DenseArray(I64, tuple(values))


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
            entries.append(f"{keyword} = {_print(value)}")
    out.text(", ".join(entries))


def _print(value: Attribute) -> str:
    if isinstance(value, DenseElements):
        return print_list([print_list(pair) for pair in pairs_of(value)])
    assert isinstance(value, DenseArray)
    return print_list([str(bool(v)).lower() for v in value.values] if value.element is I1 else value.values)

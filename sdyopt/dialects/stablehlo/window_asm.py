"""How a convolution's window is written: `stride = [2, 2], pad = [[1, 1], [0, 0]], reverse = [true]`."""

from __future__ import annotations

from sdyopt.dialects.stablehlo.asm import spell_list
from sdyopt.dialects.stablehlo.window import pairs_of
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.elements_attributes import DenseArray, DenseElements, dense
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import I1, I64, tensor
from sdyopt.syntax.assembly import Custom
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template

# The words, and the attributes that they stand for.
_ATTRIBUTES = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}


def window_piece() -> Custom:
    """The attributes of a window that are there, each once, in any order."""
    return Custom(_parse, _write, elides=list(_ATTRIBUTES.values()))


def _parse(statement: Statement) -> None:
    left = dict(_ATTRIBUTES)
    while (word := statement.accept_word()) is not None:
        if word not in left:
            raise statement.error(f"Unexpected keyword {word}")
        statement.expect("=")
        statement.attributes[left.pop(word)] = _value(statement, word)
        if not statement.accept(","):
            break


def _value(statement: Statement, word: str) -> Attribute:
    if word == "pad":
        pairs = statement.comma_list(lambda: _pair(statement), "[", "]")
        data = b"".join(n.to_bytes(8, "little", signed=True) for pair in pairs for n in pair)
        return dense(tensor((len(pairs), 2), I64), data)
    values = statement.comma_list(statement.integer, "[", "]")
    if word == "reverse":
        return DenseArray(I1, tuple(int(value != 0) for value in values))
    return DenseArray(I64, tuple(values))


def _pair(statement: Statement) -> list[int]:
    pair = statement.comma_list(statement.integer, "[", "]")
    if len(pair) != 2:
        raise statement.error(f"Expected array with 2 elements, got {len(pair)} elements instead")
    return pair


def _write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    written = []
    for word, name in _ATTRIBUTES.items():
        value = signature.attributes.get(name)
        if value is not None:
            written.append(f"{word} = {_spell(value)}")
    out.text(", ".join(written))


def _spell(value: Attribute) -> str:
    if isinstance(value, DenseElements):
        return spell_list([spell_list(pair) for pair in pairs_of(value)])
    assert isinstance(value, DenseArray)
    return spell_list([str(bool(v)).lower() for v in value.values] if value.element is I1 else value.values)

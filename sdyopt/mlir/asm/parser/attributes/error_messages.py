"""The messages of syntax errors, in MLIR's words.

An LR state is a set of rules with the number of symbols already parsed. A message is looked up by
(name of a rule, number of symbols), otherwise by the symbol that is expected next.
"""

from __future__ import annotations

_EMPTY_LIST = "expected list element"
# The messages by expected symbol, for states that are not in the table below.
MESSAGES_BY_SYMBOL = {
    "type": "expected non-function type",
    "types": "expected non-function type",
    "results": "expected non-function type",
    "attribute": "expected attribute value",
    "attributes": "expected attribute value",
    "plain_attribute": "expected attribute value",
    "layouts": _EMPTY_LIST,
    "layout": "expected attribute value",
    "dense_type": "expected non-function type",
    "array_type": "expected non-function type",
    "elements": "expected element literal of primitive type",
    "sparse_elements": "expected element literal of primitive type",
    "array_values": "expected integer literal",
    "location": "expected location instance",
    "locations": "expected location instance",
    "word": "expected bare identifier",
    "dimension_list": "expected bare identifier",
    "symbol_list": "expected bare identifier",
    "key": "expected attribute name",
    "entry": "expected attribute name",
    "entries": "expected attribute name",
    "expression": "expected affine expression",
    "expressions": "expected affine expression",
    "product": "expected affine expression",
    "constraint": "expected affine expression",
    "constraints": "expected affine expression",
    "operand": "expected affine expression",
    "stride": "expected a 64-bit signed integer or '?'",
    "strides": "expected a 64-bit signed integer or '?'",
    "resource": "expected identifier key for 'resource' entry",
    "layout_offset": "expected ','",
    "INTEGER": "expected integer literal",
    "SYMBOL": "expected nested symbol reference identifier",
    "ELEMENTS": "expected element literal of primitive type",
}

MESSAGES = {
    ("tensor", 1): "expected '<' in tensor type",
    ("tensor", 4): "expected '>' in tensor type",
    ("tensor", 5): "expected '>' in tensor type",
    ("tensor", 6): "expected '>' in tensor type",
    ("vector", 1): "expected '<' in vector type",
    ("vector", 4): "expected '>' in vector type",
    ("memref", 1): "expected '<' in memref type",
    ("memref", 4): "expected ',' or '>' in memref type",
    ("memref", 6): "expected ',' or '>'",
    ("complex", 1): "expected '<' in complex type",
    ("complex", 3): "expected '>' in complex type",
    ("tuple", 1): "expected '<' in tuple type",
    ("tuple", 3): "expected '>' in tuple type",
    ("function", 1): "expected '->' in function type",
    ("array", 2): "expected ',' or ']'",
    ("negative_integer", 1): "expected constant integer or floating point value",
    ("dense", 1): "expected '<' after 'dense'",
    ("dense_by_type", 3): "expected ':' after type in dense attribute",
    ("dense_by_type", 5): "expected '>' to close dense attribute",
    ("sparse", 1): "Expected '<' after 'sparse'",
    ("dense_resource", 1): "expected '<' after 'dense_resource'",
    ("dense_array", 1): "expected '<' after 'array'",
    ("dense_array", 3): "expected ':' after dense array type",
    ("dense_array", 5): "expected '>' to close an array attribute",
    ("affine_map", 1): "expected '<' in affine map",
    ("affine_map", 2): "expected '(' in dimensional identifier list",
    ("affine_map", 3): "expected '>' in affine map",
    ("affine_set", 1): "expected '<' in integer set",
    ("affine_set", 2): "expected '(' in dimensional identifier list",
    ("affine_set", 3): "expected '>' in integer set",
    ("strided", 1): "expected '<' after 'strided'",
    ("offset", 1): "expected 'offset' after comma",
    ("offset", 2): "expected ':' after 'offset'",
    ("negative_stride", 1): "expected a 64-bit signed integer or '?'",
    ("distinct", 1): "expected '[' after 'distinct'",
    ("distinct", 2): "expected distinct ID",
    ("distinct", 3): "expected ']' to close distinct ID",
    ("distinct", 4): "expected '<' after distinct ID",
    ("distinct", 6): "expected '>' to close distinct attribute",
    ("symbols", 3): "expected nested symbol reference identifier",
    ("dictionary", 2): "expected '}' in attribute dictionary",
    ("map", 1): "expected '->' or ':'",
    ("map", 2): "expected '(' in affine map range",
    ("map", 4): "expected ')' in affine map range",
    ("set", 2): "expected '(' in integer set constraint list",
    ("set", 4): "expected ')' in integer set constraint list",
    ("location_attribute", 1): "expected '(' in inline location",
    ("location_attribute", 3): "expected ')' in inline location",
    ("located", 1): "expected '(' in location",
    ("located", 3): "expected ')' in location",
    ("name_location", 3): "expected ')' after child location of NameLoc",
    ("file_location", 2): "expected integer line number in FileLineColRange",
    ("file_location", 4): "expected integer column number in FileLineColRange",
    ("file_line_range", 6): "expected either integer or `:` post `to` in FileLineColRange",
    ("file_line_range", 7): "expected integer column number in FileLineColRange",
    ("file_range", 7): "expected either integer or `:` post `to` in FileLineColRange",
    ("file_range", 8): "expected integer column number in FileLineColRange",
    ("callsite", 1): "expected '(' in callsite location",
    ("callsite", 3): "expected 'at' in callsite location",
    ("callsite", 5): "expected ')' in callsite location",
    ("fused", 1): "expected '[' in fused location",
    ("fused", 3): "expected ']' in fused location",
    ("fused_with_metadata", 3): "expected '>' after fused location metadata",
    ("fused_with_metadata", 4): "expected '[' in fused location",
    ("fused_with_metadata", 6): "expected ']' in fused location",
    ("bracketed", 2): "expected ')'",
    ("dimension_names", 2): "expected ')' in dimensional identifier list",
    ("symbol_names", 2): "expected ']' in symbol list",
    # For any of the three kinds of constraints.
    ("at_least", 1): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("at_least", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("at_most", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("equal", 2): "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
    ("add", 2): "missing right operand of binary operator",
    ("subtract", 2): "missing right operand of binary operator",
    ("multiply", 2): "missing right operand of binary operator",
    ("floor_divide", 2): "missing right operand of binary operator",
    ("ceil_divide", 2): "missing right operand of binary operator",
    ("modulo", 2): "missing right operand of binary operator",
    ("negate", 1): "missing operand of negation",
}

# (message, kind of the unexpected token) -> the message that replaces it.
_MESSAGES_AT_TOKENS = {
    ("expected affine expression", "+"): "missing left operand of binary operator",
    ("expected affine expression", "*"): "missing left operand of binary operator",
    ("expected affine expression", "VALUE"): "unexpected ssa identifier",
    ("missing right operand of binary operator", "VALUE"): "unexpected ssa identifier",
}


def message_at_token(message: str, kind: str) -> str:
    """The message, or what replaces it if the unexpected token is of this kind."""
    if message == _EMPTY_LIST and kind != ">":
        return "expected attribute value"
    return _MESSAGES_AT_TOKENS.get((message, kind), message)


# The messages located at the unexpected token; others are located at the end of the previous token.
AT_TOKEN = frozenset(
    {
        "expected a 64-bit signed integer or '?'",
        "expected affine expression",
        "expected element literal of primitive type",
        "missing right operand of binary operator",
        "missing left operand of binary operator",
        "missing operand of negation",
        "unexpected ssa identifier",
        "expected '== affine-expr' or '>= affine-expr' at end of affine constraint",
        "expected nested symbol reference identifier",
        "expected identifier key for 'resource' entry",
    }
)

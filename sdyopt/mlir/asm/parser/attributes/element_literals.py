"""Lists of elements in `dense<…>`, `sparse<…>` and `array<…>`.

A well-formed list of numbers is decoded in bulk. Any other list is parsed token by token, which finds
the errors and their locations.
"""

from __future__ import annotations

import re

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.mlir.asm.lexical import COMMENT, NUMBER, STRING_EXTENT, TRIVIA, WHITESPACE
from sdyopt.mlir.asm.parser.attributes.lr_parser import MAX_DEPTH
from sdyopt.mlir.asm.parser.attributes.semantic_actions import ActionContext

_COMMENT = re.compile(COMMENT)
_NUMBER = re.compile(f"(?:-{WHITESPACE}+)?+(?:{NUMBER}|true|false)")
_WITHOUT_WHITESPACE = str.maketrans("", "", " \t\r\n")
_TOKEN = re.compile(rf"{TRIVIA}(?:({NUMBER}|(?:true|false)\b|{STRING_EXTENT})|([][(),-])|(\S))?", re.ASCII)


@dataclass(slots=True)
class ElementList:
    """Parsed elements in order, and the shape of their list, None for a single element.

    A complex element is two elements here. `texts` are without the minus sign; `negative` marks the elements
    that have one.
    """

    shape: tuple[int, ...] | None = None
    texts: list[str] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    negative: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NumberList:
    """Numbers, with their minus signs, and the shape of their list, None for a single number."""

    shape: tuple[int, ...] | None
    numbers: list[str]
    is_complex: bool


def decode_numbers(text: str) -> NumberList | None:
    """The numbers of a well-formed list, or a single number; None if the text is anything else."""
    if '"' in text:
        return None
    if "//" in text:
        text = _COMMENT.sub("", text)
    skeleton = _NUMBER.sub("x", text).translate(_WITHOUT_WHITESPACE)
    element = "(x,x)" if "(" in skeleton else "x"
    shape = _shape(skeleton, element)
    if shape is None and skeleton != element:
        return None
    text = text.translate(_WITHOUT_WHITESPACE)
    for bracket in "[]()":
        text = text.replace(bracket, "")
    return NumberList(shape, text.split(","), element != "x")


def _shape(skeleton: str, element: str) -> tuple[int, ...] | None:
    """The shape of a nested list; None for other text, or if lists of the same depth differ in size."""
    depth = len(skeleton) - len(skeleton.lstrip("["))
    # Each level takes time, so a list that is too deep is left to the parser, which stops at the limit.
    if not 0 < depth <= MAX_DEPTH:
        return None
    shape: list[int] = []
    for level in range(depth):
        # The first list of this level ends at the first run of `level + 1` closing brackets.
        end = skeleton.find("]" * (level + 1), depth) + level
        size = (end - (depth - level) + 1) // (len(element) + 1)
        if size < 1:
            return None
        element = f"[{','.join([element] * size)}]"
        shape.insert(0, size)
    return tuple(shape) if element == skeleton else None


def parse_elements(context: ActionContext, text: str, offset: int) -> ElementList:
    """Parses a list of elements, or a single one, that is the whole text; raises DiagnosticError."""
    element_parser = ElementParser(context, text, offset)
    elements = element_parser.elements()
    element_parser.expect_end("expected '>'")
    return elements


class ElementParser:
    """Parses elements token by token."""

    def __init__(self, context: ActionContext, text: str, offset: int) -> None:
        self._context = context
        self._text = text
        self._offset = offset
        self._position = 0
        self._elements = ElementList()
        self._advance()

    def elements(self) -> ElementList:
        """Parses a list or a single element."""
        elements = self._elements = ElementList()
        if self._token == "[":
            elements.shape = self._list(1)
        else:
            self._element(1)
        return elements

    def accept(self, token: str) -> bool:
        if self._token != token:
            return False
        self._advance()
        return True

    def expect(self, token: str, message: str) -> None:
        if not self.accept(token):
            raise self._context.wrong_token_error(message, self._start)

    def expect_end(self, message: str) -> None:
        if self._token:
            raise self._context.wrong_token_error(message, self._start)

    def error(self, message: str) -> Exception:
        return self._context.error(message, self._start)

    @property
    def token(self) -> str:
        return self._token

    @property
    def start(self) -> int:
        return self._start

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._position)
        assert match is not None
        group = match.lastindex
        self._token = match[group] if group else ""
        self._start = self._offset + (match.start(group) if group else match.end())
        self._position = match.end()
        self._is_literal = group == 1
        if group == 3 and self._token == ".":
            message = "expected three consecutive dots for an ellipsis"
            raise self._context.error(message, self._start + 1)
        if group == 3 and not (self._token.isalpha() or self._token in "_:+*?=@%|/"):
            raise self.error("unexpected character")

    def _list(self, depth: int) -> tuple[int, ...]:
        if depth > MAX_DEPTH:
            raise self.error("nesting is too deep")
        self._advance()
        size = 0
        inner_shape: tuple[int, ...] = ()
        if self.accept("]"):
            return (0,)
        while True:
            shape: tuple[int, ...] = ()
            if self._token == "[":
                shape = self._list(depth + 1)
            else:
                self._element(depth + 1)
            if size and shape != inner_shape:
                raise self.error("tensor literal is invalid; ranks are not consistent between elements")
            size, inner_shape = size + 1, shape
            if not self.accept(","):
                break
        self.expect("]", "expected ']'")
        return (size, *inner_shape)

    def _element(self, depth: int) -> None:
        if self._token == "(":
            if depth > MAX_DEPTH:
                raise self.error("nesting is too deep")
            self._advance()
            self._element(depth + 1)
            self.expect(",", "expected ',' between complex elements")
            self._element(depth + 1)
            self.expect(")", "expected ')' after complex elements")
            return
        is_negative = self.accept("-")
        if is_negative and not (self._is_literal and self._token[0].isdigit()):
            raise self.error("expected integer or floating point literal")
        if not self._is_literal:
            raise self.error("expected element literal of primitive type")
        self._elements.texts.append(self._token)
        self._elements.offsets.append(self._start)
        self._elements.negative.append(is_negative)
        self._advance()

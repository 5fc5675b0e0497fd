"""Reading and writing the text of sdy's attributes.

An attribute inside another one is written without `#sdy.` and mnemonic; in full, or as an alias, it
is read as well. Where a part of an attribute cannot be read, each attribute around it says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.asm.parser.extent_scanner import body_extent
from sdyopt.asm.strings import escape
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.dialects.sdy.dialect import sdy
from sdyopt.ir.attribute import Attribute

T = TypeVar("T")
A = TypeVar("A", bound=Attribute)

Parse = Callable[[AsmParser], A]
P = TypeVar("P", bound=Callable[[AsmParser], Attribute])


def unbracketed(mnemonic: str, brackets: str = "") -> Callable[[P], P]:
    """Decorator of the function that reads an attribute whose text does not start with `<`.

    Standing alone it is written `#sdy<mnemonic…>`. Who writes `#sdy.mnemonic<…>`, as the reference's
    documentation does, is told so. `brackets` are those that the text must have.
    """

    def register(parse: P) -> P:
        @sdy.attribute(mnemonic)
        def read(parser: AsmParser) -> Attribute:
            start = parser.position
            try:
                return parse(parser)
            except DiagnosticError as error:
                if parser.text.startswith("<", start):
                    body = _body(parser.text, start, brackets)
                    error.help(f"an attribute of this kind is written `#sdy<{mnemonic}{body}>`")
                raise

        return parse

    return register


def _body(text: str, start: int, brackets: str) -> str:
    """What stands between `<` and `>`, in the brackets that belong there."""
    body = text[start + 1 : body_extent(text, start) - 1]
    if not body or "\n" in body or len(body) > _SHOWN:
        body = "…"
    return body if body.startswith(brackets[:1]) else brackets[:1] + body + brackets[1:]


# Longer texts are not repeated in what is said about them.
_SHOWN = 60


def parameter(parser: AsmParser, owner: str, name: str, kind: str, read: Callable[[], T]) -> T:
    """Reads parameter `name` of attribute `owner`; a failure is told of both.

    `kind` is what the reference calls the parameter's type.
    """
    try:
        return read()
    except DiagnosticError as error:
        message = f"failed to parse Sdy_{owner} parameter '{name}' which is to be a `{kind}`"
        raise also(parser, error, message) from None


def also(parser: AsmParser, error: DiagnosticError, message: str) -> DiagnosticError:
    """An error, followed by one about the next token that comes of it."""
    return error.then(parser.error(message))


def integer(parser: AsmParser, owner: str, name: str) -> int:
    """Reads a parameter that is a number."""
    return parameter(parser, owner, name, "int64_t", parser.integer)


def quoted(parser: AsmParser, owner: str, name: str) -> str:
    """Reads a parameter that is a string."""
    return parameter(parser, owner, name, "::llvm::StringRef", parser.string)


def attributes(parser: AsmParser, owner: str, name: str, kind: type[A], parse: Parse[A]) -> tuple[A, ...]:
    """Reads a parameter that is a list of attributes, at least one."""
    cpp = f"::llvm::ArrayRef<{CPP_NAMES[kind]}>"
    read = lambda: parser.comma_list(lambda: nested(parser, kind, parse))  # noqa: E731
    return tuple(parameter(parser, owner, name, cpp, read))


def nested(parser: AsmParser, kind: type[A], parse: Parse[A]) -> A:
    """Reads an attribute of class `kind` inside another one or an operation: bare, in full, or an alias."""
    start = parser.skip_trivia()
    if not parser.text.startswith("#", start):
        return parse(parser)
    found = parser.attribute()
    if not isinstance(found, kind):
        raise parser.error("invalid kind of attribute specified", start)
    return found


def quote(name: str) -> str:
    """A string as a literal."""
    return f'"{escape(name)}"'


# What error messages call the classes of attributes.
CPP_NAMES: dict[type[Attribute], str] = {}


def called(cpp_name: str) -> Callable[[type[A]], type[A]]:
    """Class decorator: the name that error messages have for an attribute."""

    def register(kind: type[A]) -> type[A]:
        CPP_NAMES[kind] = cpp_name
        return kind

    return register

"""Options of passes and pipelines: declared with a type, read from and written to pipeline text.

    conservative_propagation: bool = option(default=False, help="no rule that leads to uneven shards")

is `conservative-propagation=true` in a pipeline. A type is bool, int, float, str, an enumeration of
strings (`Literal` or `StrEnum`), or a tuple of one of these, which is written `name=a,b` or `name={a,b}`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, EnumType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sdyopt.diagnostics.usage import UsageError, nearest_or_all


def option(*, default: Any, help: str) -> Any:
    """Declares an option of a pass, as the value of a field, or of a pipeline, as that of a parameter."""
    return dataclasses.field(default=default, metadata={"help": help}, kw_only=True)


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of a declared option. `flag` is its name in pipeline text."""

    name: str
    flag: str
    default: Any
    help: str
    kind: Kind
    is_list: bool

    def read(self, text: str) -> Any:
        """The value that a text stands for."""
        if not self.is_list:
            return self._read_one(text)
        return tuple(self._read_one(part) for part in split_list(text)) if text else ()

    def write(self, value: Any) -> str:
        """`flag=value`. An empty list is not written at all: there is no text that stands for it."""
        if not self.is_list:
            return f"{self.flag}={self.kind.write(value)}"
        return f"{self.flag}={{{','.join(map(self.kind.write, value))}}}" if value else ""

    def _read_one(self, text: str) -> Any:
        try:
            return self.kind.read(text)
        except ValueError as problem:
            message = f"for the --{self.flag} option: {problem}"
            raise UsageError(message, nearest_or_all(text, self.kind.choices)) from None


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of options. `read` raises ValueError with LLVM's words for a text that is no such value."""

    placeholder: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    choices: tuple[str, ...] = ()


def _read_bool(text: str) -> bool:
    if text in ("", "true", "TRUE", "True", "1"):
        return True
    if text in ("false", "FALSE", "False", "0"):
        return False
    raise ValueError(f"'{text}' is invalid value for boolean argument! Try 0 or 1")


def _read_number(convert: Callable[[str], Any], words: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        if not text:
            raise ValueError("requires a value!")
        try:
            return convert(text)
        except ValueError:
            raise ValueError(f"'{text}' value invalid for {words} argument!") from None

    return read


KINDS = {
    bool: Kind("bool", _read_bool, lambda value: "true" if value else "false"),
    int: Kind("int", _read_number(lambda text: int(text, 0), "long")),
    float: Kind("number", _read_number(float, "floating point")),
    str: Kind("string", str),
}


def _choice(values: Mapping[str, Any]) -> Kind:
    """A kind whose values are spelled by the keys."""

    def read(text: str) -> Any:
        if text not in values:
            raise ValueError(f"Cannot find option named '{text}'!")
        return values[text]

    return Kind("|".join(values), read, str, tuple(values))


def _kind_of(annotation: Any) -> tuple[Kind, bool]:
    """The kind that an annotation stands for, and whether it is a list of it."""
    if get_origin(annotation) is tuple:
        return _kind_of(get_args(annotation)[0])[0], True
    if get_origin(annotation) is Literal:
        return _choice({value: value for value in get_args(annotation)}), False
    if isinstance(annotation, EnumType):
        return _choice({str(member.value): member for member in list[Enum](annotation)}), False
    return KINDS[annotation], False


def declared_options(owner: Any) -> tuple[Option, ...]:
    """The options that the fields of a pass class or the parameters of a pipeline function declare."""
    hints = get_type_hints(owner)
    if isinstance(owner, type):
        fields = {field.name: field for field in dataclasses.fields(owner) if "help" in field.metadata}
    else:
        defaults = {
            name: parameter.default for name, parameter in inspect.signature(owner).parameters.items()
        }
        fields = {name: field for name, field in defaults.items() if isinstance(field, dataclasses.Field)}
    return tuple(_declared(name, field, hints[name]) for name, field in fields.items())


def _declared(name: str, field: dataclasses.Field[Any], annotation: Any) -> Option:
    kind, is_list = _kind_of(annotation)
    return Option(name, name.replace("_", "-"), field.default, field.metadata["help"], kind, is_list)


def read_options(options: tuple[Option, ...], text: str) -> dict[str, Any]:
    """The values that `a=1 b={x,y}` gives to options, by name. A list may be given piece by piece."""
    by_flag = {option.flag: option for option in options}
    values: dict[str, Any] = {}
    while text := text.lstrip():
        flag, value, text = _next_assignment(text)
        option = by_flag.get(flag)
        if option is None:
            help = nearest_or_all(flag, by_flag) or "it has no options"
            raise UsageError(f"<Pass-Options-Parser>: no such option {flag}", help)
        read = option.read(value)
        values[option.name] = values.get(option.name, ()) + read if option.is_list else read
    return values


def write_options(options: tuple[Option, ...], values: Any) -> str:
    """`{a=1 b=2}` with the value of every option, in alphabetical order; empty if there are none."""
    if not options:
        return ""
    ordered = sorted(options, key=lambda option: option.flag)
    return "{" + " ".join(option.write(getattr(values, option.name)) for option in ordered) + "}"


def _next_assignment(text: str) -> tuple[str, str, str]:
    """The name and the value of the first assignment in a text, and what follows it."""
    name_end = next((at for at, character in enumerate(text) if character in " ="), len(text))
    name = text[:name_end]
    if text[name_end : name_end + 1] != "=":
        return name, "", text[name_end:]
    value_end = _find(text, name_end + 1, " ")
    return name, _unwrap(text[name_end + 1 : value_end]), text[value_end:]


def split_list(text: str) -> list[str]:
    """The elements of `a,b,c`, commas within quotes and braces not counted."""
    parts, start = [], 0
    while (comma := _find(text, start, ",")) < len(text):
        parts.append(_unwrap(text[start:comma]))
        start = comma + 1
    return [*parts, _unwrap(text[start:])]


_CLOSING = {"{": "}", "(": ")", "[": "]"}


def _find(text: str, start: int, wanted: str) -> int:
    """Where a character next stands outside quotes and brackets; the end of the text if nowhere."""
    awaited: list[str] = []
    at = start
    while at < len(text):
        character = text[at]
        if not awaited and character == wanted:
            return at
        if character in "'\"":
            closing = text.find(character, at + 1)
            at = closing if closing >= 0 else at
        elif character in _CLOSING:
            awaited.append(_CLOSING[character])
        elif awaited and character == awaited[-1]:
            awaited.pop()
        at += 1
    return len(text)


def _unwrap(text: str) -> str:
    """A value without the quotes, or the braces, around all of it."""
    text = text.strip()
    if len(text) > 1:
        if text[0] == text[-1] and text[0] in "'\"":
            return text[1:-1].strip()
        if text[0] == "{" and _find(text, 1, "}") == len(text) - 1:
            return text[1:-1].strip()
    return text

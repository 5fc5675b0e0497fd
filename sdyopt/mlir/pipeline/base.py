"""The base class of passes, their options, docstrings and statistics.

An option is declared as a typed field:

    keep_sharding_rules: bool = option(default=False, help="keep sharding rules on operations")

is written `keep-sharding-rules=true` in a pipeline. Types are bool, int (64 bits), `Unsigned` (32 bits),
float, str, string enumerations (`Literal` or `StrEnum`), and tuples of one of these, written `name=a,b` or
`name={a,b}`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Mapping, Sequence
from enum import Enum, EnumType
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NewType,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from sdyopt.base.dataclasses import DataclassField, NamedTuple, dataclass, field, fields
from sdyopt.base.diagnostics.usage import UsageError, nearest_or_all, read_float, read_long, read_uint
from sdyopt.base.releases import Behavior
from sdyopt.mlir.ir.operation import Op

if TYPE_CHECKING:  # imported when manuals are read
    import ast

    Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


# An integer of at most 32 bits without a sign.
Unsigned = NewType("Unsigned", int)
# The values of options.
Scalar = bool | int | float | str | Enum
OptionValue = Scalar | tuple[Scalar, ...]


class Since(NamedTuple):
    """The first release with an option, or with its default if `before` is that of earlier releases."""

    behavior: Behavior
    before: OptionValue | None = None


def option(*, default: OptionValue, help: str, is_addition: bool = False, since: Since | None = None) -> Any:
    """Declares an option: the value of a field of a pass, or the default of a parameter of a pipeline.

    An addition is an option that a pass of C++ lacks. In earlier releases than `since`, an option has another
    default, or C++ lacks it.
    """
    metadata = {"help": help, "is_addition": is_addition, "since": since}
    return field(default=default, metadata=metadata, kw_only=True)


@dataclass(frozen=True, slots=True)
class Option:
    """A declared option. `flag` is its name in pipeline text.

    The text of a pipeline that has no addition but at its default can be run by C++.
    """

    name: str
    flag: str
    newest_default: OptionValue
    help: str
    kind: OptionKind
    is_list: bool
    is_newest_addition: bool
    since: Since | None

    @classmethod
    def of(cls, name: str, field: DataclassField, annotation: object) -> Option:
        kind, is_list = _kind_of(annotation)
        help, is_addition, since = (field.metadata[key] for key in ("help", "is_addition", "since"))
        return cls(name, name.replace("_", "-"), field.default, help, kind, is_list, is_addition, since)

    @property
    def default(self) -> OptionValue:
        """The default in the release that is followed."""
        since = self.since
        if since is None or since.before is None or since.behavior.active:
            return self.newest_default
        return since.before

    @property
    def is_addition(self) -> bool:
        """Whether the passes of C++ in the release that is followed lack the option."""
        return self.is_newest_addition or self.is_later

    @property
    def is_later(self) -> bool:
        """Whether a later release than the one that is followed introduced the option."""
        since = self.since
        return since is not None and since.before is None and not since.behavior.active

    def read(self, text: str) -> OptionValue:
        """Parses a value; raises UsageError if it is invalid."""
        if not self.is_list:
            return self._read_one(text)
        return tuple(self._read_one(part) for part in split_list(text)) if text else ()

    def write(self, value: OptionValue) -> str:
        """`flag=value`; empty for an empty list, which cannot be written."""
        if not isinstance(value, tuple):
            return f"{self.flag}={self.kind.write(value)}"
        return f"{self.flag}={{{','.join(map(self.kind.write, value))}}}" if value else ""

    def _read_one(self, text: str) -> Scalar:
        try:
            return self.kind.read(text)
        except ValueError as problem:
            message = f"for the --{self.flag} option: {problem}"
            raise UsageError(message, nearest_or_all(text, self.kind.choices) or self.kind.help) from None


@dataclass(frozen=True, slots=True)
class OptionKind:
    """A type of option values. `read` raises ValueError with LLVM's message for an invalid value.

    `help` is shown for an invalid value of a kind without `choices`.
    """

    placeholder: str
    read: Callable[[str], Scalar]
    write: Callable[[Scalar], str] = str
    choices: tuple[str, ...] = ()
    help: str = ""


def _read_bool(text: str) -> bool:
    if text in ("", "true", "TRUE", "True", "1"):
        return True
    if text in ("false", "FALSE", "False", "0"):
        return False
    raise ValueError(f"'{text}' is invalid value for boolean argument! Try 0 or 1")


KINDS: dict[object, OptionKind] = {
    bool: OptionKind(
        "bool", _read_bool, lambda value: "true" if value else "false", help="write true or false"
    ),
    int: OptionKind("int", read_long, help="write an integer of at most 64 bits"),
    Unsigned: OptionKind("int", read_uint, help="write an integer from 0 to 4294967295"),
    float: OptionKind("number", read_float, help="write a number"),
    str: OptionKind("string", str),
}


def _choice(values: Mapping[str, Scalar]) -> OptionKind:
    """A kind whose values are written as the keys of a mapping."""

    def read(text: str) -> Scalar:
        if text not in values:
            raise ValueError(f"Cannot find option named '{text}'!")
        return values[text]

    return OptionKind("|".join(values), read, str, tuple(values))


def _kind_of(annotation: object) -> tuple[OptionKind, bool]:
    """The kind of an annotation, and whether it is a list of that kind."""
    if get_origin(annotation) is tuple:
        return _kind_of(get_args(annotation)[0])[0], True
    if get_origin(annotation) is Literal:
        return _choice({value: value for value in get_args(annotation)}), False
    if isinstance(annotation, EnumType):
        return _choice({str(member.value): member for member in list[Enum](annotation)}), False
    return KINDS[annotation], False


def declared_options(owner: type | Callable[..., object]) -> tuple[Option, ...]:
    """The options declared by the fields of a pass class or the parameters of a pipeline function."""
    declared = {
        name: field
        for name, field in (fields(owner) if isinstance(owner, type) else _defaults(owner)).items()
        if isinstance(field, DataclassField) and "help" in field.metadata
    }
    # Annotations are text, which Python compiles: few passes have options.
    hints = get_type_hints(owner) if declared else {}
    return tuple([Option.of(name, field, hints[name]) for name, field in declared.items()])


def _defaults(function: Any) -> dict[str, object]:
    """The defaults of the parameters of a function that may be wrapped. `inspect` is slow to import."""
    function = getattr(function, "__wrapped__", function)
    code, defaults = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    by_name = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    return by_name | (function.__kwdefaults__ or {})


def read_options(options: tuple[Option, ...], text: str) -> dict[str, OptionValue]:
    """Parses `a=1 b={x,y}` into values by option name. Raises UsageError.

    The values of a repeated list option are concatenated; for any other repeated option, the last one counts.
    """
    by_flag = {option.flag: option for option in options}
    values: dict[str, OptionValue] = {}
    rest = text
    while rest := rest.lstrip():
        flag, value, rest = _next_assignment(rest)
        option = by_flag.get(flag)
        if option is None:
            help = _layout_help(text, by_flag) or nearest_or_all(flag, by_flag) or "the pass has no options"
            raise UsageError(f"<Pass-Options-Parser>: no such option {flag}", help)
        if option.is_later:
            assert option.since is not None
            help = f"the option came with {option.since.behavior.since.name}; change --sdy-version"
            raise UsageError(f"<Pass-Options-Parser>: no such option {flag}", help)
        try:
            parsed, previous = option.read(value), values.get(option.name, ())
        except UsageError as error:
            raise UsageError(error.message, _layout_help(text, by_flag) or error.help) from None
        if isinstance(parsed, tuple) and isinstance(previous, tuple):
            parsed = previous + parsed
        values[option.name] = parsed
    return values


def _layout_help(text: str, flags: Container[str]) -> str:
    """The help for options that are in braces or separated by commas; empty for others."""
    plain = _unwrap(text)
    spaced = re.sub(r",\s*([\w-]+)=", lambda m: f" {m[1]}=" if m[1] in flags else m[0], plain)
    if plain == text.strip() and spaced == plain:
        return ""
    separators = " separated by spaces" if spaced != plain else ""
    return f"write the options{separators or ' without braces'}: '{spaced}'"


def write_options(options: tuple[Option, ...], values: object) -> str:
    """`{a=1 b=2}` with the values of all options, sorted by name; empty without options.

    Additions with their default are left out.
    """
    written = []
    for option in sorted(options, key=lambda option: option.flag):
        value = getattr(values, option.name)
        if not option.is_addition or value != option.default:
            written.append(option.write(value))
    return "{" + " ".join(written) + "}" if written else ""


def _next_assignment(text: str) -> tuple[str, str, str]:
    """The name and value of the first option in a text, and the remaining text; a value may be missing."""
    name_end = next((i for i, character in enumerate(text) if character in " ="), len(text))
    name = text[:name_end]
    if text[name_end : name_end + 1] != "=":
        return name, "", text[name_end:]
    value_end = _find(text, name_end + 1, " ")
    return name, _unwrap(text[name_end + 1 : value_end]), text[value_end:]


def split_list(text: str) -> list[str]:
    """The elements of `a,b,c`; commas in quotes and brackets do not separate."""
    parts, start = [], 0
    while (comma := _find(text, start, ",")) < len(text):
        parts.append(_unwrap(text[start:comma]))
        start = comma + 1
    return [*parts, _unwrap(text[start:])]


_CLOSING = {"{": "}", "(": ")", "[": "]"}


def _find(text: str, start: int, searched: str) -> int:
    """The next offset of a character outside quotes and brackets; the length of the text if there is none."""
    open_brackets: list[str] = []
    offset = start
    while offset < len(text):
        character = text[offset]
        if not open_brackets and character == searched:
            return offset
        if character in "'\"":
            closing = text.find(character, offset + 1)
            offset = closing if closing >= 0 else offset
        elif character in _CLOSING:
            open_brackets.append(_CLOSING[character])
        elif open_brackets and character == open_brackets[-1]:
            open_brackets.pop()
        offset += 1
    return len(text)


def _unwrap(text: str) -> str:
    """A value without enclosing quotes or braces."""
    text = text.strip()
    if len(text) > 1:
        if text[0] == text[-1] and text[0] in "'\"":
            return text[1:-1].strip()
        if text[0] == "{" and _find(text, 1, "}") == len(text) - 1:
            return text[1:-1].strip()
    return text


def docstring(module: str, names: Sequence[str] = ()) -> str:
    """The docstring of a module, or of a class or function in it, from its source.

    `names` are the names of the enclosing definitions, outermost first, and then its own. Empty if there is
    no source, or no docstring.
    """
    import ast  # noqa: PLC0415  only help needs it

    node = _syntax_tree(module)
    for name in names:
        if node is not None:
            node = _definition(node, name)
    return "" if node is None else ast.get_docstring(node) or ""


@cache
def _syntax_tree(module: str) -> Documented | None:
    """The syntax tree of a module; its loader returns the source, even from an archive."""
    import ast  # noqa: PLC0415

    loader: Any = getattr(sys.modules.get(module), "__loader__", None)
    try:
        source = loader.get_source(module) if hasattr(loader, "get_source") else None
    except (ImportError, OSError):
        return None
    return None if source is None else ast.parse(source)


def _definition(scope: Documented, name: str) -> Documented | None:
    import ast  # noqa: PLC0415

    for node in scope.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
    return None


MODULE = "builtin.module"
FUNCTION = "func.func"

# Runs passes on each operation, with the instruments and verification of the pipeline. After a failure, runs
# them on the remaining operations, then raises PipelineFailure.
RunNested = Callable[[Sequence["Pass"], Sequence[Op]], None]


@dataclass(frozen=True, slots=True)
class Statistic:
    """A counter of a pass. Declared in the class of the pass, printed by `--mlir-pass-statistics`."""

    name: str
    help: str


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
@dataclass(frozen=True, eq=False)
class Pass:
    """Base class of all passes. A subclass is a frozen dataclass whose fields are the options of the pass.

    `anchor` is the operation that the pass runs on: `builtin.module`, `func.func`, or None for any. `flag` is
    set by `@register`. The manual is the docstring of the class or, without one, of the file.
    """

    flag: ClassVar[str] = ""
    anchor: ClassVar[str | None] = MODULE

    _manual: ClassVar[str] = ""
    _counts: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._manual = cls.__doc__ or sys.modules[cls.__module__].__doc__ or ""
        if cls.__annotations__:  # without fields of its own, a pass inherits the generated __init__
            dataclass(frozen=True, eq=False)(cls)
        for name, value in vars(cls).items():
            if isinstance(value, DataclassField):
                raise TypeError(f"the option {name!r} of {cls.__name__} has no type, as in `{name}: int = …`")

    def run(self, op: Any) -> bool:
        """Transforms `op` and returns whether it changed. To fail, raise DiagnosticError or emit an error."""
        raise NotImplementedError

    def run_with(self, op: Any, run_nested: RunNested) -> bool:
        """Runs the pass. A pass that runs other passes on nested operations overrides this, not `run`."""
        return self.run(op)

    @property
    def writes_files(self) -> bool:
        """Whether the pass writes the program to files: then it must be valid before the pass."""
        return False

    def count(self, statistic: Statistic, by: int = 1) -> None:
        """Adds to a statistic."""
        self._counts[statistic.name] = self._counts.get(statistic.name, 0) + by

    def counted(self, statistic: Statistic) -> int:
        """The value of a statistic."""
        return self._counts.get(statistic.name, 0)

    def __str__(self) -> str:
        return self.flag + write_options(self.options(), self)

    @classmethod
    @cache
    def options(cls) -> tuple[Option, ...]:
        """The options in declaration order."""
        return declared_options(cls)

    @classmethod
    def statistics(cls) -> tuple[Statistic, ...]:
        """The statistics that the class declares."""
        return tuple(value for value in vars(cls).values() if isinstance(value, Statistic))

    @classmethod
    def label(cls) -> str:
        """The name in IR dumps, timing and statistics: like that of a C++ class, such as `CSEPass`."""
        return f"{cls.__name__}Pass"

    @classmethod
    def manual(cls) -> str:
        """The text for `--help-pass`. Its first line is `flag: summary`."""
        names = cls.__qualname__.split(".")
        return manual_text(cls._manual, cls.__module__, names) or manual_text("", cls.__module__)


def manual_text(text: str | None, module: str, names: Sequence[str] = ()) -> str:
    """A docstring for help. Without one, it is read from the source, see `docstring`."""
    from inspect import cleandoc  # noqa: PLC0415  slow to import, and only help needs it

    return cleandoc(text or docstring(module, names))

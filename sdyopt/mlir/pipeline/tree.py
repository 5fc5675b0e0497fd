"""Pipelines: trees of passes, and their text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from sdyopt.base.dataclasses import dataclass, field
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.diagnostics.render import render
from sdyopt.base.diagnostics.usage import UsageError
from sdyopt.mlir.pipeline.base import MODULE, Pass

ANY = "any"


@dataclass(slots=True, eq=False)
class Pipeline:
    """Passes and nested pipelines that run on operations named `anchor`.

    A nested pipeline runs on each such operation that is directly in a region of the parent operation.
    """

    anchor: str = MODULE
    elements: list[Pass | Pipeline] = field(default_factory=list)

    def add(self, element: Pass | Pipeline) -> None:
        """Appends a pass or nested pipeline; raises UsageError for a pass with a different anchor."""
        if isinstance(element, Pass) and not self.accepts(element):
            raise UsageError(
                f"Can't add pass '{element.label()}' restricted to '{element.anchor}' on a PassManager "
                f"intended to run on '{self.anchor}', did you intend to nest?",
                f"{element.flag} runs on {MODULE}: write it outside of {self.anchor}(…)"
                if element.anchor == MODULE
                else f"write {element.anchor}({element.flag})",
            )
        self.elements.append(element)

    def add_nested(self, elements: Iterable[Pass | Pipeline]) -> None:
        """Appends passes and pipelines; a pass with a different anchor is wrapped in a nested pipeline.

        Raises UsageError for a pass on modules if the anchor is another operation.
        """
        for element in elements:
            if isinstance(element, Pass) and element.anchor not in (None, MODULE, self.anchor):
                self.elements.append(Pipeline(element.anchor, [element]))
            else:
                self.add(element)

    def accepts(self, pass_: Pass) -> bool:
        """Whether a pass can run on the anchor of this pipeline."""
        return pass_.anchor in (None, self.anchor) or self.anchor == ANY

    def passes(self) -> Iterator[Pass]:
        """All passes in order, those of nested pipelines included."""
        for element in self.elements:
            if isinstance(element, Pass):
                yield element
            else:
                yield from element.passes()

    def on(self, anchor: str) -> Pipeline:
        """This pipeline with another anchor; nested pipelines on that anchor are unwrapped.

        Raises UsageError for a pass with a different anchor.
        """
        pipeline = Pipeline(anchor)
        for element in self.elements:
            if isinstance(element, Pipeline) and element.anchor == anchor:
                pipeline.elements += element.elements
            else:
                pipeline.add(element)
        return pipeline

    def merged(self) -> Pipeline:
        """This pipeline as it is run: adjacent nested pipelines with the same anchor are merged.

        All passes of a merged pipeline run on one operation before the next operation.
        """
        elements: list[Pass | Pipeline] = []
        for element in self.elements:
            previous = elements[-1] if elements else None
            if (
                isinstance(element, Pipeline)
                and isinstance(previous, Pipeline)
                and previous.anchor == element.anchor
            ):
                elements[-1] = Pipeline(previous.anchor, previous.elements + element.elements)
            else:
                elements.append(element)
        merged = [element if isinstance(element, Pass) else element.merged() for element in elements]
        # An unchanged pipeline stays the same object: timers are keyed by pipeline.
        return self if merged == self.elements else Pipeline(self.anchor, merged)

    def dump(self) -> str:
        """The output of `--dump-pass-pipeline`."""
        return f"Pass Manager with {len(self.elements)} passes:\n{self}\n\n"

    def __str__(self) -> str:
        return f"{self.anchor}({','.join(map(str, self.elements))})"


# The file name of the pipeline text in diagnostics.
TEXT_NAME = "MLIR Textual PassPipeline Parser"


class RegisteredPass(Protocol):
    """A registered pass or pass pipeline."""

    def build(self, option_text: str) -> Sequence[Pass | Pipeline]:
        """The passes, with options parsed from the text; raises UsageError."""

    @property
    def is_pass(self) -> bool:
        """Whether it is a pass, which must match the anchor; passes of a pipeline are nested as needed."""


# The limit for parentheses in parentheses, which allows functions on pipelines to be recursive.
_MAX_NESTING_DEPTH = 100

# Name -> entry; raises UsageError with help for an unknown name.
Lookup = Callable[[str], RegisteredPass]


@dataclass(slots=True, eq=False)
class _Element:
    """A name in the text with its options, or with the elements in its parentheses."""

    name: str
    offset: int
    options: str = ""
    inner: list[_Element] = field(default_factory=list)


def parse_pipeline(text: str, lookup: Lookup) -> Pipeline:
    """Parses a textual pipeline. Raises UsageError, which shows where wrong syntax or an unknown name is."""
    text = text.strip()
    if not re.fullmatch(r"[^(]+\(.*\)", text, re.DOTALL):
        raise UsageError(
            "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'",
            _wrapped(text),
        )
    (outer,) = _StructureParser(text).parse()
    pipeline = Pipeline(outer.name)
    # `builtin.module()` is an empty pipeline; nested ones must not be empty.
    if [element.name for element in outer.inner] != [""]:
        _add(outer.inner, pipeline, text, lookup)
    return pipeline


def parse_passes(text: str, lookup: Lookup) -> Pipeline:
    """Parses `a{x=1},b` into a pipeline on modules. Raises UsageError like `parse_pipeline`.

    Unlike in a textual pipeline, a pass that runs on another operation is nested under it.
    """
    text = f"{MODULE}({text.strip()})"
    (outer,) = _StructureParser(text).parse()
    pipeline = Pipeline(MODULE)
    if [element.name for element in outer.inner] != [""]:
        _add(outer.inner, pipeline, text, lookup, nests=True)
    return pipeline


def _wrapped(text: str) -> str:
    """The help for a text that is not a pipeline: the text with the missing parts, if they are known."""
    missing = text.count("(") - text.count(")")
    if missing > 0:
        return f"write {text}{')' * missing}"
    return f"write builtin.module({text})" if text and missing == 0 else ""


def add_entry(pipeline: Pipeline, entry: RegisteredPass, name: str, options: str, nests: bool) -> None:
    """Appends the passes of an entry to a pipeline; raises UsageError if they cannot run there.

    With `nests`, a pass that runs on another operation is nested under it.
    """
    try:
        built = entry.build(options)
        if entry.is_pass and not nests:
            pipeline.add(built[0])
        else:
            pipeline.add_nested(built)
    except UsageError as error:
        raise failed_to_add(name, options, error) from None


def failed_to_add(name: str, options: str, error: UsageError) -> UsageError:
    """The error for a pass that cannot be added, with the original message and help."""
    return UsageError(f"{error.message}\nfailed to add `{name}` with options `{options}`", error.help)


def _add(
    elements: Iterable[_Element], pipeline: Pipeline, text: str, lookup: Lookup, nests: bool = False
) -> None:
    for element in elements:
        if element.inner:
            nested = Pipeline(element.name)
            _add(element.inner, nested, text, lookup)
            pipeline.add(nested)
            continue
        try:
            entry = lookup(element.name)
        except UsageError as error:
            raise _located(text, element.offset, error.message, error.help) from None
        add_entry(pipeline, entry, element.name, element.options, nests)


def _located(text: str, offset: int, message: str, help: str = "") -> UsageError:
    source = Source(TEXT_NAME, text)
    diagnostic = DiagnosticError.at(source.location(offset), message).diagnostic
    return UsageError(render(diagnostic, source).rstrip("\n"), help, diagnostic)


class _StructureParser:
    """Parses the structure of the text, without looking up names."""

    _SEPARATOR = re.compile(r"[,(){]")

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._stack: list[list[_Element]] = [[]]

    def parse(self) -> list[_Element]:
        while True:
            self._parse_name()
            if self._peek() == "(":
                if len(self._stack) > _MAX_NESTING_DEPTH:
                    raise self._error(self._offset, "nesting is too deep")
                self._offset += 1
                self._stack.append(self._stack[-1][-1].inner)
                continue
            if self._peek() == "{":
                self._parse_options()
            self._parse_closing_parentheses()
            if self._offset == len(self._text):
                break
            if self._peek() != ",":
                raise self._error(self._offset, "expected ',' after parsing pipeline")
            self._offset += 1
        if len(self._stack) > 1:
            raise self._error(
                self._offset,
                "encountered unbalanced parentheses while parsing pipeline",
                "close the parentheses with `)`",
            )
        (elements,) = self._stack
        if len(elements) > 1:
            raise self._error(elements[1].offset, "expected only one pipeline")
        return elements

    def _peek(self) -> str:
        return self._text[self._offset : self._offset + 1]

    def _parse_name(self) -> None:
        separator = self._SEPARATOR.search(self._text, self._offset)
        end = separator.start() if separator else len(self._text)
        name = self._text[self._offset : end]
        offset = self._offset + len(name) - len(name.lstrip())
        self._stack[-1].append(_Element(name.strip(), offset))
        self._offset = end

    def _parse_options(self) -> None:
        start, depth = self._offset, 0
        for offset in range(start, len(self._text)):
            depth += (self._text[offset] == "{") - (self._text[offset] == "}")
            if depth == 0:
                self._stack[-1][-1].options = self._text[start + 1 : offset]
                self._offset = offset + 1
                self._skip_space()
                return
        raise self._error(
            start, "missing closing '}' while processing pass options", "close the options with `}`"
        )

    def _parse_closing_parentheses(self) -> None:
        """Parses all closing parentheses at the current position."""
        while self._peek() == ")":
            if len(self._stack) == 1:
                raise self._error(
                    self._offset,
                    "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline",
                    "remove the `)`",
                )
            self._stack.pop()
            self._offset += 1
            self._skip_space()

    def _skip_space(self) -> None:
        while self._peek().isspace():
            self._offset += 1

    def _error(self, offset: int, message: str, help: str = "") -> UsageError:
        return _located(self._text, offset, message, help)

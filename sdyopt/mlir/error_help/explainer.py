"""Completes diagnostics: the culprit for the excerpt, and help."""

from __future__ import annotations

import re
from functools import cached_property

from sdyopt.base.diagnostics.diagnostic import Diagnostic
from sdyopt.base.diagnostics.ids import PARSE_ERROR, Message
from sdyopt.base.diagnostics.location import FileRange, Location, Source, UnknownLoc, resolve_file_location
from sdyopt.mlir.asm.lexical import LexError, Token, next_token
from sdyopt.mlir.asm.parser.module_parser import ParseOptions
from sdyopt.mlir.error_help import names
from sdyopt.mlir.error_help.statement import OpOffsets, Statement
from sdyopt.mlir.error_help.table import (
    EXPLANATIONS,
    Case,
    ErrorExplanation,
    Narrowing,
    attribute,
    first_of,
    narrow,
    only,
    steps_of,
)
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.symbols import FunctionOpInterface
from sdyopt.mlir.value_names import name_of, name_of_result

# The module whose functions fill the table.
TOPICS = (names,)

# What a message names: texts in quotes, and symbols.
_QUOTED = re.compile(r"'([^']+)'|`([^`]+)`|(\"[^\"]+\")|(@[\w$.-]+)")
_ATTRIBUTE_NAME = re.compile(r"\b[a-z]\w{3,}")
# A message may contain the text of a whole operation, so only its start is searched.
_MAX_SEARCHED = 500
# On a line of many statements, each one is read with those that follow it. To bound the time, all statements
# together are at most this many times as long as the source; after that, only the start of each is read.
_READS_OF_SOURCE = 4
_TWO_WORDS = 2
_MIN_CHARACTERS = 200
# In longer messages no hint is looked for: the time to find a pattern in one may be quadratic.
_MAX_MESSAGE = 20_000
# What sdy-opt writes, and some give it in place of the program: JSON with its schema, checks and reports.
_OUTPUT = re.compile(
    r'\s*\{\s*"schema": "(sdy-opt-[a-z-]+)"|[^\n]*sdy-opt|communication  |assumed: |\d+ devices, mesh \\?<'
    r'|<!doctype html><html lang="en"><head>'
)
# A line of each program, and what a text without one is not.
_STATEMENT = re.compile(
    r'^[ \t]*(?:module|func\.func|sdy\.mesh|builtin\.|[#!][\w.]+ *=|%[\w:]+ *=|"[\w.]+" *\()', re.MULTILINE
)
_GUESSES = ("did you mean", "load the dialect")
_NO_PROGRAM = "this is no MLIR; give what jax.jit(f).lower(*arguments).as_text(debug_info=True) returns"
# Only the first character of these tokens is underlined.
_NOT_UNDERLINED = frozenset({"->", "...", "{-#", "#-}"})


class DiagnosticExplainer:
    """Completes the diagnostics of one source, which may be a chunk of a file."""

    def __init__(self, source: Source, dialects: DialectTable, options: ParseOptions) -> None:
        self._source = source
        self._dialects = dialects
        self._options = options
        # How many characters may still be read as statements.
        self.characters_left = _READS_OF_SOURCE * len(source.text)
        self._statements: dict[int, Statement] = {}
        self._offsets: dict[tuple[Location, OpSignature], int] = {}

    def complete(self, diagnostic: Diagnostic) -> None:
        """Sets the culprit and help of a diagnostic, and the culprits of its notes, unless they are set."""
        offset = self._offset(diagnostic.location, diagnostic.operation)
        statement = None if offset < 0 else self._statement(offset)
        explanation = self._explain(diagnostic, offset, statement)
        help = diagnostic.help or explanation.help
        if diagnostic.id == PARSE_ERROR and offset >= 0:
            # A file that is cut off ends in its last word, or within it.
            if (not help or help.startswith("did you mean")) and self._is_last_word(offset):
                help = "the text ends here: is the file complete?"
            elif (not help or help.startswith(_GUESSES)) and self._has_no_statement(offset):
                # What is like the first word is no help for a text that is something else.
                output = _OUTPUT.match(self._source.text)
                written = "" if output is None or not output[1] else f" ({output[1]})"
                help = f"this is what sdy-opt wrote{written}; give it the program" if output else _NO_PROGRAM
        diagnostic.help = _with_name(diagnostic, help)
        if diagnostic.culprit is None and statement is not None:
            diagnostic.culprit = self._culprit(diagnostic, offset, statement, explanation)
        for note in diagnostic.notes:
            self._locate(note, diagnostic)

    def _has_no_statement(self, offset: int) -> bool:
        """Whether a text with a mistake at its first word is no program at all."""
        text = self._source.text
        is_first = not text[:offset].strip()
        return is_first and (text.startswith("<", offset) or _STATEMENT.search(text) is None)

    def range_of(self, location: Location, op: Op, *steps: Narrowing) -> FileRange | None:
        """The piece that steps find in the statement of an operation, or its first token.

        None if the source does not have the operation.
        """
        key = location, op.signature
        if key not in self._offsets:
            file_location = resolve_file_location(location)
            is_inside = file_location is not None and file_location.file == self._source.name
            self._offsets[key] = self._offset(location, None if is_inside else op)
        offset = self._offsets[key]
        if offset < 0:
            return None
        if not steps:
            return self._token_range(offset)
        if offset not in self._statements:
            self._statements[offset] = self._statement(offset)
        statement = self._statements[offset]
        span = narrow(statement, *steps)
        return self._token_range(offset) if span is None else self._range(*statement.offsets(span))

    def _is_last_word(self, offset: int) -> bool:
        """Whether at most a word is at an offset, and nothing after it, in a text that has much more."""
        rest = self._source.text[offset : offset + _MIN_CHARACTERS].split()
        is_last = offset + _MIN_CHARACTERS >= len(self._source.text)
        return offset > _MIN_CHARACTERS and len(rest) < _TWO_WORDS and is_last

    def _statement(self, offset: int) -> Statement:
        """The statement at an offset, or only its start if much of the source was read before."""
        statement = Statement(self._source.text, offset, offset + max(self.characters_left, _MIN_CHARACTERS))
        self.characters_left -= statement.end - offset
        return statement

    def _explain(self, diagnostic: Diagnostic, offset: int, statement: Statement | None) -> ErrorExplanation:
        message = diagnostic.message
        if not isinstance(message, Message):
            is_syntax = diagnostic.id == PARSE_ERROR and len(message) <= _MAX_MESSAGE
            return ErrorExplanation(
                help=names.help_at(message, self._source.text, offset) if is_syntax else ""
            )
        kind = message.kind
        case = Case(message, self._source.text, offset, self._dialects, diagnostic.operation, statement)
        explanation = EXPLANATIONS[kind.explain](case) if kind.explain else ""
        if isinstance(explanation, str):
            explanation = ErrorExplanation(help=explanation)
        help = explanation.help or kind.help.format_map(case.values)
        return ErrorExplanation(explanation.steps or steps_of(case), help, explanation.token)

    def _locate(self, note: Diagnostic, diagnostic: Diagnostic) -> None:
        """Sets the culprit of a note that has another location than its diagnostic."""
        if note.culprit is None and note.location is not diagnostic.location:
            offset = self._offset(note.location, None)
            if offset >= 0:
                note.culprit = self._token_range(offset)

    # --- The culprit ----------------------------------------------------------------------------

    def _culprit(
        self, diagnostic: Diagnostic, offset: int, statement: Statement, explanation: ErrorExplanation
    ) -> FileRange | None:
        if explanation.token is not None:
            return self._token_range(explanation.token)
        span = narrow(statement, *explanation.steps)
        if span is None and not explanation.steps and diagnostic.id != PARSE_ERROR:
            span = narrow(statement, first_of(*_named_pieces(diagnostic)))
        return self._token_range(offset) if span is None else self._range(*statement.offsets(span))

    def _token_range(self, offset: int) -> FileRange | None:
        """The range of the token at an offset, or of a single character."""
        token = self._token_at(offset)
        is_underlined = token is not None and token.text not in _NOT_UNDERLINED
        return self._range(offset, token.end if token is not None and is_underlined else offset + 1)

    def _range(self, start: int, end: int) -> FileRange:
        source = self._source
        line, column = source.line_column(start)
        return FileRange(source.name, line, column, *source.line_column(end))

    # --- The statement --------------------------------------------------------------------------

    def _offset(self, location: Location, op: Op | None) -> int:
        """The offset of a location in the source, or of the operation that has it; -1 if there is none."""
        source, point = self._source, resolve_file_location(location)
        if point is not None and point.file == source.name:
            offset = source.offset_of(point.line, point.column)
            is_inside = offset is not None and 0 <= offset <= len(source.text)
            if offset is not None and is_inside and (op is None or _is_on_line(source.text, offset, op)):
                return offset
        if op is None and (isinstance(location, UnknownLoc) or (point and point.file == source.name)):
            return -1
        statement = self._op_offsets.find(location, op)
        return -1 if statement is None else statement

    @cached_property
    def _op_offsets(self) -> OpOffsets:
        return OpOffsets(self._source, self._dialects, self._options)

    def _token_at(self, offset: int) -> Token | None:
        """The token that starts at an offset; None if there is none."""
        try:
            token = next_token(self._source.text, offset, len(self._source.text), frozenset())
        except LexError:
            return None
        return token if token.start == offset and token.end > offset else None


def _is_on_line(text: str, offset: int, op: Op) -> bool:
    """Whether the line at an offset contains the name of the operation.

    It may not: a `loc(…)` of the program may have the name of this source and yet mean another text.
    """
    start, end = text.rfind("\n", 0, offset) + 1, text.find("\n", offset)
    mnemonic = op.signature.name.rpartition(".")[2]
    return mnemonic in text[start : end if end >= 0 else len(text)]


def _with_name(diagnostic: Diagnostic, help: str) -> str:
    """The help, after the name that a program of JAX gives the argument or result that a message is about."""
    op, message = diagnostic.operation, diagnostic.message
    side = message.values.get("side") if isinstance(message, Message) else None
    if not isinstance(message, Message) or side not in ("arg", "result"):
        return help
    if not isinstance(op, FunctionOpInterface):
        return help
    index, entry = message.values["index"], op.regions[0].entry
    if side == "result":
        name = name_of_result(op, index) if index < len(op.result_attributes) else ""
    else:
        arguments = () if entry is None else entry.arguments
        name = name_of(arguments[index]) if index < len(arguments) else ""
    return "; ".join(filter(None, (name and f"{side} {index} is {name}", help)))


def _named_pieces(diagnostic: Diagnostic) -> list[Narrowing]:
    """The steps to what the message quotes, except the operation's name, and to attributes that it names."""
    op, message = diagnostic.operation, diagnostic.message[:_MAX_SEARCHED]
    quoted = [match[match.lastindex or 0] for match in _QUOTED.finditer(message)]
    pieces = [only(piece) for piece in quoted if op is None or piece != op.signature.name]
    return pieces + [attribute(word) for word in _ATTRIBUTE_NAME.findall(message)]

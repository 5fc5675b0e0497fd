"""The templates of the statements of a source, those that are made from other templates included.

A process that parses several sources keeps the templates of the last ones: programs of one framework repeat
their statements. Only templates that depend on nothing else in their source are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import cast

from sdyopt.base.dataclasses import NamedTuple
from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.patterns import constant_pattern
from sdyopt.base.releases import Release
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.parser.statement_cache import Statement, is_constant, split_value, with_value
from sdyopt.mlir.asm.parser.statement_forms import FormText, Holes, StatementForm, form_of, form_text_of
from sdyopt.mlir.ir.builtin_attributes import DenseElements
from sdyopt.mlir.ir.dialect import Dialect, DialectTable
from sdyopt.mlir.ir.types import Type


class TemplateSettings(NamedTuple):
    """What templates depend on, apart from their text and the dialects that it names."""

    release: Release
    allows_unregistered: bool
    default_dialect: str


# How many sources, and how many statements of a source.
_KEPT_SOURCES, _KEPT_STATEMENTS = 8, 4096


class _Kept(NamedTuple):
    """The templates of an earlier source."""

    settings: TemplateSettings
    dialects: dict[str, Dialect | None]
    statements: dict[str, Statement]
    forms: dict[str, StatementForm]


# The last one is that of the last source, or has been used in it. The tuple is replaced, because threads may
# parse at once.
_kept: list[tuple[_Kept, ...]] = [()]
# Without aliases and resources. VHLO is upgraded if its dialect is used.
_INDEPENDENT = constant_pattern(r"(?!.*(?:vhlo|loc\(|_resource))(?:[^#!]++|[#!][a-z_]\w*+\.)*+", re.DOTALL)

# Parses the statement with a key and these holes; None if it has no template.
ParseWithHoles = Callable[[str, Holes], Statement | None]

# How many statements of a form with number holes are parsed in full. Most numbers are equal in many
# statements, in which they need no holes, and making a form takes as long as parsing three statements.
_FIRST_STATEMENTS = 8


class StatementTemplates:
    """The templates of statements under one default dialect.

    `by_key` has those of `statement_cache.key_of`, and those of constants by the key that they share.
    """

    def __init__(
        self, attribute_parser: AttributeParser, dialects: DialectTable, settings: TemplateSettings | None
    ) -> None:
        self.by_key: dict[str, Statement] = {}
        self._attribute_parser = attribute_parser
        self._dialects = dialects
        self._settings = settings
        self._earlier = [
            kept
            for kept in reversed(_kept[0])
            if kept.settings == settings and dialects.would_load(kept.dialects)
        ]
        self._used: list[_Kept] = []
        # The forms that have occurred more than once, None for those without a template; and how often the
        # others have occurred.
        self._forms: dict[str, StatementForm | None] = {}
        self._new_forms: dict[str, int] = {}
        # The keys of both that earlier sources had.
        self._from_earlier: set[str] = set()

    def add(self, key: str, statement: Statement, end: int) -> None:
        """Adds a statement that ends at an offset."""
        self.by_key[key] = statement
        constant = split_value(key)
        if constant is not None and is_constant(statement[1], self._value(constant.literal, end)):
            self.by_key[constant.key] = statement

    def keep(self) -> None:
        """Keeps the templates for the next sources."""
        if self._settings is None or len(self.by_key) > _KEPT_STATEMENTS:
            return
        used = {id(kept) for kept in self._used}
        sources = [kept for kept in _kept[0] if id(kept) not in used] + self._used
        new = _Kept(
            self._settings,
            self._dialects.loaded(),
            {key: text for key, text in self.by_key.items() if self._is_kept(key, text)},
            {k: form for k, form in self._forms.items() if form and self._is_kept(k, form.statement)},
        )
        if new.statements or new.forms:
            sources.append(new)
        _kept[0] = tuple(sources[-_KEPT_SOURCES:])

    def _is_kept(self, key: str, statement: Statement) -> bool:
        """Whether a template is new, and depends on its own text alone. Implied regions have a parser."""
        template, signature = statement
        is_plain = template.add_implied_regions is None and bool(signature.op_class.name)
        return is_plain and key not in self._from_earlier and _INDEPENDENT.fullmatch(key) is not None

    def derived(self, key: str, end: int, parse: ParseWithHoles) -> Statement | None:
        """The statement with this key that ends at an offset, made from another one.

        That is a constant with another value, or a statement of the same form. None if there is none.
        """
        if key.endswith("{"):
            # No statement ends with its first line.
            return None
        statement = self._of_earlier(key)
        if statement is None and "dense<" in key:
            statement = self._of_constant(key, end)
        if statement is None:
            statement = self._of_form(key, parse)
        if statement is not None:
            self.by_key[key] = statement
        return statement

    def _of_earlier(self, key: str) -> Statement | None:
        """The statement with this key in an earlier source."""
        for kept in self._earlier:
            if (statement := kept.statements.get(key)) is not None:
                self._use(key, kept)
                return statement
        return None

    def _use(self, key: str, kept: _Kept) -> None:
        self._from_earlier.add(key)
        if not any(used is kept for used in self._used):
            self._used.append(kept)

    def _of_form(self, key: str, parse: ParseWithHoles) -> Statement | None:
        form_key, texts, callee = form_text_of(key)
        if not texts:
            return None
        form = self._forms.get(form_key)
        numbers: Sequence[str] = ()
        if form is None:
            text = FormText(form_key, texts, callee)
            form = self._form(text, parse, 1)
            if form is None and (open_text := text.without_numbers()) is not None:
                form, numbers = self._form(open_text, parse, _FIRST_STATEMENTS), open_text.numbers
            if form is None:
                return None
        types = self._attribute_parser.plain_types(texts)
        return None if None in types else form.filled(key, cast(list[Type], types), callee, numbers)

    def _form(self, text: FormText, parse: ParseWithHoles, first: int) -> StatementForm | None:
        """The form of a statement, None if it has none, or is one of the first ones: many forms are rare."""
        key, forms = text.key, self._forms
        form = forms.get(key)
        if form is None and key not in forms:
            for kept in self._earlier:
                if (form := kept.forms.get(key)) is not None:
                    self._use(key, kept)
                    forms[key] = form
                    return form
            count = self._new_forms[key] = self._new_forms.get(key, 0) + 1
            if count > first:
                form = forms[key] = self._new_form(text, parse)
        return form

    def _new_form(self, text: FormText, parse: ParseWithHoles) -> StatementForm | None:
        with_holes = text.with_holes()
        statement = None if with_holes is None else parse(*with_holes)
        return None if with_holes is None or statement is None else form_of(statement, text, with_holes[0])

    def _of_constant(self, key: str, end: int) -> Statement | None:
        constant = split_value(key)
        if constant is None:
            return None
        statement = self.by_key.get(constant.key) or self._of_earlier(constant.key)
        if statement is None:
            return None
        value = self._value(constant.literal, end)
        return None if value is None else (statement[0], with_value(statement[1], value))

    def _value(self, literal: str, end: int) -> DenseElements | None:
        """The value of a literal that ends at an offset.

        None if there is an error in it, which the full parser reports.
        """
        try:
            value = self._attribute_parser.attribute(literal, end - len(literal))
        except DiagnosticError:
            return None
        return value if isinstance(value, DenseElements) else None

"""The templates of the statements of a source, those that are made from other templates included."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.parser.attributes import AttributeParser
from sdyopt.mlir.asm.parser.statement_cache import StatementTemplate, is_constant, split_value, with_value
from sdyopt.mlir.asm.parser.statement_forms import FormText, StatementForm, form_of, form_text_of
from sdyopt.mlir.ir.builtin_attributes import DenseElements

# Parses a statement of a form with holes; None if it has no template.
ParseWithHoles = Callable[[FormText], StatementTemplate | None]


class StatementTemplates:
    """The templates of statements under one default dialect.

    `by_key` has those of `statement_cache.key_of`, and those of constants by the key that they share.
    """

    def __init__(self, attribute_parser: AttributeParser) -> None:
        self.by_key: dict[str, StatementTemplate] = {}
        self._attribute_parser = attribute_parser
        # The forms that have occurred more than once, None for those without a template; and those that
        # have occurred.
        self._forms: dict[str, StatementForm | None] = {}
        self._new_forms: set[str] = set()

    def add(self, key: str, template: StatementTemplate, end: int) -> None:
        """Adds the template of a statement that ends at an offset."""
        self.by_key[key] = template
        constant = split_value(key)
        if constant is not None and is_constant(template, self._value(constant.literal, end)):
            self.by_key[constant.key] = template

    def derived(self, key: str, end: int, parse: ParseWithHoles) -> StatementTemplate | None:
        """The template of a statement that ends at an offset, made from another one.

        That is the template of a constant with another value, or of a statement of the same form. None if
        there is none.
        """
        template = self._of_constant(key, end) if "dense<" in key else None
        if template is None and (text := form_text_of(key)) is not None:
            template = self._of_form(text, parse)
        if template is not None:
            self.by_key[key] = template
        return template

    def _of_form(self, text: FormText, parse: ParseWithHoles) -> StatementTemplate | None:
        if text.key not in self._forms:
            if text.key not in self._new_forms:
                # Many forms occur only once.
                self._new_forms.add(text.key)
                return None
            template = parse(text)
            self._forms[text.key] = None if template is None else form_of(template, text)
        form = self._forms[text.key]
        return None if form is None else form.filled(text.types, self._attribute_parser.plain_type)

    def _of_constant(self, key: str, end: int) -> StatementTemplate | None:
        constant = split_value(key)
        if constant is None or (template := self.by_key.get(constant.key)) is None:
            return None
        value = self._value(constant.literal, end)
        return None if value is None else with_value(template, value)

    def _value(self, literal: str, end: int) -> DenseElements | None:
        """The value of a literal that ends at an offset.

        None if there is an error in it, which the full parser reports.
        """
        try:
            value = self._attribute_parser.attribute(literal, end - len(literal))
        except DiagnosticError:
            return None
        return value if isinstance(value, DenseElements) else None

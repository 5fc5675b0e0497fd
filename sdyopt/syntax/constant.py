"""How constants are written: `{…} dense<…> : type`, or generically where the types differ."""

from __future__ import annotations

from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.fields import AttrField, ResultField
from sdyopt.ir.form import Form
from sdyopt.ir.types import NONE, Type
from sdyopt.syntax.assembly import Assembly, Custom, assembly, visible_attributes
from sdyopt.syntax.generic import properties
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template


def constant_assembly() -> Assembly:
    """The assembly of an operation with an attribute `value` and one result of its type."""
    return assembly(Custom(_parse, _write, elides=["value"]))


def _parse(statement: Statement) -> None:
    """Reads `{…} dense<…> : type`, or the generic form behind the name, `() <{…}> {…} : () -> type`."""
    fields = statement.op_class.fields
    (result,) = (name for name, field in fields.items() if isinstance(field, ResultField))
    if statement.accept("("):
        statement.expect(")")
        properties(statement)
        statement.attribute_dictionary()
        for token in (":", "(", ")", "->"):
            statement.expect(token)
        statement.types[result] = [statement.type()]
        return
    statement.attribute_dictionary()
    start = statement.skip()
    value = statement.attribute()
    field = fields["value"]
    assert isinstance(field, AttrField)
    if not field.kind.accepts(value):
        raise statement.error("invalid kind of attribute specified", start)
    statement.attributes["value"] = value
    statement.types[result] = [_type_of(value)]


def _write(out: Template, form: Form, attributes: DictAttr) -> None:
    value = form.attributes["value"]
    if _type_of(value) is form.result_types[0]:
        out.attribute_dictionary(visible_attributes(form, attributes, frozenset(["value"])))
        out.word(out.speller.attribute(value))
        return
    out.text(f"() <{out.speller.attribute(form.attributes)}>")
    out.attribute_dictionary(attributes)
    out.text(" : " + out.speller.function_type((), form.result_types))


def _type_of(value: Attribute) -> Type:
    """The type that an attribute of this kind has, `none` if nothing is said."""
    type: Type | None = value.type  # type: ignore[attr-defined]  # by its kind
    return NONE if type is None else type

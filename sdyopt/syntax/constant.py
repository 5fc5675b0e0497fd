"""How constants are written: `{…} dense<…> : type`, or generically where the types differ."""

from __future__ import annotations

from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.op_fields import AttrField, ResultField
from sdyopt.ir.op_signature import OpSignature
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
    value_field = fields["value"]
    assert isinstance(value_field, AttrField)
    is_value = value_field.kind.accepts
    if statement.accept("("):
        statement.expect(")")
        has_properties = properties(statement)
        found = statement.attribute_dictionary().get("value")
        for token in (":", "(", ")", "->"):
            statement.expect(token)
        statement.types[result] = [statement.type()]
        if not has_properties and (found is None or not is_value(found)):
            statement.written.pop("value", None)
        return
    statement.attribute_dictionary()
    statement.check_not_written("value")
    start = statement.skip()
    value = statement.attribute()
    if not is_value(value):
        raise statement.error("invalid kind of attribute specified", start)
    statement.attributes["value"] = value
    statement.types[result] = [_type_of(value)]


def _write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    value = signature.attributes["value"]
    field = signature.op_class.fields["value"]
    assert isinstance(field, AttrField)
    if field.kind.accepts(value) and _type_of(value) is signature.result_types[0]:
        out.attribute_dictionary(visible_attributes(signature, attributes, frozenset(["value"])))
        out.word(out.speller.attribute(value))
        return
    out.text(f"() <{out.speller.attribute(signature.attributes)}>")
    out.attribute_dictionary(attributes)
    out.text(" : " + out.speller.function_type((), signature.result_types))


def _type_of(value: Attribute) -> Type:
    """The type that an attribute of this kind has, `none` if nothing is said."""
    type: Type | None = value.type  # type: ignore[attr-defined]  # by its kind
    return NONE if type is None else type

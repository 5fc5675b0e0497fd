"""The assembly format of constants: `{…} dense<…> : type`.

A constant whose result does not have the type of the attribute `value` is in generic form.
"""

from __future__ import annotations

from sdyopt.asm.format.assembly_format import Assembly, Custom, assembly, visible_attributes
from sdyopt.asm.format.print_template import Template
from sdyopt.asm.parser.generic_op import parse_properties
from sdyopt.asm.parser.op_parser import OpAsmParser
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.op_fields import AttrField, ResultField
from sdyopt.ir.op_signature import OpSignature
from sdyopt.ir.types import NONE, Type


def constant_assembly() -> Assembly:
    """The format of an operation with an attribute `value` and one result of its type."""
    return assembly(Custom(_parse, _write, elides=["value"]))


def _parse(op_parser: OpAsmParser) -> None:
    """Parses `{…} dense<…> : type`, or the generic form `() <{…}> {…} : () -> type`."""
    fields = op_parser.op_class.fields
    (result,) = (name for name, field in fields.items() if isinstance(field, ResultField))
    value_field = fields["value"]
    assert isinstance(value_field, AttrField)
    is_value = value_field.constraint.accepts
    if op_parser.accept("("):
        op_parser.expect(")")
        has_properties = parse_properties(op_parser)
        written_value = op_parser.attribute_dictionary().get("value")
        for token in (":", "(", ")", "->"):
            op_parser.expect(token)
        op_parser.types[result] = [op_parser.type()]
        if not has_properties and (written_value is None or not is_value(written_value)):
            op_parser.dictionary_attributes.pop("value", None)
        return
    op_parser.attribute_dictionary()
    op_parser.check_not_in_dictionary("value")
    start = op_parser.skip_trivia()
    value = op_parser.attribute()
    if not is_value(value):
        raise op_parser.error("invalid kind of attribute specified", start)
    op_parser.attributes["value"] = value
    op_parser.types[result] = [_type_of(value)]


def _write(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    value = signature.attributes["value"]
    field = signature.op_class.fields["value"]
    assert isinstance(field, AttrField)
    if field.constraint.accepts(value) and _type_of(value) is signature.result_types[0]:
        out.attribute_dictionary(visible_attributes(signature, attributes, frozenset(["value"])))
        out.word(out.attribute_printer.attribute(value))
        return
    out.text(f"() <{out.attribute_printer.attribute(signature.attributes)}>")
    out.attribute_dictionary(attributes)
    out.text(" : " + out.attribute_printer.function_type((), signature.result_types))


def _type_of(value: Attribute) -> Type:
    """The type of a typed attribute, `none` if it has none."""
    type: Type | None = value.type  # type: ignore[attr-defined]  # by its kind
    return NONE if type is None else type

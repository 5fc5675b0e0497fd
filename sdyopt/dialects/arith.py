"""The arith dialect, as far as programs for sdy have it: constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdyopt.ir.attribute import Attribute, StringAttr, dictionary
from sdyopt.ir.constraints import AttrKind, Elements
from sdyopt.ir.dialect import Dialect
from sdyopt.ir.fields import attr, result
from sdyopt.ir.form import Form
from sdyopt.ir.numbers import FloatAttr, IntegerAttr
from sdyopt.ir.operation import Op, build
from sdyopt.ir.traits import CONSTANT_LIKE, PURE
from sdyopt.ir.types import I1, NONE, IntegerType, Type
from sdyopt.ir.value import LazyLocation
from sdyopt.syntax.constant import constant_assembly

arith = DIALECT = Dialect("arith")

_Numbers = IntegerAttr | FloatAttr | Elements
_Typed = _Numbers | StringAttr
_TYPED_ATTR: AttrKind[Any] = AttrKind("TypedAttr instance", lambda a: isinstance(a, _Typed), lambda a: a)


@arith.op("constant", CONSTANT_LIKE, PURE)
class ConstantOp(Op):
    """A number, or a tensor of numbers."""

    __slots__ = ()

    value = attr(_TYPED_ATTR)
    output = result()

    assembly = constant_assembly()

    @staticmethod
    def verify_form(form: Form) -> None:
        if (form.value.type or NONE) is not form.output:
            raise form.op_error("failed to verify that all of {value, result} have same type")
        if isinstance(form.output, IntegerType) and not form.output.is_signless:
            raise form.op_error("integer return type must be signless")
        if not isinstance(form.value, _Numbers):
            raise form.op_error("value must be an integer, float, or elements attribute")

    def name_results(self) -> Sequence[tuple[int, str]]:
        value, type = self.value, self.form.result_types[0]
        if not isinstance(value, IntegerAttr):
            return [(0, "cst")]
        if type is I1:
            return [(0, "true" if value.value else "false")]
        return [(0, f"c{value.value}_i{type.width}" if isinstance(type, IntegerType) else f"c{value.value}")]


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not isinstance(value, _Numbers) or value.type is not type:
        return None
    form = Form(ConstantOp, ConstantOp.name, dictionary({"value": value}), (), (type,))
    return build(form, (), location=location)


arith.materialize_constant = _materialize

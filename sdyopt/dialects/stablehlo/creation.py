"""stablehlo operations that make values of nothing: constants, counts, tokens, numbers of the device."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.dialects.quant import QuantizedType
from sdyopt.dialects.stablehlo import types
from sdyopt.dialects.stablehlo.asm import (
    AllResultTypes,
    SameOperandsAndResultType,
    TensorTypeOf,
    integer_attr,
)
from sdyopt.dialects.stablehlo.dialect import stablehlo
from sdyopt.dialects.stablehlo.shape_operand import check_shape_operand
from sdyopt.dialects.stablehlo.traits import INFERS_COMPATIBLE_TYPES
from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Region
from sdyopt.ir.constraints import I64_ATTR, AttrKind, non_negative
from sdyopt.ir.elements import DenseElements, DenseResource, DenseStringElements, SparseElements
from sdyopt.ir.fields import attr, operand, operands, result
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op, build
from sdyopt.ir.traits import CONSTANT_LIKE, NO_MEMORY_EFFECT, PURE, InfersTypes
from sdyopt.ir.types import UI32, IntegerType, RankedTensor, ShapedType, Type, tensor
from sdyopt.ir.value import LazyLocation
from sdyopt.syntax.assembly import (
    AttrDict,
    Custom,
    FunctionalType,
    Operand,
    assembly,
    visible_attributes,
)
from sdyopt.syntax.generic import properties
from sdyopt.syntax.statement import Statement
from sdyopt.syntax.template import Template

# --- Constants ------------------------------------------------------------------------------

Elements = DenseElements | DenseStringElements | DenseResource | SparseElements
ELEMENTS: AttrKind[Elements] = AttrKind(
    "constant vector/tensor attribute", lambda a: isinstance(a, Elements), lambda a: a
)


def _is_type_of_constant(inferred: Type, actual: Type) -> bool:
    """Quantised numbers are given as they are stored."""
    if isinstance(actual, RankedTensor) and isinstance(actual.element, QuantizedType):
        actual = RankedTensor(actual.shape, actual.element.storage, actual.encoding)
    return isinstance(inferred, ShapedType) and inferred is actual


def _parse_constant(statement: Statement) -> None:
    """Reads `{…} dense<…> : type`, or the generic form behind the name, `() <{…}> {…} : () -> type`."""
    if statement.accept("("):
        statement.expect(")")
        has_properties = properties(statement)
        found = statement.attribute_dictionary()
        for token in (":", "(", ")", "->"):
            statement.expect(token)
        statement.types["output"] = [statement.type()]
        if not has_properties and not isinstance(found.get("value"), Elements):
            statement.written.pop("value", None)
        return
    statement.attribute_dictionary()
    statement.check_not_written("value")
    offset = statement.skip()
    value = statement.attribute()
    if not isinstance(value, Elements):
        raise statement.error("invalid kind of attribute specified", offset)
    statement.attributes["value"] = value
    statement.types["output"] = [value.type]


def _write_constant(out: Template, form: Form, attributes: DictAttr) -> None:
    value = form.attributes["value"]
    if isinstance(value, Elements) and value.type is form.result_types[0]:
        out.attribute_dictionary(visible_attributes(form, attributes, frozenset(["value"])))
        out.word(out.speller.attribute(value))
        return
    out.text(f"() <{out.speller.attribute(form.attributes)}>")
    out.attribute_dictionary(attributes)
    out.text(" : " + out.speller.function_type((), form.result_types))


@stablehlo.op("constant", CONSTANT_LIKE, PURE, InfersTypes("constant-type", accepts=_is_type_of_constant))
class ConstantOp(Op):
    """A tensor that the program gives."""

    __slots__ = ()

    value = attr(ELEMENTS)
    output = result(types.STATIC_TENSOR_OR_PER_AXIS)

    assembly = assembly(Custom(_parse_constant, _write_constant, elides=["value"]))

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [form.value.type]

    def name_results(self) -> list[tuple[int, str]]:
        element = self.form.result_types[0].element  # type: ignore[attr-defined]  # a tensor by its field
        return [(0, "c" if isinstance(element, IntegerType) else "cst")]


def _materialize(value: Attribute, type: Type, location: LazyLocation) -> Op | None:
    if not isinstance(value, Elements):
        return None
    form = Form(ConstantOp, ConstantOp.name, DictAttr((("value", value),)), (), (type,))
    return build(form, (), location=location)


stablehlo.materialize_constant = _materialize


# --- Counting -------------------------------------------------------------------------------


@stablehlo.op("iota", PURE)
class IotaOp(Op):
    """Each element is its index in one dimension."""

    __slots__ = ()

    iota_dimension = attr(non_negative(I64_ATTR))
    output = result(types.STATIC_INT_FLOAT_COMPLEX_OR_QUANTIZED_TENSOR)

    assembly = assembly("dim", "=", integer_attr("iota_dimension"), AttrDict(), ":", TensorTypeOf("output"))

    @staticmethod
    def verify_form(form: Form) -> None:
        if not form.output.rank:
            raise form.located_error("does not support scalars.")
        if form.iota_dimension >= form.output.rank:  # iota_c1
            raise form.located_error("iota dimension cannot go beyond the output rank.")


@stablehlo.op("dynamic_iota", NO_MEMORY_EFFECT)
class DynamicIotaOp(Op):
    """The same for a shape that the program computes."""

    __slots__ = ()

    output_shape = operand(types.STATIC_DIMENSION_TENSOR)
    iota_dimension = attr(non_negative(I64_ATTR))
    out = result(types.TENSOR)

    assembly = assembly(
        Operand("output_shape"),
        ",",
        "dim",
        "=",
        integer_attr("iota_dimension"),
        AttrDict(),
        ":",
        FunctionalType(),
    )

    @staticmethod
    def verify_form(form: Form) -> None:
        if form.iota_dimension >= form.out.rank:  # dynamic_iota_c1
            raise form.located_error("iota dimension cannot go beyond the output rank.")

    def verify_place(self) -> None:
        check_shape_operand(self, self.output_shape, self.out.type)  # dynamic_iota_c2


# --- Tokens and devices ---------------------------------------------------------------------


@stablehlo.op("create_token", PURE, INFERS_COMPATIBLE_TYPES)
class CreateTokenOp(Op):
    """A token that waits for nothing."""

    __slots__ = ()

    output = result(types.TOKEN)

    assembly = assembly(AttrDict(), ":", AllResultTypes())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [types.TOKEN_TYPE]


@stablehlo.op("after_all", PURE, INFERS_COMPATIBLE_TYPES)
class AfterAllOp(Op):
    """A token that waits for several."""

    __slots__ = ()

    inputs = operands(types.TOKEN)
    out = result(types.TOKEN)

    assembly = assembly(Operand("inputs"), AttrDict(), ":", SameOperandsAndResultType())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [types.TOKEN_TYPE]


class DeviceNumberOp(Op):
    """Base of the operations that tell devices from each other."""

    __slots__ = ()

    out = result(types.UI32_TENSOR)

    assembly = assembly(AttrDict(), ":", AllResultTypes())

    @staticmethod
    def infer_result_types(form: Form, regions: Sequence[Region]) -> list[Type]:
        return [tensor((), UI32)]


@stablehlo.op("replica_id", PURE, INFERS_COMPATIBLE_TYPES)
class ReplicaIdOp(DeviceNumberOp):
    """Which replica this is."""

    __slots__ = ()


@stablehlo.op("partition_id", PURE, INFERS_COMPATIBLE_TYPES)
class PartitionIdOp(DeviceNumberOp):
    """Which partition this is."""

    __slots__ = ()

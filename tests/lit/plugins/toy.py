"""The Toy language of MLIR's tutorial: functions, calls, tensors of f64, and structs."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt import plugin

DIALECT = toy = plugin.Dialect("toy")


@plugin.dialect_type(toy, "struct")
class StructType(plugin.Type):
    """`!toy.struct<tensor<*xf64>, tensor<*xf64>>`."""

    elements: tuple[plugin.Type, ...]
    assembly = plugin.attribute_format(
        "<",
        plugin.list_of(
            "elements", "elements", "::mlir::Type", plugin.AsmParser.type, plugin.AttributePrinter().type
        ),
        ">",
    )


def _is_tensor(type: plugin.Type) -> bool:
    return isinstance(type, plugin.RankedTensor | plugin.UnrankedTensor) and type.element is plugin.F64


F64_TENSOR: plugin.TypeConstraint[plugin.Type] = plugin.TypeConstraint(
    "tensor of 64-bit float values", _is_tensor
)
STRUCT: plugin.TypeConstraint[plugin.Type] = plugin.TypeConstraint(
    "struct", lambda type: isinstance(type, StructType)
)
VALUE = plugin.any_of(F64_TENSOR, STRUCT)


@toy.op("func", plugin.ISOLATED, plugin.SYMBOL, plugin.FUNCTION)
class FuncOp(plugin.FuncOp):
    """A function. Its operations are written without `toy.`."""

    default_dialect = "toy"


@toy.op("return", plugin.PURE, plugin.TERMINATOR, plugin.has_parent("toy.func"))
class ReturnOp(plugin.Op):
    input = plugin.optional_operand(VALUE)
    assembly = plugin.assembly("($input^ `:` type($input))? attr-dict")

    def verify_in_context(self) -> None:
        function = self.parent_op
        assert isinstance(function, FuncOp)
        expected = function.function_type.results
        if len(expected) > 1:
            raise self.op_error("returns at most one value")
        if self.operand_types != expected:
            raise self.op_error("does not match the result type of the function").note(
                "function defined here", function.location
            )


@toy.op("constant", plugin.PURE, plugin.CONSTANT_LIKE)
class ConstantOp(plugin.Op):
    value = plugin.attr(plugin.ELEMENTS_ATTR)
    output = plugin.result(F64_TENSOR)
    assembly = plugin.constant_assembly()

    @staticmethod
    def verify_signature(signature: plugin.OpSignature) -> None:
        type = signature[ConstantOp.output]
        if isinstance(type, plugin.RankedTensor) and signature[ConstantOp.value].type is not type:
            raise signature.op_error("return type must match the one of the attached value attribute")

    def fold(self, constants: Sequence[plugin.Attribute | None]) -> list[plugin.Attribute]:
        return [self.value]


@toy.op("add", plugin.PURE)
class AddOp(plugin.Op):
    lhs = plugin.operand(F64_TENSOR)
    rhs = plugin.operand(F64_TENSOR)
    out = plugin.result(F64_TENSOR)
    assembly = plugin.assembly("$lhs `,` $rhs attr-dict `:` functional-type(operands, results)")


@toy.op("generic_call")
class GenericCallOp(plugin.Op):
    callee = plugin.attr(plugin.FLAT_SYMBOL_ATTR)
    inputs = plugin.operands(VALUE)
    out = plugin.result(VALUE)
    assembly = plugin.assembly("$callee `(` $inputs `)` attr-dict `:` functional-type($inputs, results)")

    def verify_symbol_uses(self) -> None:
        function = plugin.lookup_symbol(self, self.callee)
        if not isinstance(function, FuncOp):
            raise self.op_error(f"'{self.callee}' is not a function")
        if len(function.function_type.inputs) != len(self.operand_types):
            raise self.op_error("has another number of operands than its callee")


@toy.op("transpose", plugin.PURE)
class TransposeOp(plugin.Op):
    input = plugin.operand(F64_TENSOR)
    out = plugin.result(F64_TENSOR)
    assembly = plugin.assembly("`(` $input `:` type($input) `)` attr-dict `to` type(results)")

    @staticmethod
    def verify_signature(signature: plugin.OpSignature) -> None:
        input, out = signature[TransposeOp.input], signature[TransposeOp.out]
        if not isinstance(input, plugin.RankedTensor) or not isinstance(out, plugin.RankedTensor):
            return
        if input.shape[::-1] != out.shape:
            raise signature.op_error("expected result shape to be a transpose of the input")


def _transpose_twice(op: TransposeOp, rewriter: plugin.Rewriter) -> bool:
    inner = op.input.defining_op
    if not isinstance(inner, TransposeOp):
        return False
    rewriter.replace(op, [inner.input])
    return True


TransposeOp.canonicalizations = (plugin.Pattern(_transpose_twice, "SimplifyRedundantTranspose"),)


@toy.op("struct_access", plugin.PURE)
class StructAccessOp(plugin.Op):
    input = plugin.operand(STRUCT)
    index = plugin.attr(plugin.I64_ATTR)
    output = plugin.result(VALUE)
    assembly = plugin.assembly("$input `[` $index `]` attr-dict `:` type($input) `->` type($output)")

    @staticmethod
    def verify_signature(signature: plugin.OpSignature) -> None:
        struct, index = signature[StructAccessOp.input], signature[StructAccessOp.index]
        assert isinstance(struct, StructType)
        if not 0 <= index < len(struct.elements):
            raise signature.op_error("index should be within the range of the input struct type")
        if struct.elements[index] is not signature[StructAccessOp.output]:
            raise signature.op_error("must have the same result type as the struct element referred to")


@toy.op("print")
class PrintOp(plugin.Op):
    input = plugin.operand(VALUE)
    assembly = plugin.assembly("$input attr-dict `:` type($input)")

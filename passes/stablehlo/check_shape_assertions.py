"""stablehlo-check-shape-assertions: erase shape assertions that hold, and report those that do not.

    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.custom_call @shape_assertion(%c, %n)
      {error_message = "Expected value >= 1, obtained {0}", has_side_effect = true}
      : (tensor<i1>, tensor<i32>) -> ()
is erased. If the constant is false, the message is an error, with the constant `%n` in place of `{0}`.

`jax.export` asserts that argument shapes match the symbolic ones. The operands must be constants, so the pass
runs after `stablehlo-refine-shapes`. With `enable-shape-assertions=false`, all assertions are erased.
"""

from __future__ import annotations

import re

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.dialects.stablehlo.type_compatibility import constant_integers
from sdyopt.mlir.ir.attribute import DictAttr, StringAttr
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.rewrite import Rewriter
from sdyopt.mlir.ir.types import I1, I32, I64, RankedTensor
from sdyopt.mlir.pipeline import FUNCTION, Pass, option
from sdyopt.mlir.registry import register

_TARGET, _MESSAGE = "shape_assertion", "error_message"
_MAX_INPUTS = 32
_ATTRIBUTES = {"api_version", "backend_config", "call_target_name", _MESSAGE, "has_side_effect"}
_SPECIFIER = re.compile(r"\{(\d++)[^{}]*+\}")


@register("stablehlo-check-shape-assertions")
class StablehloCheckShapeAssertions(Pass):
    anchor = FUNCTION

    enable_shape_assertions: bool = option(
        default=True, help="report assertions that do not hold, instead of erasing all"
    )

    def run(self, function: Op) -> bool:
        rewriter = Rewriter()
        errors: list[DiagnosticError] = []
        for call in [op for op in function.walk_post_order() if isinstance(op, CustomCallOp)]:
            if call.call_target_name != _TARGET:
                continue
            try:
                if self.enable_shape_assertions:
                    _check(call)
                rewriter.erase(call)
            except DiagnosticError as error:
                errors.append(error)
        if errors:
            raise _joined(errors)
        return rewriter.changed


def _joined(errors: list[DiagnosticError]) -> DiagnosticError:
    for error in errors[1:]:
        errors[0].then(error)
    return errors[0]


def _check(call: CustomCallOp) -> None:
    """Raises an error if an assertion is ill-formed or does not hold."""
    _check_form(call)
    holds = constant_integers(call.operand_at(0))
    if holds is None:
        raise call.error("expects static assert_what (operand #0)").help("run -stablehlo-refine-shapes first")
    if holds[0]:
        return
    values = []
    for index, operand in enumerate(call.operands[1:], 1):
        integers = constant_integers(operand)
        if integers is None:
            raise call.error(f"expects static error_message_input (operand #{index})")
        values.append(integers[0])
    raise call.error(_SPECIFIER.sub(lambda match: str(values[int(match[1])]), _message(call)))


def _check_form(call: CustomCallOp) -> None:
    if not 1 <= len(call.operands) <= 1 + _MAX_INPUTS:
        raise call.error(f"expects 1 <= size(operands) <= {1 + _MAX_INPUTS}")
    if call.results:
        raise call.error("expects size(results) = 0")
    for name, _ in (*call.signature.attributes.entries, *call.attributes.entries):
        if name not in _ATTRIBUTES and name in call.attributes:
            raise call.error(f'"{name}" is not a supported attribute')
    if call.backend_config not in (None, StringAttr(""), DictAttr(())):
        raise call.error("expects an empty backend_config")
    if call.operands[0].type is not RankedTensor((), I1):
        raise call.error("expects assert_what (operand #0) to be a constant of type tensor<i1>")
    for index, operand in enumerate(call.operands[1:], 1):
        if operand.type not in (RankedTensor((), I32), RankedTensor((), I64)):
            raise call.error(
                f"expects error_message_input (operand #{index}) to be a constant of type tensor<i32> or "
                "tensor<i64>"
            )
    if not isinstance(call.attributes.get(_MESSAGE), StringAttr):
        raise call.error("expects an error_message attribute")
    count = len(call.operands) - 1
    for match in _SPECIFIER.finditer(_message(call)):
        if int(match[1]) >= count:
            raise call.error(
                "expects error_message to contain format specifiers with error_message_input index less than "
                f"{count}. Found specifier {match[0]}"
            )


def _message(call: CustomCallOp) -> str:
    message = call.attributes[_MESSAGE]
    assert isinstance(message, StringAttr)
    return message.value

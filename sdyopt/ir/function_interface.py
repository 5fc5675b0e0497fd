"""The interface through which the verifier and the rewriter use functions."""

from __future__ import annotations

from sdyopt.ir.attribute import DictAttr, TypeAttr
from sdyopt.ir.operation import Op
from sdyopt.ir.types import FunctionType


class FunctionOpInterface(Op):
    """Base class of the operations with the FUNCTION trait.

    The attributes of arguments and results are stored outside the signature, one dictionary per argument or
    result. The inherent attribute `function_type` is the type of the function.
    """

    __slots__ = ()

    argument_attributes: list[DictAttr]
    result_attributes: list[DictAttr]

    def set_attributes_at(self, name: str, index: int, attributes: DictAttr) -> None:
        """Sets the attributes of an argument (`arg_attrs`) or result (`res_attrs`)."""
        raise NotImplementedError


def type_of_function(function: FunctionOpInterface) -> FunctionType:
    """The type of a function whose signature is valid."""
    attribute = function.signature.attributes["function_type"]
    assert isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType)
    return attribute.type

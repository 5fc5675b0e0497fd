"""Frontend attributes, in which HLO keeps the attributes of Shardy as text, and their names in XLA.

mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22x\\22}]>"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.sdy.dialect import sdy
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import EMPTY_DICT, Attribute, DictAttr, StringAttr, dictionary, string
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.shardy.notation.hlo_programs import FRONTEND_ATTRIBUTES

A = TypeVar("A", bound=Attribute)

# The names of frontend attributes.
ROUND_TRIP_RULE = "xla.sdy.sharding_rule"
IN_SHARDINGS = "xla.sdy.in_shardings"
OUT_SHARDINGS = "xla.sdy.out_shardings"
MANUAL_AXES = "xla.sdy.manual_axes"
TUPLE_ARGUMENT_SHARDINGS = "xla.sdy.tuple_args_shardings"
TUPLE_RESULT_SHARDINGS = "xla.sdy.tuple_results_shardings"
SHARDING_GROUP_ID = "xla.sdy.sharding_group_id"
ALLOWED_DIRECTION = "xla.sdy.allowed_direction"
HAS_UNREDUCED_AXES = "xla.sdy.has_unreduced_axes"

# The targets of custom calls.
SHARDING_TARGET = "Sharding"
SHARDING_GROUP_TARGET = "xla.sdy.ShardingGroup"
BARRIER_TARGET = "xla.sdy.PropagationBarrier"
RESULT_SHARDING_TARGET = "xla.sdy.FuncResultSharding"
GLOBAL_TO_LOCAL_TARGET = "xla.sdy.GlobalToLocalShape"
LOCAL_TO_GLOBAL_TARGET = "xla.sdy.LocalToGlobalShape"
_CALLBACK_TARGETS = frozenset(
    {
        "xla_python_cpu_callback",
        "xla_python_gpu_callback",
        "xla_ffi_python_cpu_callback",
        "xla_ffi_python_gpu_callback",
    }
)

# The name of a function that is the body of a manual computation contains this.
MANUAL_COMPUTATION_BODY = "xla.sdy.manual_computation_body"

_ESCAPED_QUOTE = re.compile(r'\\(?:"|22)')


def is_python_callback(op: CustomCallOp) -> bool:
    """Whether an operation calls a function of Python on the host."""
    return op.call_target_name in _CALLBACK_TARGETS


# --- Reading --------------------------------------------------------------------------------------


def frontend_attributes(attributes: DictAttr) -> DictAttr:
    """The frontend attributes among these attributes."""
    attribute = attributes.get(FRONTEND_ATTRIBUTES)
    return attribute if isinstance(attribute, DictAttr) else EMPTY_DICT


def frontend_text(attributes: DictAttr, name: str) -> str | None:
    """The text of a frontend attribute; None if there is none."""
    frontend_attribute = frontend_attributes(attributes).get(name)
    return frontend_attribute.value if isinstance(frontend_attribute, StringAttr) else None


def parsed_frontend_attribute(op: Op, attributes: DictAttr, name: str, cls: type[A]) -> A | None:
    """A frontend attribute of an operation, argument or result. Raises DiagnosticError for an invalid one."""
    text = frontend_text(attributes, name)
    return None if text is None else _parse(op, name, _ESCAPED_QUOTE.sub('"', text), cls)


def _parse(op: Op, name: str, text: str, cls: type[A]) -> A:
    source = Source(f"<{name}>", text)
    state = ParserState(source, DialectTable({"sdy": sdy}.get, lambda: ["sdy"]), False)
    parser = AsmParser(source, state.attribute_parser)
    try:
        parsed = parser.attribute()
        if not parser.at_end or not isinstance(parsed, cls):
            raise op.error(f"frontend attribute `{name}` is no {_kind(cls)}: {text}")
    except DiagnosticError as error:
        if error.diagnostic.operation is op:
            raise
        raise op.error(f"invalid frontend attribute `{name}`: " + error.diagnostic.message).note(
            text
        ) from None
    return parsed


def _kind(cls: type[Attribute]) -> str:
    return "dictionary" if cls is DictAttr else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()


# --- Writing --------------------------------------------------------------------------------------


def with_frontend_attributes(attributes: DictAttr, new: Mapping[str, Attribute]) -> DictAttr:
    """These attributes with further frontend attributes, whose values become text."""
    texts = {
        name: value if isinstance(value, StringAttr) else string(plain_attribute(value))
        for name, value in new.items()
    }
    entries = {**dict(frontend_attributes(attributes)), **texts}
    return attributes.with_entry(FRONTEND_ATTRIBUTES, dictionary(entries)) if entries else attributes


def without_frontend_attributes(attributes: DictAttr, *names: str) -> DictAttr:
    """These attributes without some frontend attributes."""
    frontend = frontend_attributes(attributes)
    if FRONTEND_ATTRIBUTES not in attributes:
        return attributes
    left = frontend.without(*names)
    if left.entries:
        return attributes.with_entry(FRONTEND_ATTRIBUTES, left)
    return attributes.without(FRONTEND_ATTRIBUTES)

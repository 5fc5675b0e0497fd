r"""Shardings in HLO as text, converted from and to those of sdy, and frontend attributes with Shardy's.

{mesh['x'=2,'y'=4], [{'x'}, {}]}                        V3, by mesh axes
{devices=[2,1,4]<=[8] last_tile_dim_replicate}          V2, by devices
{{mesh['x'=2], [{'x'}]}, {replicated}}                  a tuple

mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}]>"}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.base.diagnostics.location import Source
from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.parser_state import ParserState
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.sdy.axes import ManualAxes
from sdyopt.mlir.dialects.sdy.mesh import Mesh, sdy
from sdyopt.mlir.dialects.sdy.sharding import (
    ShardingPerValue,
    TensorSharding,
    fully_replicated,
)
from sdyopt.mlir.dialects.sdy.value_shardings import rank_of
from sdyopt.mlir.dialects.stablehlo.custom_call import CustomCallOp
from sdyopt.mlir.ir.attribute import (
    EMPTY_DICT,
    Attribute,
    DictAttr,
    StringAttr,
    SymbolRef,
    dictionary,
    string,
)
from sdyopt.mlir.ir.dialect import DialectTable
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.shardy.notation.device_tiling import Maximal, Sharing, Tiling, Uniform
from sdyopt.shardy.notation.gspmd import (
    OPENING,
    UniformOnMesh,
    gspmd_text,
    named_sharding_text,
    parse_gspmd,
    parse_named_sharding,
)
from sdyopt.shardy.notation.hlo_programs import FRONTEND_ATTRIBUTES
from sdyopt.shardy.notation.sharding_on_mesh import ShardingOnMesh, tiling_of

# XLA writes the number of every fifth element of a tuple.
_NUMBERED = 5
_UNUSED = SymbolRef("mesh")


def is_by_axes(text: str) -> bool:
    """Whether a sharding is in the notation by mesh axes (V3)."""
    return any(OPENING.match(leaf) is not None for leaf in leaves(text))


def leaves(text: str) -> list[str]:
    """The shardings of the elements of a tuple; of a sharding of one tensor, itself."""
    inner = text.strip()
    if not inner.startswith("{") or not inner[1:].lstrip().startswith(("{", "/*")):
        return [inner]
    parts, depth, start, position = [], 0, 1, 1
    end = len(inner) - 1
    while position < end:
        if inner.startswith("/*", position):
            position = start = inner.find("*/", position) + 2
            continue
        depth += (inner[position] in "{[(") - (inner[position] in "}])")
        if inner[position] == "," and not depth:
            parts.append(inner[start:position].strip())
            start = position + 1
        position += 1
    return [*parts, inner[start:end].strip()]


# --- Import ---------------------------------------------------------------------------------------


def sharding_by_axes(op: Op, text: str, rank: int) -> TensorSharding | None:
    """The sharding with an inlined mesh that a text by mesh axes is; None if it may be ignored.

    As in XLA, `{replicated}` without a mesh is a placeholder. Raises DiagnosticError for others by devices.
    """
    if OPENING.match(text) is None:
        tiling = parse_tiling(op, text)
        if tiling != Uniform(Sharing.REPLICATED):
            message = f"sharding {text} is by devices, but those of the program are by mesh axes"
            raise op.error(message).help("convert the program with -xla-sdy-stablehlo-import-pipeline")
        return None
    try:
        parsed = parse_named_sharding(Source("<mhlo.sharding>", text), _UNUSED)
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None
    match parsed:
        case Maximal(device):
            return TensorSharding(Mesh((), (device,)))
        case UniformOnMesh():
            return parsed.of_rank(rank, _UNUSED).sharding.with_mesh(parsed.mesh)
    return parsed.sharding.with_mesh(parsed.mesh)


def shardings_by_axes(op: Op, text: str, types: Sequence[Type]) -> ShardingPerValue | None:
    """The shardings of the results of an operation; None if all may be ignored."""
    texts = leaves(text)
    if not types:
        # The maximal sharding of an operation without results.
        sharding = sharding_by_axes(op, texts[0], 0)
        return None if sharding is None else ShardingPerValue((sharding,))
    if len(texts) != len(types):
        raise op.error(f"sharding {text} is for {len(texts)} values, the operation has {len(types)} results")
    ranks = [rank_of(type) for type in types]
    shardings = [sharding_by_axes(op, text, rank) for text, rank in zip(texts, ranks, strict=True)]
    mesh = next((sharding.mesh_or_ref for sharding in shardings if sharding is not None), None)
    if mesh is None:
        return None
    return ShardingPerValue(
        tuple(
            [
                fully_replicated(rank, mesh, is_closed=False) if sharding is None else sharding
                for sharding, rank in zip(shardings, ranks, strict=True)
            ]
        )
    )


def manual_axes_of(op: Op, text: str) -> ManualAxes:
    """The manual axes in a sharding by mesh axes; of a tuple, in that of the first element."""
    try:
        parsed = parse_named_sharding(Source("<mhlo.sharding>", leaves(text)[0]), _UNUSED)
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None
    match parsed:
        case UniformOnMesh():
            return ManualAxes(parsed.of_rank(0, _UNUSED).manual_axes)
        case ShardingOnMesh():
            return ManualAxes(parsed.manual_axes)
    return ManualAxes()


def parse_tiling(op: Op, text: str) -> Tiling:
    """The tiling of a sharding by devices. Raises DiagnosticError."""
    try:
        return parse_gspmd(Source("<mhlo.sharding>", text))
    except DiagnosticError as error:
        raise _invalid(op, text, error) from None


def _invalid(op: Op, text: str, error: DiagnosticError) -> DiagnosticError:
    return op.error(f"invalid sharding {text}: " + error.diagnostic.message)


# --- Export ---------------------------------------------------------------------------------------


def hlo_text(sharding: TensorSharding, mesh: Mesh, manual_axes: Sequence[str], by_axes: bool) -> str:
    """The text of a sharding in HLO."""
    names = tuple([axis.name for axis in mesh.axes if axis.name in manual_axes])
    is_manual = bool(names) and len(names) == len(mesh.axes)
    if not by_axes:
        if is_manual:
            return gspmd_text(Uniform(Sharing.MANUAL))
        text = gspmd_text(tiling_of(ShardingOnMesh(sharding, mesh, names)))
        names_kind = bool(sharding.unreduced_axes) and Behavior.REDUCTION_KINDS.active
        return text[:-1] + _kind_text(sharding) if names_kind else text
    if mesh.is_maximal:
        return named_sharding_text(ShardingOnMesh(sharding, mesh))
    if is_manual:
        return named_sharding_text(ShardingOnMesh(TensorSharding(mesh), mesh, names))
    if not names and not any(True for _ in sharding.axis_refs) and sharding.is_fully_closed:
        return named_sharding_text(ShardingOnMesh(TensorSharding(Mesh()), Mesh()))
    return named_sharding_text(ShardingOnMesh(sharding, mesh, names))


def _kind_text(sharding: TensorSharding) -> str:
    """The metadata by which a sharding by devices says how partial results are combined."""
    kind = sharding.reduction.name
    return f' metadata={{op_type="sdy::reduction_op" op_name="{kind}"}}}}'


def tuple_text(texts: Sequence[str]) -> str:
    """The text of the sharding of a tuple."""
    numbered = [
        f"/*index={index}*/{text}" if index and index % _NUMBERED == 0 else text
        for index, text in enumerate(texts)
    ]
    return f"{{{', '.join(numbered)}}}"


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

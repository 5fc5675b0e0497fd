"""Converts programs of VHLO to another version: operations take their newer or older form."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.printer.asm_printer import print_for_note
from sdyopt.mlir.dialects.stablehlo.enums import EnumAttr
from sdyopt.mlir.dialects.vhlo.attributes import (
    ArrayV1,
    BoolV1,
    CustomCallApiVersionV1,
    DictV1,
    ResultAccuracyModeV1,
    ResultAccuracyV1,
    TensorV1,
    TypeV1,
    VhloAttr,
)
from sdyopt.mlir.dialects.vhlo.conversion import i64_elements, to_vhlo
from sdyopt.mlir.dialects.vhlo.dialect import CURRENT, MINIMUM, Version, version_of, version_text, vhlo
from sdyopt.mlir.dialects.vhlo.ops import VhloOp
from sdyopt.mlir.dialects.vhlo.types import (
    SIMPLE_TYPES,
    FutureV1,
    SimpleType,
    TensorType,
    UnrankedTensorV1,
    VhloType,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, Type, dictionary, nested_attributes
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op

# --- The attributes that the second form of an operation adds -----------------------------------------


class Added(NamedTuple):
    """An attribute that a newer form of an operation has, and the value that stands for its absence."""

    name: str
    default: Attribute


_NO_INTEGERS = to_vhlo(i64_elements(()))
_NO_TYPE = TypeV1(SimpleType("none_v1"))
_DEFAULT_ACCURACY = ResultAccuracyV1(0, 0, 0, ResultAccuracyModeV1("DEFAULT"))
_BATCHING = (
    Added("operand_batching_dims", _NO_INTEGERS),
    Added("start_indices_batching_dims", _NO_INTEGERS),
)

# By the name of the operation without its version, of those with two forms.
ADDED: dict[str, tuple[Added, ...]] = {
    "all_gather": (),
    "all_reduce": (),
    "all_to_all": (),
    "collective_broadcast": (Added("has_dynamic_root", BoolV1(False)),),
    "composite": (),
    "custom_call": (Added("result_tilings", ArrayV1(())),),
    "dot_general": tuple(
        Added(name, _NO_TYPE)
        for name in (
            *("lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count"),
            *("rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation"),
        )
    ),
    "dynamic_conv": (),
    "dynamic_gather": _BATCHING,
    "gather": _BATCHING,
    "recv": (Added("source_target_pairs", _NO_INTEGERS),),
    "scatter": (
        Added("input_batching_dims", _NO_INTEGERS),
        Added("scatter_indices_batching_dims", _NO_INTEGERS),
    ),
    "send": (Added("source_target_pairs", _NO_INTEGERS),),
    **dict.fromkeys(
        (
            *("cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one"),
            *("logistic", "rsqrt", "sine", "sqrt", "tan", "tanh"),
        ),
        (Added("result_accuracy", _DEFAULT_ACCURACY),),
    ),
}

# The first forms of these have a single operand.
_SINGLE = frozenset({"all_gather", "all_reduce", "all_to_all", "collective_broadcast"})


def _is_default(value: Attribute | None, default: Attribute) -> bool:
    if default is _NO_INTEGERS:
        return isinstance(value, TensorV1) and not value.data.data
    return value is default


# --- What a version has -----------------------------------------------------------------------------


def is_legal(signature: OpSignature, discardable: DictAttr, version: Version) -> bool:
    """Whether a version of StableHLO has an operation with this signature and these attributes."""
    op_class = signature.op_class
    if not issubclass(op_class, VhloOp):
        return True
    if not op_class.first <= version <= op_class.last:
        return False
    constraint = _CONSTRAINTS.get(signature.name)
    if constraint is not None and not constraint(signature, version):
        return False
    parts: list[Attribute] = [value for _, value in signature.attributes.entries]
    parts += [value for _, value in discardable.entries]
    parts += [*signature.operand_types, *signature.result_types]
    return all(_is_known(part, version) for part in parts)


_first_versions: dict[Attribute, Version] = {}


def _is_known(attribute: Attribute, version: Version) -> bool:
    """Whether a version has an attribute or type, and all those of VHLO inside it."""
    first = _first_versions.get(attribute)
    if first is None:
        first = _first_versions[attribute] = max(map(_first_version, nested_attributes(attribute)))
    return first <= version


def _first_version(attribute: Attribute) -> Version:
    if isinstance(attribute, VhloAttr | VhloType | TensorType):
        return attribute.since
    if isinstance(attribute, SimpleType):
        return SIMPLE_TYPES[attribute.name].since
    return (1, 9, 0) if isinstance(attribute, ResultAccuracyModeV1) else MINIMUM


def _has_equal_elements(signature: OpSignature, version: Version) -> bool:
    """Before 0.17.0, a reduction had the element types of its operands."""
    pairs = zip(signature.operand_types, signature.result_types, strict=False)
    return version >= (0, 17, 0) or all(_element(a) is _element(b) for a, b in pairs)


def _element(type: Type) -> Type:
    return type.element if isinstance(type, TensorType | UnrankedTensorV1) else type


def _is_old_custom_call(signature: OpSignature, version: Version) -> bool:
    """Before 1.3.0, custom calls were untyped; before 1.17.0, they took no futures."""
    if version < (1, 17, 0) and any(isinstance(type, FutureV1) for type in signature.operand_types):
        return False
    if version >= (1, 3, 0):
        return True
    api = signature.attributes.get("api_version")
    is_typed = isinstance(api, EnumAttr) and api is CustomCallApiVersionV1("API_VERSION_TYPED_FFI")
    return not is_typed and not isinstance(signature.attributes.get("backend_config"), DictV1)


_CONSTRAINTS: dict[str, Callable[[OpSignature, Version], bool]] = {
    **dict.fromkeys(
        (
            *("vhlo.all_reduce_v1", "vhlo.reduce_v1", "vhlo.reduce_scatter_v1", "vhlo.reduce_window_v1"),
            *("vhlo.scatter_v1", "vhlo.select_and_scatter_v1"),
        ),
        _has_equal_elements,
    ),
    "vhlo.custom_call_v1": _is_old_custom_call,
}


# --- Conversion -------------------------------------------------------------------------------------


def checked_version(text: str, op: Op) -> Version:
    """The version of a text, with a patch number of zero. Raises DiagnosticError at the operation."""
    version = version_of(text)
    if version is None:
        form = "Target version must be of the form `#.#.#`."
        problem = f"Invalid target version argument '{text}'" if text else "No target version specified."
        raise op.error(f"{problem}\n{form}")
    if version < MINIMUM:
        raise op.error(f"target version {text} is less than minimum supported {version_text(MINIMUM)}")
    if version > CURRENT:
        raise op.error(f"target version {text} is greater than current version {version_text(CURRENT)}")
    return (*version[:2], 0)


def convert_to_version(module: Op, version: Version) -> None:
    """Converts all operations of VHLO to forms that a version has; raises DiagnosticError if one has none."""
    converted: list[tuple[Op, OpSignature]] = []
    legal: dict[tuple[OpSignature, DictAttr], bool] = {}
    for op in module.walk():
        key = (op.signature, op.attributes)
        if key not in legal:
            legal[key] = is_legal(*key, version)
        if not legal[key]:
            converted.append((op, _converted(op, version, module)))
    for op, signature in converted:
        op.__class__ = signature.op_class
        op.signature = signature
        # The order of uses is that of MLIR's conversion: a new operation is a new use of its operands, and
        # takes the place of the old one after all are made.
        for use in op.operand_uses:
            if use.prev_use is not None:
                use.make_first()
    for op, _ in converted:
        for result in op.results:
            for use in list(result.uses):
                if use.prev_use is not None:
                    use.make_first()


def _converted(op: Op, version: Version, module: Op) -> OpSignature:
    """The signature of the form of an operation that a version has."""
    base, _, number = op.signature.name.removeprefix("vhlo.").rpartition("_v")
    other = {"1": "2", "2": "1"}.get(number)
    signature = None
    if base in ADDED and other is not None:
        signature = _upgraded(op, base) if other == "2" else _downgraded(op, base)
    if signature is not None and is_legal(signature, op.attributes, version):
        return signature
    raise _not_legal(op).then(module.error(f"failed to convert VHLO to v{version_text(version)}"))


def _upgraded(op: Op, base: str) -> OpSignature | None:
    """The signature of the second form of an operation."""
    attributes = dict(op.signature.attributes.entries)
    if base == "dynamic_conv":
        attributes.pop("padding", None)
    attributes.update({each.name: each.default for each in ADDED[base]})
    return _signature(op, f"{base}_v2", attributes)


def _downgraded(op: Op, base: str) -> OpSignature | None:
    """The signature of the first form of an operation; None if it cannot have the attributes or operands."""
    attributes = dict(op.signature.attributes.entries)
    if base in _SINGLE and len(op.signature.operand_types) != 1:
        return None
    if base == "composite" and op.regions:
        return None
    for each in ADDED[base]:
        if not _is_default(attributes.pop(each.name, None), each.default):
            return None
    if base == "dynamic_conv":
        lhs = op.signature.operand_types[0]
        if not isinstance(lhs, TensorType):
            return None
        rank = max(len(lhs.shape) - 2, 0)
        attributes["padding"] = to_vhlo(i64_elements([0] * (2 * rank), (rank, 2)))
    return _signature(op, f"{base}_v1", attributes)


def _signature(op: Op, name: str, attributes: dict[str, Attribute]) -> OpSignature:
    old, op_class = op.signature, vhlo.ops[name]
    return OpSignature(op_class, op_class.name, dictionary(attributes), old.operand_types, old.result_types)


def _not_legal(op: Op) -> DiagnosticError:
    return op.error(
        f"failed to legalize operation '{op.signature.name}' that was explicitly marked illegal: "
        f"{print_for_note(op)}"
    )

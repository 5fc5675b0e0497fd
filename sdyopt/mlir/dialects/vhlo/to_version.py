"""Converts programs of VHLO to another version: operations take their newer or older form."""

from __future__ import annotations

from collections.abc import Callable

from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr
from sdyopt.mlir.dialects.vhlo.attributes import (
    NO_TYPE,
    CustomCallApiVersionV1,
    DictV1,
    ResultAccuracyModeV1,
    VhloAttr,
)
from sdyopt.mlir.dialects.vhlo.conversion import i64_elements, to_vhlo
from sdyopt.mlir.dialects.vhlo.defaults import DEFAULTS, NO_INTEGERS, Default, constant
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
from sdyopt.mlir.ir.dialect import inherent_names
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.value import make_most_recent

# --- The attributes that the second form of an operation adds -----------------------------------------

_NO_ALGORITHM = constant(NO_TYPE)


def _added(op_class: type[VhloOp]) -> dict[str, Default]:
    """The attributes that the second form of an operation adds, and what stands for their absence."""
    base = op_class.base
    first, second = (inherent_names(vhlo.ops[f"{base}_v{form}"]) for form in (1, 2))
    absent = _NO_ALGORITHM if base == "dot_general" else NO_INTEGERS
    defaults = DEFAULTS.get(base, {})
    return {name: defaults.get(name, absent) for name in sorted(second - first)}


# The first forms of these have a single operand.
_SINGLE = frozenset({"all_gather", "all_reduce", "all_to_all", "collective_broadcast"})


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
        make_most_recent(op.operand_uses)
    for op, _ in converted:
        for result in op.results:
            make_most_recent(result.uses)


def _converted(op: Op, version: Version, module: Op) -> OpSignature:
    """The signature of the form of an operation that a version has."""
    assert isinstance(op, VhloOp)
    signature = None
    if f"{op.base}_v2" in vhlo.ops:
        signature = _upgraded(op) if op.form == 1 else _downgraded(op)
    if signature is not None and is_legal(signature, op.attributes, version):
        return signature
    raise legalization_error(op).then(module.error(f"failed to convert VHLO to v{version_text(version)}"))


def _upgraded(op: VhloOp) -> OpSignature:
    """The signature of the second form of an operation."""
    attributes = dict(op.signature.attributes.entries)
    if op.base == "dynamic_conv":
        attributes.pop("padding", None)
    attributes |= {name: default.make(attributes) for name, default in _added(type(op)).items()}
    return _signature(op, f"{op.base}_v2", attributes)


def _downgraded(op: VhloOp) -> OpSignature | None:
    """The signature of the first form of an operation; None if it cannot have the attributes or operands."""
    attributes = dict(op.signature.attributes.entries)
    if op.base in _SINGLE and len(op.signature.operand_types) != 1:
        return None
    if op.base == "composite" and op.regions:
        return None
    for name, default in _added(type(op)).items():
        value = attributes.pop(name, None)
        if value is None or not default.accepts(value):
            return None
    if op.base == "dynamic_conv":
        lhs = op.signature.operand_types[0]
        if not isinstance(lhs, TensorType):
            return None
        rank = max(len(lhs.shape) - 2, 0)
        attributes["padding"] = to_vhlo(i64_elements([0] * (2 * rank), (rank, 2)))
    return _signature(op, f"{op.base}_v1", attributes)


def _signature(op: Op, name: str, attributes: dict[str, Attribute]) -> OpSignature:
    old, op_class = op.signature, vhlo.ops[name]
    return OpSignature(op_class, op_class.name, dictionary(attributes), old.operand_types, old.result_types)

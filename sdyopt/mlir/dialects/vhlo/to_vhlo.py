"""Converts programs from StableHLO to VHLO, and programs of VHLO to another version."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sdyopt.mlir.asm.printer.asm_printer import legalization_error
from sdyopt.mlir.dialects.builtin import UnrealizedConversionCastOp
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr
from sdyopt.mlir.dialects.stablehlo.replica_groups import ChannelHandle
from sdyopt.mlir.dialects.vhlo.attributes import (
    NO_TYPE,
    ArrayV1,
    BoolV1,
    CustomCallApiVersionV1,
    DictV1,
    IntegerV1,
    ResultAccuracyModeV1,
    TypeV1,
    VhloAttr,
)
from sdyopt.mlir.dialects.vhlo.conversion import NotConvertible, i64_elements, to_vhlo, to_vhlo_type
from sdyopt.mlir.dialects.vhlo.from_vhlo import COMBINED
from sdyopt.mlir.dialects.vhlo.ops import DEFAULTS, NO_INTEGERS, Default, VhloOp, constant
from sdyopt.mlir.dialects.vhlo.types import (
    CURRENT,
    MINIMUM,
    SIMPLE_TYPES,
    FutureV1,
    SimpleType,
    TensorType,
    UnrankedTensorV1,
    Version,
    VhloType,
    version_of,
    version_text,
    vhlo,
)
from sdyopt.mlir.ir.attribute import Attribute, DictAttr, Type, UnitAttr, dictionary, nested_attributes
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr
from sdyopt.mlir.ir.dialect import inherent_names
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.operation import NO_ATTRIBUTES, Op, build
from sdyopt.mlir.ir.value import BlockArgument, LazyLocation, OpOperand, Value, make_most_recent

# The newest operation of each name without its version.
_NEWEST = {
    op_class.base: op_class
    for op_class in vhlo.ops.values()
    if issubclass(op_class, VhloOp) and op_class.last == CURRENT
}


def legalize_to_vhlo(module: Op, allows_other_dialects: bool) -> None:
    """Converts all operations of StableHLO, and functions, to VHLO.

    Operations of other dialects stay if they are allowed, with casts of their operands and results. Raises
    DiagnosticError for an operation that has no counterpart.
    """
    _ToVhlo(allows_other_dialects).convert(module)


class _ToVhlo:
    def __init__(self, allows_other_dialects: bool) -> None:
        self._allows_others = allows_other_dialects
        # The values that are cast to VHLO.
        self._casts: dict[Value, None] = {}
        self._signatures: dict[tuple[OpSignature, DictAttr], tuple[OpSignature, DictAttr]] = {}

    def convert(self, module: Op) -> None:
        ops = list(module.walk())
        for op in ops:
            if _is_converted(op):
                for region in op.regions:
                    for block in region.blocks:
                        for argument in block.arguments:
                            argument.type = self._type(argument.type, op)
        for op in ops:
            if _is_converted(op):
                self._convert_op(op)
        if self._allows_others:
            for op in ops:
                if op.parent is not None and not isinstance(op, VhloOp):
                    self._cast_operands(op)
        for value in self._casts:
            # MLIR inserts the casts after the conversion, which reverses the uses of their results.
            _reverse_uses(value, value.uses)
            cast = value.defining_op
            assert cast is not None
            [use] = cast.operand_uses
            others = [other for other in use.value.uses if other is not use]
            # The cast is the first user in the program, and so the last of the uses.
            _reverse_uses(use.value, [use, *reversed(others)])

    def _type(self, type: Type, op: Op) -> Type:
        try:
            return self._converted_type(type)
        except NotConvertible:
            raise legalization_error(op) from None

    def _converted_type(self, type: Type) -> Type:
        converted = to_vhlo_type(type)
        if not self._allows_others and converted.dialect != "vhlo":
            raise NotConvertible
        return converted

    def _convert_op(self, op: Op) -> None:
        key = (op.signature.with_attributes(op.inherent_attributes()), op.attributes)
        converted = self._signatures.get(key)
        if converted is None:
            try:
                converted = self._signatures[key] = self._convert_signature(op)
            except NotConvertible:
                raise legalization_error(op) from None
        signature, attributes = converted
        operands = [self._converted_value(value, op) for value in op.operands]
        block = op.parent
        assert block is not None
        for use in op.operand_uses:
            use.unlink()
        new = build(signature, operands, attributes, op.lazy_location, op.regions, op.successors)
        for successor in op.successors:
            successor.uses -= 1
        op.regions = ()
        block.insert_before(op, new)
        block.detach(op)
        for old, result in zip(op.results, new.results, strict=True):
            for use in reversed(list(old.uses)):
                use.unlink()
                use.link(result)

    def _converted_value(self, value: Value, op: Op) -> Value:
        """The operand of an operation with a type of VHLO: a cast of a result of another dialect."""
        converted = to_vhlo_type(value.type)
        if converted is value.type:
            return value
        cast = _cast(value, converted, op.lazy_location)
        self._casts[cast] = None
        return cast

    def _cast_operands(self, op: Op) -> None:
        """Casts the operands of an operation of another dialect back."""
        types = op.signature.operand_types
        for use, type in zip(op.operand_uses, types, strict=True):
            if use.value.type is not type:
                cast = _cast(use.value, type, use.value.lazy_location)
                use.unlink()
                use.link(cast)

    def _attribute(self, attribute: Attribute) -> Attribute:
        try:
            converted = to_vhlo(attribute)
        except NotConvertible:
            if not self._allows_others or attribute.dialect in ("stablehlo", "vhlo"):
                raise
            return attribute
        if not self._allows_others and not _is_vhlo(converted):
            raise NotConvertible
        return converted

    def _convert_signature(self, op: Op) -> tuple[OpSignature, DictAttr]:
        old = op.signature
        base = old.name.partition(".")[2]
        op_class = _NEWEST.get(base)
        if op_class is None:
            raise NotConvertible
        attributes = self._vhlo_attributes(base, dict(op.inherent_attributes().entries))
        discardable = {name: self._attribute(value) for name, value in op.attributes.entries}
        inherent = inherent_names(op_class)
        for name in list(attributes):
            if name not in inherent:
                discardable[name] = attributes.pop(name)
        signature = OpSignature(
            op_class,
            op_class.name,
            dictionary(attributes),
            tuple([self._converted_type(type) for type in old.operand_types]),
            tuple([self._converted_type(type) for type in old.result_types]),
        )
        return signature, dictionary(discardable)

    def _vhlo_attributes(self, base: str, attributes: dict[str, Attribute]) -> dict[str, Attribute]:
        """The attributes of an operation of VHLO from those of the operation of StableHLO."""
        converted: dict[str, Attribute] = {}
        for name, default in DEFAULTS.get(base, {}).items():
            stablehlo_name = "channel_handle" if name == "channel_id" else name
            if stablehlo_name not in attributes:
                converted[name] = default.make(attributes)
        if base == "select_and_scatter" and "window_dimensions" not in attributes:
            raise NotConvertible
        for name, _, reads in COMBINED.get(base, ()):
            combined = attributes.pop(name, None)
            if combined is None:
                # Only the algorithm of a dot_general may be missing.
                converted.update(dict.fromkeys(reads, NO_TYPE))
            else:
                fields = [getattr(combined, field) for field in combined._names]
                converted.update(zip(reads, map(_part, fields), strict=True))
        for name, value in attributes.items():
            if isinstance(value, ChannelHandle):
                converted["channel_id"] = _part(value.handle)
            elif isinstance(value, UnitAttr) and name in ("use_global_device_ids", "has_dynamic_root"):
                converted[name] = BoolV1(True)
            elif name == "api_version" and base == "custom_call":
                cases = CustomCallApiVersionV1.cases
                if not isinstance(value, IntegerAttr) or not 0 <= value.value < len(cases):
                    raise NotConvertible
                converted[name] = CustomCallApiVersionV1(cases[value.value])
            else:
                converted[name] = self._attribute(value)
        return converted


def _is_vhlo(attribute: Attribute) -> bool:
    """Whether an attribute and all those inside it are of VHLO. Those of elements are not looked at."""
    pending = [attribute]
    while pending:
        part = pending.pop()
        if part.dialect != "vhlo":
            return False
        if isinstance(part, ArrayV1):
            pending += part.elements
        elif isinstance(part, DictV1):
            pending += [value for _, value in part.entries]
    return True


def _is_converted(op: Op) -> bool:
    return op.dialect_name in ("stablehlo", "func")


def _part(value: object) -> Attribute:
    """The attribute of VHLO of a field of an attribute of StableHLO."""
    if isinstance(value, bool):
        return BoolV1(value)
    if isinstance(value, int):
        return IntegerV1(SimpleType("i64_v1"), value)
    if isinstance(value, tuple):
        return to_vhlo(i64_elements(value))
    assert isinstance(value, Type)
    return TypeV1(to_vhlo_type(value))


def _reverse_uses(value: Value, uses: Iterable[OpOperand]) -> None:
    """Makes these the uses of a value, in reverse order."""
    for use in list(uses):
        use.unlink()
        use.link(value)


def _cast(value: Value, type: Type, location: LazyLocation) -> Value:
    """A value with another type: the result of a cast after its definition, which there may already be."""
    for use in value.uses:
        owner = use.owner
        if isinstance(owner, UnrealizedConversionCastOp) and owner.results[0].type is type:
            return owner.results[0]
    name = UnrealizedConversionCastOp.name
    signature = OpSignature(UnrealizedConversionCastOp, name, NO_ATTRIBUTES, (value.type,), (type,))
    cast = build(signature, (value,), location=location)
    definition, block = value.defining_op, value.block
    assert block is not None
    anchor = block.first if definition is None else definition.next
    if isinstance(value, BlockArgument) and type.dialect != "vhlo":
        # MLIR casts arguments back in their order, each at the start of the block.
        while isinstance(anchor, UnrealizedConversionCastOp) and _is_of_later_argument(anchor, value):
            anchor = anchor.next
    block.insert_before(anchor, cast)
    return cast.results[0]


def _is_of_later_argument(cast: Op, argument: BlockArgument) -> bool:
    operand = cast.operand_at(0)
    return (
        isinstance(operand, BlockArgument)
        and operand.block is argument.block
        and operand.index > argument.index
    )


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

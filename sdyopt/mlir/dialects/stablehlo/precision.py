"""Precision config and dot algorithm: the attributes, their checks and assembly directives."""

from __future__ import annotations

from collections.abc import Sequence

from sdyopt.base.diagnostics.diagnostic import DiagnosticError
from sdyopt.mlir.asm.format.format_elements import Custom, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.dialects.stablehlo.assembly_directives import print_list
from sdyopt.mlir.dialects.stablehlo.dialect import EnumAttr, enumeration, quoted, stablehlo
from sdyopt.mlir.ir.attribute import ArrayAttr, Attribute, DictAttr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import AttrConstraint, of_class
from sdyopt.mlir.ir.types import BF16, F16, F32, F64, FloatType, Type


@enumeration(stablehlo, "precision", "DEFAULT", "HIGH", "HIGHEST")
class Precision(EnumAttr):
    """The precision of one operand; its meaning depends on the backend."""


def precision_config_of(cls: type[EnumAttr]) -> AttrConstraint[tuple[EnumAttr, ...]]:
    """The constraint for arrays of `cls`, the precision attribute of stablehlo, chlo or mhlo."""
    return AttrConstraint(
        "Precision Config attribute",
        lambda a: isinstance(a, ArrayAttr) and all(type(e) is cls for e in a.elements),
        lambda a: a.elements,
        lambda a: isinstance(a, ArrayAttr),
    )


PRECISION_CONFIG = precision_config_of(Precision)


def check_precision(signature: OpSignature, config: Sequence[EnumAttr] | None) -> None:
    """Checks that a precision config has at most one precision per operand."""
    if config is not None and len(config) > 2:
        raise signature.error_without_op_note(
            f"expects precision config to be empty or have <= 2 elements, got {len(config)}"
        )


# --- Algorithms -----------------------------------------------------------------------------


class DotAlgorithm(Attribute):
    """The algorithm of a dot: types, components per operand, primitive operations, accumulation."""

    lhs_precision_type: Type
    rhs_precision_type: Type
    accumulation_type: Type
    lhs_component_count: int
    rhs_component_count: int
    num_primitive_operations: int
    allow_imprecise_accumulation: bool
    dialect = "stablehlo"

    def is_supported(self) -> bool:
        lhs, rhs = self.lhs_precision_type, self.rhs_precision_type
        accumulation, count = self.accumulation_type, self.num_primitive_operations
        if self.lhs_component_count != 1 or self.rhs_component_count != 1:
            return False
        if lhs in _F8 and rhs in _F8:
            return accumulation is F32 and count == 1
        if self.allow_imprecise_accumulation or lhs is not rhs:
            return False
        return (lhs, accumulation, count) in _SUPPORTED_ALGORITHMS


DOT_ALGORITHM = of_class(
    DotAlgorithm,
    "Attribute that models the algorithm constraints to use for computing dot.",
)

_TF32 = FloatType("tf32")
_F8 = frozenset(
    FloatType(name)
    for name in ("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ")
)
# Operand type, accumulation type, number of primitive operations.
_SUPPORTED_ALGORITHMS = frozenset(
    [
        *((F16, F16, 1), (F16, F32, 1), (BF16, BF16, 1), (BF16, F32, 1), (BF16, F32, 3), (BF16, F32, 6)),
        *((BF16, F32, 9), (_TF32, F32, 1), (_TF32, F32, 3), (F32, F32, 1), (F64, F64, 1)),
    ]
)


def verify_algorithm(algorithm: DotAlgorithm) -> str | None:
    """The error message for an algorithm with invalid counts or without known hardware support, or None."""
    for count, what in (
        (algorithm.lhs_component_count, "lhs component count"),
        (algorithm.rhs_component_count, "rhs component count"),
        (algorithm.num_primitive_operations, "num primitive operations"),
    ):
        if count < 1:
            return f"{what} must be positive"
    if algorithm.is_supported():
        return None
    return (
        "dot algorithm not known to be supported on any hardware: "
        f"{{lhs:{quoted(algorithm.lhs_precision_type)}, "
        f"rhs:{quoted(algorithm.rhs_precision_type)}, "
        f"accum:{quoted(algorithm.accumulation_type)}, "
        f"lhs_components:{algorithm.lhs_component_count}, "
        f"rhs_components:{algorithm.rhs_component_count}, "
        f"primitive_ops:{algorithm.num_primitive_operations}, "
        f"imprecise:{algorithm.allow_imprecise_accumulation:d}}}"
    )


# --- Assembly -------------------------------------------------------------------------------

_ENTRIES = (
    ("lhs_precision_type", "lhsPrecisionType", "Type"),
    ("rhs_precision_type", "rhsPrecisionType", "Type"),
    ("accumulation_type", "accumulationType", "Type"),
    ("lhs_component_count", "lhsComponentCount", "int64_t"),
    ("rhs_component_count", "rhsComponentCount", "int64_t"),
    ("num_primitive_operations", "numPrimitiveOperations", "int64_t"),
    ("allow_imprecise_accumulation", "allowImpreciseAccumulation", "bool"),
)


def parse_algorithm(parser: AsmParser, cls: type[DotAlgorithm] = DotAlgorithm) -> DotAlgorithm:
    """Parses `<lhs_precision_type = tf32, …>`; all entries are required, in this order.

    Raises a DiagnosticError for a malformed or unsupported algorithm.
    """
    offset = parser.skip_trivia()
    prefix = "MHLO" if cls.dialect == "mhlo" else "StableHLO"
    parser.expect("<")
    values = []
    for index, (name, cpp_name, cpp_type) in enumerate(_ENTRIES):
        if index:
            parser.expect(",")
        parser.expect(name)
        parser.expect("=")
        try:
            values.append(_ENTRY_PARSERS[cpp_type](parser))
        except DiagnosticError as error:
            raise error.then(
                parser.error(
                    f"failed to parse {prefix}_DotAlgorithm parameter '{cpp_name}' which is to be a "
                    f"`{cpp_type}`"
                )
            ) from None
    parser.expect(">")
    algorithm = cls(*values)
    message = verify_algorithm(algorithm)
    if message is not None:
        raise parser.error(message, offset)
    return algorithm


def _parse_bool(parser: AsmParser) -> bool:
    if parser.accept("true"):
        return True
    offset = parser.skip_trivia()
    value = parser.integer()
    if value not in (0, 1):
        raise parser.error("integer value too large", offset)
    return value == 1


_ENTRY_PARSERS = {
    "Type": lambda parser: parser.type(),
    "int64_t": lambda parser: parser.integer(),
    "bool": _parse_bool,
}


def print_algorithm(algorithm: DotAlgorithm, attribute_printer: AttributePrinter) -> str:
    """The text of an algorithm, from the mnemonic on."""
    entries = []
    for name, _, cpp_type in _ENTRIES:
        value = getattr(algorithm, name)
        text = attribute_printer.type(value) if cpp_type == "Type" else str(value).lower()
        entries.append(f"{name} = {text}")
    return f"dot_algorithm<{', '.join(entries)}>"


stablehlo.attribute("dot_algorithm")(parse_algorithm)
stablehlo.printer(DotAlgorithm)(print_algorithm)


def _parse_precision(op_parser: OpAsmParser) -> None:
    """Parses `precision = [HIGH, DEFAULT]`."""
    op_parser.expect("precision")
    op_parser.expect("=")
    precisions = op_parser.comma_list(lambda: Precision.parse_value(op_parser), "[", "]")
    op_parser.attributes["precision_config"] = ArrayAttr(tuple(precisions))


def _parse_optional_precision(op_parser: OpAsmParser) -> None:
    if op_parser.accept(","):
        _parse_precision(op_parser)


def _parse_precision_and_algorithm(op_parser: OpAsmParser) -> None:
    if not op_parser.accept(","):
        return
    if not op_parser.looking_at("algorithm"):
        _parse_precision(op_parser)
        if not op_parser.accept(","):
            return
    op_parser.expect("algorithm")
    op_parser.expect("=")
    op_parser.attributes["algorithm"] = parse_algorithm(op_parser)


def _write_precision(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    config = signature.attributes.get("precision_config")
    if config is not None:
        precisions = PRECISION_CONFIG.value(config)
        out.text(f", precision = {print_list([precision.value for precision in precisions])}")


def _write_precision_and_algorithm(out: Template, signature: OpSignature, attributes: DictAttr) -> None:
    _write_precision(out, signature, attributes)
    algorithm = signature.attributes.get("algorithm")
    if isinstance(algorithm, DotAlgorithm):
        text = print_algorithm(algorithm, out.attribute_printer)
        out.text(f", algorithm = {text.removeprefix('dot_algorithm')}")


@directive("Precision")
def precision_directive() -> Custom:
    """Optional `, precision = […]`."""
    return Custom(_parse_optional_precision, _write_precision, elides=["precision_config"])


@directive("PrecisionAndAlgorithm")
def precision_and_algorithm_directive() -> Custom:
    """Optional `, precision = […]` and optional `, algorithm = <…>`."""
    return Custom(
        _parse_precision_and_algorithm,
        _write_precision_and_algorithm,
        elides=["precision_config", "algorithm"],
    )

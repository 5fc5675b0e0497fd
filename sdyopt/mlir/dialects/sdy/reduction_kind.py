"""The kinds of reductions: how the partial results of a tensor are combined.

    unreduced=max{"x"}        sdy.all_reduce max {"x"} %0 …

The default, `sum`, is not printed. Collectives store it as an attribute too, since the releases with
`Behavior.STORED_REDUCTION_OP`.
"""

from __future__ import annotations

from enum import IntEnum

from sdyopt.base.releases import Behavior
from sdyopt.mlir.asm.format.format_elements import FormatElement, directive
from sdyopt.mlir.asm.format.print_template import Template
from sdyopt.mlir.asm.parser.asm_parser import AsmParser
from sdyopt.mlir.asm.parser.op_parser import OpAsmParser
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.builtin_attributes import IntegerAttr, integer
from sdyopt.mlir.ir.op_fields import AttrField, attr, default_valued_optional_attr
from sdyopt.mlir.ir.op_signature import OpSignature
from sdyopt.mlir.ir.traits import AttrConstraint
from sdyopt.mlir.ir.types import I32


class ReductionKind(IntEnum):
    """`ReductionOp` in Shardy. The values are those of integer attributes."""

    SUM = 0
    MAX = 1
    MIN = 2

    def __str__(self) -> str:
        return self.name.lower()

    @property
    def prefix(self) -> str:
        """The keyword before a list of axes: empty for the default."""
        return "" if self is ReductionKind.SUM else str(self)

    @property
    def noun(self) -> str:
        """What this combines partial results to."""
        return "sum" if self is ReductionKind.SUM else f"{self}imum"


_KINDS = {str(kind): kind for kind in ReductionKind}


def accept_reduction_kind(parser: AsmParser) -> ReductionKind | None:
    """Parses the keyword of a kind of reduction, if there is one. Earlier releases do not have it."""
    start = parser.skip_trivia()
    kind = next((kind for word, kind in _KINDS.items() if parser.accept(word)), None)
    if kind is not None and not Behavior.REDUCTION_KINDS.active:
        release = Behavior.REDUCTION_KINDS.since.name
        raise parser.error("expected '{'", start).help(f"'{kind}' came with {release}; change --sdy-version")
    return kind


# --- The attribute `reduction_op` of collectives --------------------------------------------------

_REDUCTION_OP = "reduction_op"
_CONSTRAINT = AttrConstraint[ReductionKind](
    "reduction op enum",
    lambda a: isinstance(a, IntegerAttr) and a.type is I32 and 0 <= a.value < len(_KINDS),
    lambda a: ReductionKind(a.value),
)


def reduction_attr() -> AttrField[ReductionKind]:
    """The field `reduction_op`."""
    default = integer(ReductionKind.SUM, I32)
    optional = default_valued_optional_attr(_CONSTRAINT, default)
    return attr(_CONSTRAINT, default=default).since(Behavior.STORED_REDUCTION_OP, before=optional)


def reduction_attributes(kind: ReductionKind) -> dict[str, Attribute]:
    """The attribute for a kind of reduction; none for the default, which is filled in where it is stored."""
    return {} if kind is ReductionKind.SUM else {_REDUCTION_OP: integer(kind, I32)}


@directive("OptionalReduction")
class OptionalReduction(FormatElement):
    """`max` before the axes, or nothing for the default."""

    def __init__(self, field: str) -> None:
        self.elides = (field,)

    def parse(self, op_parser: OpAsmParser) -> None:
        start = op_parser.skip_trivia()
        kind = accept_reduction_kind(op_parser)
        if kind is None:
            word = op_parser.accept_string()
            if word is None:
                return
            kind = _KINDS.get(word)
        if kind is None:
            raise op_parser.error(f'invalid reduction_op attribute specification: "{word}"', start)
        op_parser.attributes.update(reduction_attributes(kind))

    def write(self, out: Template, signature: OpSignature, attributes: DictAttr) -> None:
        kind = signature.attributes.get(_REDUCTION_OP)
        if isinstance(kind, IntegerAttr) and kind.value:
            out.word(str(ReductionKind(kind.value)))

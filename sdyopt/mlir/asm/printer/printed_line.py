"""The line of an operation as a format string, which prints equal operations at once."""

from __future__ import annotations

from collections.abc import Mapping

from sdyopt.base.interning import Interned
from sdyopt.mlir.asm.format.assembly_format import Assembly
from sdyopt.mlir.asm.format.print_template import Part
from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import EMPTY_DICT, UNIT, DictAttr, DistinctAttr, nested_attributes
from sdyopt.mlir.ir.holes import HOLES
from sdyopt.mlir.ir.op_signature import OpSignature

# The maximum length of a text in a format string.
_MAX_FORMATTED_LENGTH = 10_000
# The name of an attribute that no operation has.
_MARK = "sdyopt.mark"


class PrintedLine:
    """The parts of a print template.

    `format` is their text as a format string for the operator `%`, whose values are the name of the result,
    if there is exactly one, and those of the operands in order; None if the parts must be printed one by one,
    or if they are so long, as for a big constant, that a copy would cost more than it saves. `line_format`
    is the same for a whole line, whose first value is the indentation, if there is exactly one result.
    """

    __slots__ = ("format", "is_repeated", "line_format", "parts")

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        self.format: str | None = None
        self.line_format: str | None = None
        self.is_repeated = False

    def repeat(self, has_result: bool) -> None:
        """Makes the formats, because more than one operation has this line."""
        self.is_repeated = True
        parts = self.parts
        indices = [part for part in parts if isinstance(part, int)]
        if all(map(_is_formatted, parts)) and indices == list(range(len(indices))):
            text = "".join(part.replace("%", "%%") if isinstance(part, str) else "%s" for part in parts)
            self.set_format(f"%s = {text}" if has_result else text, has_result)

    def set_format(self, format: str, has_result: bool) -> None:
        self.is_repeated = True
        self.format = format
        if has_result:
            self.line_format = f"%s{format}\n"


def _is_formatted(part: Part) -> bool:
    return isinstance(part, int) or (isinstance(part, str) and len(part) <= _MAX_FORMATTED_LENGTH)


def format_of_signature(
    signature: OpSignature, attributes: DictAttr, types: Mapping[Interned, str]
) -> str | None:
    """The text of operations with at most one result, as a format string with `%s` for each SSA name.

    None if it also depends on something else. `types` has the texts of some types.
    """
    assembly = signature.op_class.assembly
    if not isinstance(assembly, Assembly) or len(signature.result_types) > 1:
        return None
    if any(isinstance(nested, DistinctAttr) for nested in nested_attributes(signature.attributes)):
        # Their numbers depend on what is printed before.
        return None
    printer = AttributePrinter(aliases=types)
    line = PrintedLine([signature.name, *assembly.template(signature, attributes, printer).parts])
    line.repeat(has_result=bool(signature.result_types))
    return None if printer.lacks_alias else line.format


def attribute_position(form: OpSignature) -> tuple[int, frozenset[str]] | None:
    """Where discardable attributes are in the texts of the signatures of a form, and which are not printed.

    None if they are after a type or between other attributes.
    """
    types: dict[Interned, str] = dict.fromkeys(HOLES, "\0")
    without, with_mark = (
        format_of_signature(form, attributes, types)
        for attributes in (EMPTY_DICT, DictAttr(((_MARK, UNIT),)))
    )
    if without is None or with_mark is None:
        return None
    mark = f" {{{_MARK}}}"
    before, _, after = with_mark.partition(mark)
    if before + after != without or "\0" in before:
        return None
    assembly: Assembly = form.op_class.assembly
    return len(before), assembly.elided

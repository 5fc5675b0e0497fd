"""Print templates: what operations with the same signature and discardable attributes share as text.

A template is a list of parts: text, operand indices, and functions that print what depends on the
individual operation, through the interface `OpAsmPrinter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sdyopt.mlir.asm.printer.attribute_printer import AttributePrinter
from sdyopt.mlir.ir.attribute import Attribute, DictAttr
from sdyopt.mlir.ir.block import Block, Region
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.types import Type
from sdyopt.mlir.ir.value import Value


class OpAsmPrinter(Protocol):
    """Prints the parts of an operation that its signature does not determine.

    Those are SSA names, block labels, regions and their arguments. `write` adds text as it is; the methods
    that return text do not write it.
    """

    def write(self, text: str) -> None:
        """Writes text."""

    def newline(self) -> None:
        """Starts a new line with the indentation of the current one."""

    def indented(self) -> AbstractContextManager[None]:
        """Indents the lines that are started in the `with` block by one more level."""
        ...

    def name(self, value: Value) -> str:
        """The `%name` of a value."""
        ...

    def name_list(self, values: Sequence[Value]) -> str:
        """The comma-separated names of values."""
        ...

    def label(self, block: Block) -> str:
        """The `^label` of a block."""
        ...

    def successors(self, op: Op) -> str:
        """`[^bb1, ^bb2]`."""
        ...

    def type(self, type: Type) -> str:
        """The text of a type, or its alias."""
        ...

    def types(self, types: Sequence[Type]) -> str: ...

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str: ...

    def attribute(self, attribute: Attribute) -> str:
        """The text of an attribute, or its alias."""
        ...

    def attribute_dictionary(self, op: Op, *elided: str, with_keyword: bool = False) -> None:
        """Writes ` {…}` with the inherent and discardable attributes that are not elided, if any."""

    def dictionary(self, attributes: DictAttr, with_keyword: bool = False) -> None:
        """Writes ` {…}` unless it is empty."""

    def argument(self, argument: Value, attributes: DictAttr | None = None) -> None:
        """Writes `%arg0: type {attributes}`, with its location if locations are printed."""

    def region(
        self,
        region: Region,
        print_arguments: bool = False,
        print_terminator: bool = True,
        print_empty: bool = False,
    ) -> None:
        """Writes `{ … }`.

        The entry block has a label if it has arguments and `print_arguments` is set, or if it is empty
        and `print_empty` is set.
        """


# Text, the index of an operand, or a function that prints a part of an operation.
Part = str | int | Callable[[Any, OpAsmPrinter], None]

_OPENING = "<({["
_NO_SPACE_BEFORE = "<>(){}[],"
_NO_SPACE_AFTER_PUNCTUATION = ">)}],"


class Template:
    """Collects parts and puts spaces between them by the rules of MLIR's declarative format."""

    def __init__(self, attribute_printer: AttributePrinter, elided: frozenset[str] = frozenset()) -> None:
        self.attribute_printer = attribute_printer
        self.elided = elided
        self.parts: list[Part] = []
        self._needs_space = True
        self._after_punctuation = False

    # --- Building ---------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Adds text without a space before it."""
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        elif text:
            self.parts.append(text)

    def literal(self, text: str) -> None:
        """Adds punctuation or a keyword; a space, or nothing, replaces the space."""
        if not text.strip():
            self.text(text)
            self._needs_space = False
            return
        if self._needs_space and self._has_space_before(text):
            self.text(" ")
        self.text(text)
        self._needs_space = len(text) != 1 or text not in _OPENING
        self._after_punctuation = not (text[0].isalpha() or text[0] == "_")

    def word(self, text: str) -> None:
        """Adds text, such as an attribute, after a space where one is needed."""
        self._space()
        self.text(text)

    def operands(self, indices: Iterable[int]) -> None:
        """Adds comma-separated operands."""
        self._space()
        for position, index in enumerate(indices):
            if position:
                self.text(", ")
            self.parts.append(index)

    def types(self, types: Sequence[Type]) -> None:
        """Adds comma-separated types."""
        self._space()
        self.text(", ".join(self.attribute_printer.type(type) for type in types))

    def functional_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> None:
        self._space()
        self.text(self.attribute_printer.function_type(inputs, results))

    def attribute_dictionary(self, attributes: DictAttr, with_keyword: bool = False) -> None:
        """Adds ` {…}` unless it is empty."""
        if attributes.entries:
            self.text(" attributes " if with_keyword else " ")
            self.text(self.attribute_printer.attribute(attributes))
        self._needs_space, self._after_punctuation = True, False

    def regions(self, index: int, is_last: bool, omitted: str = "") -> None:
        """Adds a region, or comma-separated ones of this and all others if it `is_last`.

        A terminator of the name `omitted` is not printed if it has neither operands nor attributes.
        """
        self._space()

        def write(op: Op, printer: OpAsmPrinter) -> None:
            for number, region in enumerate(op.regions[index:] if is_last else op.regions[index : index + 1]):
                printer.write(", " if number else "")
                last = region.blocks[0].last if region.blocks else None
                is_omitted = (
                    last is not None
                    and last.signature.name == omitted
                    and not (last.operands or last.attributes.entries or last.signature.attributes.entries)
                )
                printer.region(region, print_arguments=True, print_terminator=not is_omitted)

        self.parts.append(write)

    def choice(
        self,
        chooses: Callable[[Op], bool],
        write_if: Callable[[Template], None],
        write_else: Callable[[Template], None],
    ) -> None:
        """Adds what one of two functions writes, which depends on the individual operation."""
        templates = []
        for write in (write_if, write_else):
            template = Template(self.attribute_printer, self.elided)
            template._needs_space, template._after_punctuation = self._needs_space, self._after_punctuation
            write(template)
            templates.append(template)

        def write_chosen(op: Op, printer: OpAsmPrinter) -> None:
            for part in templates[not chooses(op)].parts:
                if callable(part):
                    part(op, printer)
                else:
                    printer.write(part if isinstance(part, str) else printer.name(op.operand_at(part)))

        self.call(write_chosen)

    def successors(self, index: int, is_last: bool) -> None:
        """Adds the label of a successor, or comma-separated ones of this and all others if it `is_last`."""
        self._space()
        end = None if is_last else index + 1
        self.parts.append(
            lambda op, printer: printer.write(", ".join(map(printer.label, op.successors[index:end])))
        )

    def call(self, function: Callable[[Any, OpAsmPrinter], None]) -> None:
        """Adds a function that prints a part of an operation and the space before it."""
        self.parts.append(function)
        self._needs_space, self._after_punctuation = True, False

    # --- Spaces -----------------------------------------------------------------------

    def _space(self) -> None:
        if self._needs_space:
            self.text(" ")
        self._needs_space, self._after_punctuation = True, False

    def _has_space_before(self, text: str) -> bool:
        if len(text) != 1 and text != "->":
            return True
        return text[0] not in (_NO_SPACE_AFTER_PUNCTUATION if self._after_punctuation else _NO_SPACE_BEFORE)

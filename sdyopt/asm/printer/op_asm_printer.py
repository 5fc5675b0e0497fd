"""The printer interface that assembly formats use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sdyopt.ir.attribute import Attribute, DictAttr
from sdyopt.ir.block import Block, Region
from sdyopt.ir.operation import Op
from sdyopt.ir.types import Type
from sdyopt.ir.value import Value


class OpAsmPrinter(Protocol):
    """Prints the parts of an operation that its signature does not determine.

    Those are SSA names, block labels, regions and their arguments. `write` adds text as it is; the methods
    that return text do not write it.
    """

    def write(self, text: str) -> None: ...

    def newline(self) -> None:
        """Starts a new line with the indentation of the current one."""

    def name(self, value: Value) -> str:
        """The `%name` of a value."""
        ...

    def name_list(self, values: Sequence[Value]) -> str: ...

    def label(self, block: Block) -> str:
        """The `^label` of a block."""
        ...

    def successors(self, op: Op) -> str:
        """`[^bb1, ^bb2]`."""
        ...

    def type(self, type: Type) -> str: ...

    def types(self, types: Sequence[Type]) -> str: ...

    def function_type(self, inputs: Sequence[Type], results: Sequence[Type]) -> str: ...

    def attribute(self, attribute: Attribute) -> str: ...

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

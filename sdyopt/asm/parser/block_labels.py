"""The labels of a region's blocks, which may be used before they are defined."""

from __future__ import annotations

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.block import Block


class BlockLabels:
    """The blocks of one region by their label, `^` included."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        # Labels that have been used but not defined -> the offset of the first use.
        self._undefined: dict[str, int] = {}

    def use(self, label: str, offset: int) -> Block:
        """The block of a label, created if it is not defined yet."""
        block = self._blocks.get(label)
        if block is None:
            block = self._blocks[label] = Block()
            self._undefined[label] = offset
        return block

    def define(self, label: str, parser: AsmParser, offset: int) -> Block:
        """The block of a label at its definition; raises an error if it is defined twice."""
        if label in self._blocks and label not in self._undefined:
            raise parser.unprefixed_error(f"redefinition of block '{label}'", offset)
        block = self.use(label, offset)
        del self._undefined[label]
        return block

    def check(self, parser: AsmParser) -> None:
        """Raises an error for each label that has not been defined."""
        errors = [
            parser.unprefixed_error("reference to an undefined block", offset)
            for offset in sorted(self._undefined.values())
        ]
        raise_all(errors)

    def discard_uses_from(self, offset: int) -> None:
        """Removes the undefined labels whose first use is at or after `offset`."""
        for label in [label for label, first_use in self._undefined.items() if first_use >= offset]:
            del self._undefined[label], self._blocks[label]


def raise_all(errors: list[DiagnosticError]) -> None:
    """Raises the first error, followed by the others; does nothing if there are none."""
    if errors:
        for other in errors[1:]:
            errors[0].then(other)
        raise errors[0]

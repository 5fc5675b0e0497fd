"""The labels of a region's blocks, which may be branched to before they are defined."""

from __future__ import annotations

from sdyopt.asm.parser.asm_parser import AsmParser
from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.block import Block


class BlockLabels:
    """The blocks of one region by their label, `^` included."""

    def __init__(self) -> None:
        self._blocks: dict[str, Block] = {}
        # Labels that have been used but not defined, and where they were used first.
        self._awaited: dict[str, int] = {}

    def use(self, label: str, offset: int) -> Block:
        """The block that a label stands for, made up if it is not defined yet."""
        block = self._blocks.get(label)
        if block is None:
            block = self._blocks[label] = Block()
            self._awaited[label] = offset
        return block

    def define(self, label: str, parser: AsmParser, offset: int) -> Block:
        """The block that begins at a label, which may have been used before."""
        if label in self._blocks and label not in self._awaited:
            raise parser.unprefixed_error(f"redefinition of block '{label}'", offset)
        block = self.use(label, offset)
        del self._awaited[label]
        return block

    def check(self, parser: AsmParser) -> None:
        """Refuses labels that nobody has defined, all of them."""
        errors = [
            parser.unprefixed_error("reference to an undefined block", offset)
            for offset in sorted(self._awaited.values())
        ]
        raise_all(errors)

    def forget_from(self, offset: int) -> None:
        """Forgets the labels that were first used from `offset` on and are not defined."""
        for label in [label for label, place in self._awaited.items() if place >= offset]:
            del self._awaited[label], self._blocks[label]


def raise_all(errors: list[DiagnosticError]) -> None:
    """Raises the first of some errors, which brings the others along; none if there are none."""
    if errors:
        for other in errors[1:]:
            errors[0].then(other)
        raise errors[0]

"""Bodies: the regions of an operation, seen as functions from argument types to returned types.

What an operation asks of its regions mostly follows from its form and these types, and programs
repeat both. The verdict is therefore kept with the form, by the types of its bodies.

    @stablehlo.op("sort", SINGLE_BLOCK, …)
    class SortOp(BodyOp):
        @staticmethod
        def verify_bodies(form: Form, bodies: Bodies) -> None: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sdyopt.asm.printer.attribute_printer import plain_type
from sdyopt.ir.block import Region
from sdyopt.ir.op_signature import OpSignature, SignatureError
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import Trait
from sdyopt.ir.types import Type

RETURN = "stablehlo.return"


class Body(NamedTuple):
    """The types that a region takes, and those that its last operation gives."""

    arguments: tuple[Type, ...]
    returned: tuple[Type, ...]
    has_terminator: bool


Bodies = tuple[Body, ...]


def body_of(region: Region) -> Body:
    """What the first block of a region takes and gives."""
    block = region.entry
    if block is None:
        return Body((), (), False)
    arguments = tuple([argument.type for argument in block.arguments])
    last = block.last
    if last is None:
        return Body(arguments, (), False)
    return Body(arguments, last.signature.operand_types, last.is_terminator or not last.name)


class BodyOp(Op):
    """An operation whose check needs the types of its bodies."""

    __slots__ = ()

    ignores_discardable_attributes = True

    @staticmethod
    def verify_bodies(signature: OpSignature, bodies: Bodies) -> None:
        """Raises SignatureError if the bodies do not fit the form."""
        raise NotImplementedError

    def verify_in_context(self) -> None:
        """Checks form and bodies, once for all operations that share them."""
        bodies = tuple([body_of(region) for region in self.regions])
        key = (type(self), bodies)
        memo = self.signature.memo
        try:
            problem = memo[key]
        except KeyError:
            problem = memo[key] = self._find_problem(bodies)
        if problem is not None:
            raise problem

    def _find_problem(self, bodies: Bodies) -> SignatureError | None:
        try:
            type(self).verify_bodies(self.signature, bodies)
        except SignatureError as problem:
            return problem.with_traceback(None)
        return None


# --- One block that returns ------------------------------------------------------------------


def _check_blocks(op: Op) -> None:
    for index, region in enumerate(op.regions):
        if len(region.blocks) > 1:
            raise op.op_error(f"expects region #{index} to have 0 or 1 blocks")
        if region.blocks and region.blocks[0].first is None:
            raise op.op_error("expects a non-empty block")


def _check_terminators(op: Op) -> None:
    for region in op.regions:
        last = region.blocks[0].last if region.blocks else None
        if last is not None and last.signature.name != RETURN:
            raise op.op_error(f"expects regions to end with '{RETURN}', found '{last.signature.name}'").note(
                f"in custom textual format, the absence of terminator implies '{RETURN}'", op.location
            )


# Each region is one block that ends in stablehlo.return.
SINGLE_BLOCK = Trait(
    "single-block-implicit-terminator", verify_structure=_check_blocks, verify_regions=_check_terminators
)


# --- Words ----------------------------------------------------------------------------------


def quoted(type: Type) -> str:
    """A type as messages write it."""
    return f"'{plain_type(type)}'"


def quoted_all(types: Sequence[Type]) -> str:
    """Types as messages list them."""
    return ", ".join(map(quoted, types))

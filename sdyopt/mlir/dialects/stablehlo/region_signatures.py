"""Region signatures: the argument types and returned types of a region.

Whether the regions of an operation are valid usually depends only on the op signature and these types, and
programs repeat both. So the result of the check is cached in the op signature, by the region signatures.

    @stablehlo.op("sort", SINGLE_BLOCK, …)
    class SortOp(RegionVerifyingOp):
        @staticmethod
        def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None: ...
"""

from __future__ import annotations

from typing import NamedTuple

from sdyopt.mlir.ir.block import Region
from sdyopt.mlir.ir.op_signature import OpSignature, SignatureError
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import Trait
from sdyopt.mlir.ir.types import Type

RETURN = "stablehlo.return"


class RegionSignature(NamedTuple):
    """The types of the arguments of a region's entry block, and of the operands of its last operation."""

    argument_types: tuple[Type, ...]
    returned_types: tuple[Type, ...]
    has_terminator: bool


RegionSignatures = tuple[RegionSignature, ...]


def region_signature(region: Region) -> RegionSignature:
    """The signature of a region's entry block; empty if there is no block."""
    block = region.entry
    if block is None:
        return RegionSignature((), (), False)
    argument_types = tuple([argument.type for argument in block.arguments])
    last = block.last
    if last is None:
        return RegionSignature(argument_types, (), False)
    # An unregistered operation may be a terminator.
    has_terminator = last.is_terminator or not last.name
    return RegionSignature(argument_types, last.signature.operand_types, has_terminator)


class RegionVerifyingOp(Op):
    """Base of operations that verify the signatures of their regions."""

    __slots__ = ()

    ignores_discardable_attributes = True
    reads_definitions = False

    @staticmethod
    def verify_region_signatures(signature: OpSignature, regions: RegionSignatures) -> None:
        """Checks the region signatures against the op signature. Raises a SignatureError."""
        raise NotImplementedError

    def verify_in_context(self) -> None:
        """Runs `verify_region_signatures`, once for all operations with the same op and region signatures."""
        regions = tuple([region_signature(region) for region in self.regions])
        key = (type(self), regions)
        cache = self.signature.cache
        try:
            error = cache[key]
        except KeyError:
            error = cache[key] = self._region_error(regions)
        if error is not None:
            raise error

    def _region_error(self, regions: RegionSignatures) -> SignatureError | None:
        try:
            type(self).verify_region_signatures(self.signature, regions)
        except SignatureError as error:
            return error.with_traceback(None)
        return None


# --- Single block with implicit terminator ---------------------------------------------------


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


# Each region has at most one block, which ends with stablehlo.return.
SINGLE_BLOCK = Trait(
    "single-block-implicit-terminator",
    verify_structure=_check_blocks,
    verify_regions=_check_terminators,
)

"""Traits that constrain the parent of an operation, or the blocks of its regions, checked as in MLIR."""

from __future__ import annotations

from sdyopt.ir.block import Region
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import NO_TERMINATOR, Trait


def terminator_of(region: Region) -> Op:
    """The terminator of the only block of a region."""
    last = region.blocks[0].last
    assert last is not None
    return last


def has_parent(name: str) -> Trait:
    """The parent must be an operation of this name (`HasParent`)."""

    def check(op: Op) -> None:
        parent = op.parent_op
        if parent is None or parent.signature.name != name:
            raise op.op_error(f"expects parent op '{name}'")

    return Trait(f"has parent {name}", verify_in_context=check)


def ends_with(name: str) -> Trait:
    """Regions have at most one block, whose last op has this name (`SingleBlockImplicitTerminator`)."""

    def check(op: Op) -> None:
        for region in op.regions:
            last = region.blocks[0].last if region.blocks else None
            if last is not None and last.signature.name != name:
                raise op.op_error(
                    f"expects regions to end with '{name}', found '{last.signature.name}'"
                ).note(f"in custom textual format, the absence of terminator implies '{name}'")

    return Trait(f"ends with {name}", verify_regions=check, verify_structure=_check_single_block)


def _check_single_block(op: Op) -> None:
    for index, region in enumerate(op.regions):
        if not region.blocks:
            continue
        if len(region.blocks) > 1:
            raise op.op_error(f"expects region #{index} to have 0 or 1 blocks")
        if region.blocks[0].first is None and NO_TERMINATOR not in op.traits:
            raise op.op_error("expects a non-empty block")


def _check_no_arguments(op: Op) -> None:
    for region in op.regions:
        if region.blocks and region.blocks[0].arguments:
            number = f" #{region.index}" if len(op.regions) > 1 else ""
            raise op.op_error(f"region{number} should have no arguments")


# Entry blocks have no arguments (`NoRegionArguments`).
NO_REGION_ARGUMENTS = Trait("no-region-arguments", verify_structure=_check_no_arguments)
# Each region has at most one block, which is not empty unless the operation has the trait NO_TERMINATOR.
SINGLE_BLOCK = Trait("single-block", verify_structure=_check_single_block)

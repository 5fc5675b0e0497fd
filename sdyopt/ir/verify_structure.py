"""Verification of regions, successors and blocks. All functions raise DiagnosticError if the check fails."""

from __future__ import annotations

from sdyopt.diagnostics.diagnostic import DiagnosticError
from sdyopt.ir.block import Block
from sdyopt.ir.op_fields import RegionField
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import GRAPH_REGION

# The cache of `_region_fields`.
_fields_by_class: dict[type[Op], list[RegionField[object]]] = {}


def check_region_count(op: Op) -> None:
    """Checks the number of regions against the declared fields."""
    if not op.name:
        return
    fields = _region_fields(type(op))
    count = len(op.regions)
    needed = sum(not field.is_variadic for field in fields)
    if not any(field.is_variadic for field in fields):
        if count != needed:
            raise op.op_error(
                {0: "requires zero regions", 1: "requires one region"}.get(
                    needed, f"expected {needed} regions"
                )
            )
    elif count < needed:
        raise op.op_error(f"expected {needed} or more regions")


def _region_fields(op_class: type[Op]) -> list[RegionField[object]]:
    fields = _fields_by_class.get(op_class)
    if fields is None:
        fields = [field for field in op_class.fields.values() if isinstance(field, RegionField)]
        _fields_by_class[op_class] = fields
    return fields


def check_successor_count(op: Op) -> None:
    """Checks that a registered operation has as many successors as its class declares successor operands."""
    needed, count = len(op.successor_operands), len(op.successors)
    if op.name and count != needed:
        plural = "" if needed == 1 else "s"
        raise op.op_error(f"requires {needed} successor{plural} but found {count}")


def check_no_branch_inside(block: Block) -> None:
    """Checks that only the last operation of a block has successors."""
    for op in block.ops:
        if op.successors and op is not block.last:
            raise op.error("operation with block successors must terminate its parent block")


def check_regions(op: Op) -> None:
    """Checks the constraints of the declared regions."""
    for declared in _region_fields(type(op)):
        end = len(op.regions) if declared.is_variadic else declared.index + 1
        for index, region in enumerate(op.regions[declared.index : end], declared.index):
            if not declared.constraint.accepts(region):
                raise op.op_error(
                    f"region #{index} ('{declared.name}') failed to verify constraint: "
                    f"{declared.constraint.description}"
                )


def check_entries(op: Op) -> None:
    """Checks that graph regions have at most one block, and entry blocks no predecessors."""
    for index, region in enumerate(op.regions):
        if len(region.blocks) > 1 and GRAPH_REGION in op.traits:
            raise op.op_error(f"expects graph region #{index} to have 0 or 1 blocks")
        if region.blocks and region.blocks[0].uses:
            raise DiagnosticError.at(op.location, "entry block of region may not have predecessors")

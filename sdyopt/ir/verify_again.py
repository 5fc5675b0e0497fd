"""What need not be verified again: operations of forms found right, and bodies that nobody has edited.

A program has thousands of small bodies, such as the sum in a reduction, and between two verifications
most of them stay as they are. A body is plain if all that its operations are asked for follows from their
forms; then it stays right for as long as nobody edits it, whatever happens around it.
"""

from __future__ import annotations

from sdyopt.ir.block import Block
from sdyopt.ir.form import Form
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import TERMINATOR


def looks_at_form_only(op: Op) -> bool:
    """Whether all that the operation's class checks is the form."""
    return op.form.remember(_looks_at_block_only) and TERMINATOR not in op.traits


def note_inside(op: Op) -> None:
    """Notes that all inside an operation has been found right, if that will stay so."""
    if op.form.remember(_looks_inside_only):
        for region in op.regions:
            for block in region.blocks:
                block.verified_in = op.form if _is_plain(block) else None


def is_inside_as_it_was(op: Op) -> bool:
    """Whether an operation with one block in each region was found right with all that is inside."""
    form = op.form
    for region in op.regions:
        blocks = region.blocks
        if len(blocks) != 1 or blocks[0].verified_in is not form or not blocks[0].are_uses_checked:
            return False
    return True


def _is_plain(block: Block) -> bool:
    return not any(
        op.attributes.entries or op.regions or op.successors or not op.form.remember(_looks_at_block_only)
        for op in block.ops
    )


def _looks_at_block_only(form: Form) -> bool:
    """Whether all that the class checks is the form, and perhaps that the operation ends its block."""
    op_class = form.op_class
    if not op_class.name or op_class.op_class_has_regions or op_class.verify_place is not None:
        return False
    traits = [trait for trait in op_class.trait_order if trait is not TERMINATOR]
    return not any(trait.verify_place or trait.verify_regions or trait.verify_structure for trait in traits)


def _looks_inside_only(form: Form) -> bool:
    """Whether all that the class checks is the form and the regions."""
    op_class = form.op_class
    return op_class.looks_inside_only and not any(trait.verify_place for trait in op_class.trait_order)

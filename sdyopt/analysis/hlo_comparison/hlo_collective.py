"""One instruction of HLO that communicates: its kind, the arrays of its result, and who takes part.

%ag = ((f32[8]), f32[64]) all-gather-start(%x), …       an all_gather of f32[64]
%s = (f32[8], u32[], token[]) send(%x, %t), … _xla_megascale_transfer_type="ALL_REDUCE"     an all_reduce
"""

from __future__ import annotations

import re
from math import prod

from sdyopt.analysis.hlo_comparison.collectives import bits_of
from sdyopt.analysis.hlo_comparison.hlo_graph import COLLECTIVES, Instruction, closing_offset, sizes_of

SHAPE = re.compile(r"\b([a-z]\w*+)\[([\d,]*)\](?:\{[^{}]*+\})?")
_PAIRS = re.compile(r"source_target_pairs=\{(?:\{[\d,]*\},?)*+\}")
# What is sent to another slice, and to whom.
TRANSFER = re.compile(r'_xla_megascale_transfer_type="(\w+)"')
TARGET = re.compile(r'_xla_megascale_target="?([^"=]*+)')
RENDEZVOUS = re.compile(r'_xla_host_transfer_rendezvous="([^"]*+)"')
_TRANSFERS = ("ALL_REDUCE", "ALL_GATHER", "REDUCE_SCATTER", "ALL_TO_ALL")
_COMMUNICATES = re.compile(
    r'custom_call_target="([^"]*(?:[Cc]ollective|[Aa]ll_?[Rr]educe|[Aa]ll_?[Gg]ather)[^"]*+)"'
)

# The number of elements, the type of an element, and the text.
Shape = tuple[int, str, str]


def kind_of(op: Instruction) -> str | None:
    """The kind of a collective, `all_gather`; None for what is none."""
    kind = op.opcode.removesuffix("-start")
    if kind in COLLECTIVES:
        return kind.replace("-", "_")
    if op.opcode != "send":
        return None
    if (transfer := TRANSFER.search(op.attributes)) is not None and transfer[1] in _TRANSFERS:
        return transfer[1].lower()
    return "collective_permute" if moving_devices(op.attributes) else None


def unknown_kind(op: Instruction) -> str:
    """What an instruction is that communicates, but is no collective that is known here; else ""."""
    if op.opcode == "custom-call":
        target = _COMMUNICATES.search(op.attributes)
        return "" if target is None else f"custom-call {target[1]}"
    if op.opcode == "collective-broadcast":
        return op.opcode
    if op.opcode != "send":
        return ""
    if (transfer := TRANSFER.search(op.attributes)) is not None:
        return f"send {transfer[1]}"
    return "" if "is_host_transfer=true" in op.attributes else "send"


def results_of(op: Instruction, kind: str) -> str:
    """The type of the results of a collective: of one that starts, not all of its type is."""
    if not op.opcode.endswith("-start") or not op.type.startswith("("):
        return op.type
    if op.type.startswith("(("):
        # The operands come first, in a tuple.
        rest = op.type[closing_offset(op.type, 1) :].lstrip(", ")
        if rest.startswith("("):
            return rest[: closing_offset(rest, 0)]
        first = SHAPE.search(rest)
        return "" if first is None else first[0]
    texts = [text for *_, text in shapes_of(op.type)]
    if kind == "all_reduce" or len(texts) < 2:
        return op.type
    # The operand comes first, and counters follow.
    while len(texts) > 2 and texts[-1].startswith(("u32[]", "s32[]")):
        texts.pop()
    return ", ".join(texts[1:2] if kind == "collective_permute" else texts[len(texts) // 2 :])


def shapes_of(type: str) -> list[Shape]:
    """The arrays of a type."""
    return [(prod(sizes_of(item[2])), item[1], item[0]) for item in SHAPE.finditer(type)]


def bytes_of_shape(shape: Shape) -> int:
    elements, type, _ = shape
    return 0 if type == "token" else elements * bits_of(type) // 8


def moving_devices(attributes: str) -> int:
    """The number of devices that a permute sends from, to others."""
    pairs = _PAIRS.search(attributes)
    row = re.findall(r"\{(\d+),(\d+)\}", pairs[0]) if pairs is not None else ()
    if (target := TARGET.search(attributes)) is not None:
        row = re.findall(r"\{(\d+)->(\d+)\}", target[1])
    return sum(source != target for source, target in row)


def group_text(text: str) -> str:
    """The groups at the start of a text, without what follows."""
    match = re.match(
        r"mesh\[[^\]]*+\](?:, device_ids=\([^ ]*\))? ?\{[^}]*+\}|\{(?:\{[\d,]*+\},?)*+\}|\S+", text
    )
    return "" if match is None else match[0].rstrip(",")

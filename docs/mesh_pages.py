"""Writes the pages of the mesh dialect: `python -m docs.mesh_pages`, at the root of the checkout.

There is a page for each operation and each pass, made of what their classes say about themselves, one
about device groups, and one that lists them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc, getdoc, getmembers, isfunction
from pathlib import Path

from docs.markdown import manual, prose
from sdyopt.asm.printer.attribute_printer import plain_attribute
from sdyopt.dialects.mesh import DIALECT, device_groups
from sdyopt.dialects.mesh.mesh_llvm21 import mesh21
from sdyopt.ir.op_fields import MANY, OPTIONAL, AttrField, OperandField, ResultField, ValueField
from sdyopt.ir.operation import Op
from sdyopt.ir.traits import PURE
from sdyopt.registry import PassEntry, PipelineEntry, all_passes

FOLDER = Path(__file__).parent / "mesh"

# Operations of the form of LLVM 19 that only the later form has by rights.
LATER = ("get_sharding", "neighbors_linear_indices", "shard_shape", "sharding", "update_halo")


def pages() -> dict[str, str]:
    """The text of each page by its path in the folder."""
    found = {f"ops/{name}.md": _op_page(name, op) for name, op in sorted(DIALECT.ops.items())}
    entries = [entry for entry in all_passes() if ".mesh." in f"{entry.module}."]
    found |= {f"passes/{entry.flag}.md": _pass_page(entry) for entry in entries}
    found["groups.md"] = _groups_page()
    found["index.md"] = _index(sorted(DIALECT.ops), entries)
    return found


# --- Operations -------------------------------------------------------------------------------


def _op_page(name: str, op: type[Op]) -> str:
    parts = [f"# mesh.{name}", prose(_described(op)), "\n".join(_fields(op))]
    if name in LATER:
        parts.insert(1, "A part of the later form of the dialect, understood in the form of LLVM 19, too.")
    parts.append("\n".join(_remarks(name, op)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _described(op: type[Op]) -> str:
    """What the class says, or, where it is but one form of an operation, what its base says."""
    is_form = op.__name__.endswith(("19Op", "21Op"))
    return getdoc(op.__base__ if is_form else op) or ""


def _fields(op: type[Op]) -> Iterator[str]:
    yield "| part | name | what |"
    yield "|---|---|---|"
    for kind, word in ((OperandField, "operand"), (AttrField, "attribute"), (ResultField, "result")):
        for field in op.fields.values():
            if isinstance(field, kind):
                yield f"| {word} | `{field.attribute_name}` | {_what(field)} |"


def _what(field: object) -> str:
    if isinstance(field, ValueField):
        counts = {MANY: "any number of ", OPTIONAL: "if there: "}
        return counts.get(field.arity, "") + field.constraint.description
    assert isinstance(field, AttrField)
    what = field.kind.description or "of its own kind"
    if field.default is not None:
        return f"{what}; `{plain_attribute(field.default)}` if nothing is said"
    return f"{what}; may be missing" if field.is_optional else what


def _remarks(name: str, op: type[Op]) -> Iterator[str]:
    is_pure = PURE in op.traits
    yield (
        "It has no effects: one that nobody uses goes, and of two that are equal one is enough."
        if is_pure
        else "It has effects, so it is neither removed nor merged with another."
        if op.fields.get("sym_name") is None
        else "In LLVM 19 it is not said to be without effects; it goes only when nobody can refer to it."
    )
    if mesh21.ops[name].assembly is not op.assembly:
        yield "\nIn the form of LLVM 21 the clause `reduction = <max>` is written `reduction =  max`."


# --- Passes -----------------------------------------------------------------------------------


def _pass_page(entry: PassEntry | PipelineEntry) -> str:
    return f"# --{entry.flag}\n\n{manual(entry)}\n"


# --- The rest ---------------------------------------------------------------------------------


def _groups_page() -> str:
    parts = ["# Device groups", prose(cleandoc(device_groups.__doc__ or ""))]
    for name, function in getmembers(device_groups, isfunction):
        if function.__module__ == device_groups.__name__:
            parts.append(f"## `{name}`\n\n{getdoc(function)}")
    return "\n\n".join(parts) + "\n"


def _index(ops: list[str], entries: list[PassEntry | PipelineEntry]) -> str:
    lines = [
        "# The mesh dialect",
        "",
        "Sharding and communication on a grid of devices, in the form of LLVM 19, or with",
        "`--mesh-version=21` in that of LLVM 21. What a group of devices is: [device groups](groups.md).",
        "",
        "## Operations",
        "",
        *[f"- [mesh.{name}](ops/{name}.md)" for name in ops],
        "",
        "## Passes",
        "",
        *[f"- [--{entry.flag}](passes/{entry.flag}.md)" for entry in entries],
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for path, text in pages().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_text(text, encoding="utf-8")

"""Generates the pages of the mesh dialect: `python -m docs.mesh_pages`, in the root of the checkout.

There is a page per operation and per pass, generated from their docstrings and declarations, pages about
attributes and device groups, and an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc, getdoc, getmembers, isfunction
from pathlib import Path

from docs import device_groups
from docs.markdown import manual, prose
from sdyopt.mlir.asm.printer.attribute_printer import plain_attribute
from sdyopt.mlir.dialects.mesh import DIALECT
from sdyopt.mlir.dialects.mesh.attributes import RENAMED, ReductionKind
from sdyopt.mlir.dialects.mesh.mesh_llvm21 import mesh21
from sdyopt.mlir.ir.op_fields import OPTIONAL, VARIADIC, AttrField, OperandField, ResultField, ValueField
from sdyopt.mlir.ir.operation import Op
from sdyopt.mlir.ir.traits import PURE
from sdyopt.mlir.registry import PassEntry, PipelineEntry, all_passes

FOLDER = Path(__file__).parent / "mesh"


def pages() -> dict[str, str]:
    """The text of each page by its path in the folder."""
    texts = {f"ops/{name}.md": _op_page(name, op) for name, op in sorted(_ops().items())}
    entries = [entry for entry in all_passes() if ".mesh." in f"{entry.module}."]
    texts |= {f"passes/{entry.flag}.md": _pass_page(entry) for entry in entries}
    texts["groups.md"] = _groups_page()
    texts["attributes.md"] = _attributes_page()
    texts["index.md"] = _index(sorted(_ops()), entries)
    return texts


def _ops() -> dict[str, type[Op]]:
    """The operations of LLVM 19, and those that LLVM 21 added."""
    return {**mesh21.ops, **DIALECT.ops}


# --- Operations -------------------------------------------------------------------------------


def _op_page(name: str, op: type[Op]) -> str:
    parts = [f"# mesh.{name}", prose(_description(op)), "\n".join(_fields(op))]
    if name not in DIALECT.ops:
        parts.insert(1, "New in LLVM 21.")
    parts.append("\n".join(_remarks(name, op)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _description(op: type[Op]) -> str:
    """The docstring of the class, or of its base class if it defines the operation for one LLVM release."""
    is_version = op.__name__.endswith(("19Op", "21Op"))
    return getdoc(op.__base__ if is_version else op) or ""


def _fields(op: type[Op]) -> Iterator[str]:
    yield "| kind | name | constraint |"
    yield "|---|---|---|"
    for field_class, kind in ((OperandField, "operand"), (AttrField, "attribute"), (ResultField, "result")):
        for field in op.fields.values():
            if isinstance(field, field_class):
                yield f"| {kind} | `{field.field_name}` | {_constraint(field)} |"


def _constraint(field: object) -> str:
    if isinstance(field, ValueField):
        prefixes = {VARIADIC: "variadic of ", OPTIONAL: "optional: "}
        return prefixes.get(field.arity, "") + field.constraint.description
    assert isinstance(field, AttrField)
    description = field.constraint.description or "dialect attribute"
    if field.default is not None:
        return f"{description}; default `{plain_attribute(field.default)}`"
    return f"{description}; optional" if field.is_optional else description


def _remarks(name: str, op: type[Op]) -> Iterator[str]:
    is_pure = PURE in op.traits
    yield (
        "It is pure: if unused, it is erased, and equal operations are merged."
        if is_pure
        else "It has side effects, so it is neither erased nor merged."
        if op.fields.get("sym_name") is None
        else "In LLVM 19 it is not declared pure, so it is erased only as an unused private symbol."
    )
    if mesh21.ops[name].assembly is not op.assembly and name != "shard":
        yield "\nIn LLVM 21 the clause `reduction = <max>` is written `reduction =  max`."
    yield f"\nIn LLVM 22 it is `shard.{RENAMED.get(name, name)}`."


# --- Passes -----------------------------------------------------------------------------------


def _pass_page(entry: PassEntry | PipelineEntry) -> str:
    return f"# --{entry.flag}\n\n{manual(entry)}\n"


# --- Groups and index ---------------------------------------------------------------------------------


def _groups_page() -> str:
    parts = ["# Device groups", prose(cleandoc(device_groups.__doc__ or ""))]
    for name, function in getmembers(device_groups, isfunction):
        if function.__module__ == device_groups.__name__:
            parts.append(f"## `{name}`\n\n{getdoc(function)}")
    return "\n\n".join(parts) + "\n"


_ATTRIBUTES = """\
# Attributes and types

An operation writes its attributes in clauses without their dialect. In the generic form, and in an
attribute dictionary, they are written in full.

| attribute | in full | in a clause |
|---|---|---|
| axes of a mesh: `mesh_axes` | `array<i16: 0, 2>` | `mesh_axes = [0, 2]` |
| coordinates of a device: `root`, `source`, `destination` | `array<i64: 1, 0>` | `root = [1, %n]` |
| the shape of a mesh: `shape` | `array<i64: 2, 3>` | `shape = 2x3` |
| a dimension of a tensor, such as `gather_axis` | `1 : index` | `gather_axis = 1` |
| the `offset` of a shift | `-2 : i64` | `offset = -2` |
| `rotate`, `annotate_for_users` | `unit` | the name |
| the kind of a `reduction` | `#mesh.partial<max>` | `reduction = <max>` |
| the same since LLVM 20 | `#mesh<partial max>` | `reduction = max` |
| a sharding, in LLVM 19 | `#mesh.shard<@grid, [[0], [1]]>` | `to <@grid, [[0], [1]]>` |
| the axes of a sharding, since LLVM 20 | `#mesh<axisarray[[0], [1]]>` | `split_axes = [[0], [1]]` |

A dynamic size is `?` in a shape, and a coordinate that is an operand its name; in the attribute,
-9223372036854775808 stands for both. A missing clause is the default of its attribute: no axes, or the
kind `sum`.

The kinds of reductions are {kinds}.

## Shardings

`#mesh.shard<@grid, [[0], [], [2, 1]], partial = max[3]>` has the mesh, a list of axes for each dimension
of the tensor, the major-most first, and the axes along which the tensor is partial. A dimension without
axes, or without a list at the end, is replicated. No axis is negative or occurs twice, which the parser
checks; passes check that the mesh exists and has the axes.

Two shardings are equivalent if they have the same mesh, the same partial axes and kind, and the same
lists, where a missing list at the end is an empty one: `[[0]]` and `[[0], []]`. As attributes they are
not equal.

Since LLVM 20 a sharding is a value of the type `!mesh.sharding` that [mesh.sharding](ops/sharding.md)
makes, with halos and offsets of shards, and there is no `#mesh.shard`. LLVM 22 writes `#shard<…>` and
`!shard.sharding`.
"""


def _attributes_page() -> str:
    kinds = [f"`{kind}`" for kind in ReductionKind]
    return _ATTRIBUTES.format(kinds=f"{', '.join(kinds[:-1])} and {kinds[-1]}")


def _index(ops: list[str], entries: list[PassEntry | PipelineEntry]) -> str:
    lines = [
        "# The mesh dialect",
        "",
        "Sharding and communication on a mesh of devices, as in LLVM 19, or with `--mesh-version=21` as in",
        "LLVM 21. Collectives communicate within [device groups](groups.md). A page shows the",
        "[attributes and types](attributes.md).",
        "",
        "LLVM 22 renamed the dialect: with `--mesh-version=22` it is `shard`, `mesh.mesh` is `shard.grid`,",
        "`mesh.mesh_shape` is `shard.grid_shape`, the attributes `mesh` and `mesh_axes` are `grid` and",
        "`grid_axes`, and no sharding is partial. An operation of another release is an error whose help",
        "names the release.",
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
